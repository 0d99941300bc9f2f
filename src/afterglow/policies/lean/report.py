r"""Intervals for the means after, or during, a run of `lean_ucb`.

The variance of one kept step in a long sum is taken from blocks of $d$ kept steps (whole seasons) that never
span two runs, $v_R = 1.5\, SS_R/df_R$, and the width allows for $v_R$ being an estimate by
$f = t_{1-\alpha/2}(df_R)/z_{1-\alpha/2}$. With $e = T/(10K)$:

- *fixed*, to be read once, at an end that was fixed before: $S/n \pm t_{1-\alpha/2}(df_R) \sqrt{v_R/n}$;
- *anytime*, which allows for many looks, if its assumptions hold:
  $S/n \pm f \sqrt{v_R (1 + e/n)(\log(1 + n/e) + 2 \log(1/\alpha))/n}$, the normal mixture of Robbins (1970).

Both assume a spread law per (arm, lag), i.i.d. rewards, **equal noise of all arms** and blocks that are nearly
normal. There is no theorem: the arms are sampled adaptively and $v_R$ is estimated. Measured at level 95 % in
stationary worlds with equal noise, windows 1 to 72 and 400 to 5,000 steps, runs without an alarm: fixed intervals
covered 95 to 100 % of the means; anytime ones 99.6 % and more at a given moment, and read after every batch an arm's
never missed in 93 % of the runs and more. Where noise is unequal neither holds: with yes/no rewards of means 0.98,
0.5 and 0.5 the leader rules $v_R$, and the anytime interval missed at some time for 63 % of the arms. Under a lag
that drifts with the age of the run they are worth little: fixed ones covered 77 to 94 % of the means with Bernoulli
rewards, and none to half with a small noise. `Agent.verdict()` gives each arm its own noise; use that for decisions.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

from afterglow.checks import number
from afterglow.policies.lean.state import BLOCK, Settings, State, degrees, scatter
from afterglow.student_t import student_quantile

ENOUGH = 3  # degrees of freedom below which no interval is given


@dataclass(frozen=True)
class LeanEstimate:
    """What is known of one arm; None where too little is."""

    kept: int  # steps behind the mean
    mean: float | None
    fixed: tuple[float, float] | None
    anytime: tuple[float, float] | None  # for many looks, if all arms are equally noisy


def report(settings: Settings, state: State, alpha: float = 0.05) -> list[LeanEstimate]:
    """Mean and intervals of level 1 - alpha for every arm."""
    number("alpha", alpha, 0.0, 1.0)
    freedom = degrees(settings, state, BLOCK)
    if freedom < ENOUGH:
        pairs = zip(state.kept, state.sums, strict=True)
        return [LeanEstimate(kept, total / kept if kept else None, None, None) for kept, total in pairs]
    variance = 1.5 * scatter(settings, state, BLOCK) / freedom
    student = student_quantile(1.0 - alpha, freedom)
    inflation = student / NormalDist().inv_cdf(1.0 - 0.5 * alpha)
    early = settings.horizon / (10 * settings.arms)
    estimates = []
    for kept, total in zip(state.kept, state.sums, strict=True):
        if kept == 0:
            estimates.append(LeanEstimate(0, None, None, None))
            continue
        mean = total / kept
        fixed = student * math.sqrt(variance / kept)
        crossing = (1.0 + early / kept) * (math.log1p(kept / early) + 2.0 * math.log(1.0 / alpha))
        always = inflation * math.sqrt(variance * crossing / kept)
        estimates.append(LeanEstimate(kept, mean, (mean - fixed, mean + fixed), (mean - always, mean + always)))
    return estimates
