r"""Phased elimination (Garg & Akash 2019, Algorithm 2): drop arms phase by phase, leakage allowed for.

A pull pays within its window of $d$ steps and only pooled totals are seen. A run of one arm gains or loses
at most $d - 1$ at its edges, whatever the spread, and after $m$ phases an arm has had $m$ runs: its total is
wrong by at most $m(d - 1)$. So phase $m$, meant to resolve gaps of $\tilde\Delta = 2^{-m}$, ends when
every active arm has $n_m$ pulls with

$$\sqrt{\frac{L}{2 n_m}} + \frac{m (d - 1)}{n_m} \le \frac{\tilde\Delta}{2},
\qquad L = \log(T \tilde\Delta^2),$$

chance plus leakage at most half the gap. The least such number is

$$n_m = \Big\lceil \frac{(\sqrt L + \sqrt{L + 4 \tilde\Delta m (d - 1)})^2}{2 \tilde\Delta^2} \Big\rceil.$$

An arm is dropped when its mean plus $\tilde\Delta$ is below the best. This is ODAAF of Pike-Burke et al. (2018)
without its bridge: the leakage is bounded pathwise, so nothing is assumed about the spread.

Siddhant Garg, Aditya Kumar Akash: Stochastic Bandits with Delayed Composite Anonymous Feedback (2019),
Algorithm 2 and Theorem 2. Differences: $\tilde\Delta_1 = 1/2$, which the paper leaves unset; $n_m$ pulls, where
its inner loop makes one more; means are compared after all active arms have been held, where the paper's are set
inside the loop over arms; the best active arm is held to the end once $T \tilde\Delta^2 < e$, where
$L$ would turn negative and $n_m$ fall; a phase that the horizon cuts drops no arm.
"""

import math

from afterglow.checks import whole
from afterglow.policies._elimination import Settings, State, gaps, index, learn, next_hold, recommend, start
from afterglow.policies.policy import Policy


def pulls_needed(horizon: int, window: int, phase: int, gap: float) -> int:
    """n_m for phase m = 1, 2, ... and its gap."""
    level = math.log(horizon * gap * gap)  # L
    leak = phase * (window - 1)
    return math.ceil((math.sqrt(level) + math.sqrt(level + 4 * gap * leak)) ** 2 / (2 * gap * gap))


def schedule(horizon: int, window: int) -> list[int]:
    """n_1, n_2, ... up to the last phase before the policy commits."""
    return [pulls_needed(horizon, window, phase, gap) for phase, gap in enumerate(gaps(horizon, 0.5), 1)]


def configure(arms: int, window: int, horizon: int) -> Settings:
    arms = whole("arms", arms, 2)
    window = whole("window", window, 1, "1 = paid at once")
    horizon = whole("horizon", horizon, 1)
    return Settings(arms, horizon, 0, schedule(horizon, window), gaps(horizon, 0.5))


policy = Policy(
    "phased-elimination", Settings, State, start, next_hold, learn, configure, recommend,
    summary="drop arms in phases long enough to drown chance and leakage",
    guarantee="O(sum log T / gap + K d log(1 / gap)) for any spread",
    source="Garg & Akash 2019, Algorithm 2",
    index=index,
)  # fmt: skip
