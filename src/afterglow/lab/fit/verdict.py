"""The graded verdict of a fit, in the words of a running experiment: `proven`, `clear`, `leading` or `inconclusive`.

A fit is one look at a record that is over, so `clear` needs simultaneous intervals of one look: those of the best arm
against all others lie above 0. While the window is too short or bounds contradict each other nothing is claimed. Below
four runs of an arm its intervals are not reliable, and nothing that depends on them alone is called clear. Bounds that
are apart prove nothing where noise lingers, nor against those intervals: an outage moves them apart too.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from afterglow.lab.fit.recorded import Array
from afterglow.lab.fit.regression import Regressed
from afterglow.lab.rendering.rounding import amount, signed

RUNS = 4  # of an arm
LEADING = 0.9  # chance to be the best
DRAWS = 4_000  # from the joint distribution of the means
ASSUMES = {
    "proven": "window and reward_max are right, and an arm's expected reward, given all before, is its mean",
    "clear": "effects depend on arm and lag only, and the noise is gone within the blocks of the jackknife",
}


@dataclass(frozen=True)
class FitVerdict:
    """What may be said of the best arm."""

    grade: str
    recommended: str
    chance: float  # that it is the best
    assumes: str
    sentence: str


def judged(
    names: Sequence[str], runs: Sequence[int], found: Regressed, proved: Sequence[tuple[float, float] | None],
    doubt: str | None, untried: Sequence[str],
) -> FitVerdict:  # fmt: skip
    """The verdict; `doubt` says what forbids every claim, if anything does; `untried` are arguments that may help."""
    means = [found.mean(arm)[0] for arm in range(len(names))]
    best = int(np.argmax(means))
    others = [arm for arm in range(len(names)) if arm != best]
    chance = float(chances(found, len(names))[best])
    rows = [found.difference(best, other, len(names) * (len(names) - 1) // 2) for other in others]
    nearest = min(rows, key=lambda row: row[1])
    second = names[others[rows.index(nearest)]]
    grade, ahead = "inconclusive", doubt is None and not found.lingers and nearest[1] > 0
    if ahead and apart(best, proved):
        grade = "proven"
    elif ahead and min(runs) >= RUNS:
        grade = "clear"
    elif doubt is None and chance >= LEADING:
        grade = "leading"
    ends = f"between {signed(nearest[1], minus='−')} and {signed(nearest[2], minus='−')}"
    lead = f"{names[best]} has the highest mean, {amount(nearest[0])} a pull above {second} ({ends})"
    why = reason(grade, doubt, runs, names, untried if found.lingers else None)
    assumes = ASSUMES.get(grade, ASSUMES["clear"])
    return FitVerdict(grade, names[best], chance, assumes, f"{grade}: {lead}{why}")


def reason(
    grade: str, doubt: str | None, runs: Sequence[int], names: Sequence[str], untried: Sequence[str] | None
) -> str:  # fmt: skip
    """Why the grade is not higher; `untried` arguments may help where noise lingers, None: it does not."""
    if doubt is not None:
        return f"; nothing is claimed while {doubt}"
    if grade in ("proven", "clear"):
        return ""
    if untried is not None:
        give = f"give {' or '.join(untried)}, or " if untried else ""
        return f"; noise lingers too long for clear intervals: {give}record more steps"
    few = [name for name, count in zip(names, runs, strict=True) if count < RUNS]
    return f"; {', '.join(few)} had fewer than {RUNS} runs" if few else ""


def apart(best: int, proved: Sequence[tuple[float, float] | None]) -> bool:
    """Whether the proved lower bound of the best is above the upper ones of all others."""
    own = proved[best]
    others = [each for arm, each in enumerate(proved) if arm != best]
    return own is not None and all(each is not None and own[0] > each[1] for each in others)


def chances(found: Regressed, arms: int) -> Array:
    """The chance of each arm to be the best, from draws of all means with the degrees of freedom of the errors."""
    bins = len(found.bins)
    factors = np.zeros((arms, len(found.found.values)))
    factors[:, : bins * arms] = np.tile(np.eye(arms), bins)
    pull = factors @ found.found.shrunk
    variance = factors @ found.found.variance() @ factors.T + pull @ pull.T
    random = np.random.default_rng(0)
    draws = random.multivariate_normal(np.zeros(arms), variance, DRAWS, check_valid="ignore")
    wide = np.sqrt(found.found.freedom / random.chisquare(found.found.freedom, DRAWS))
    means = factors @ found.found.values + draws * wide[:, None]
    best = means == means.max(axis=1, keepdims=True)  # arms that are all the same share the chance
    return np.asarray((best / best.sum(axis=1, keepdims=True)).mean(axis=0))
