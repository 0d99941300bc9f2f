"""Answers of an experiment over units: differences of arms, and the exact test by replay."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from afterglow.checks import Name
from afterglow.errors import OutOfTurn
from afterglow.pictures import card, intervals
from afterglow.policies.rounds import RoundPolicy
from afterglow.rng import REPLAY, key

Slot = tuple[int, int, Sequence[int], Sequence[float], Sequence[float]]  # steps, split, lost, heads, bodies


@dataclass(frozen=True)
class PanelEstimate:
    """One arm beside the best one."""

    arm: Name
    difference: float  # to the best, as a share of a unit's level: at most 0 in most cases, 0 for the best itself
    low: float
    high: float
    unit_steps: int  # counted
    runs: int  # times that a unit was put on it


@dataclass(frozen=True)
class PanelEstimates:
    """All arms beside the best one; intervals are ordinary ones, each alone, for one look.

    There are no proved bounds: a shock that units share makes pulls of different units dependent.
    """

    best: Name
    arms: tuple[PanelEstimate, ...]
    confidence: float

    def __iter__(self) -> Iterator[PanelEstimate]:
        return iter(self.arms)

    def __getitem__(self, arm: Name) -> PanelEstimate:
        return next(one for one in self.arms if one.arm == arm)

    def __str__(self) -> str:
        rows = [
            f"{'arm':<12} {'difference':>11} {f'{self.confidence:.0%} interval':>22} {'unit-steps':>11} {'runs':>6}"
        ]
        for one in self.arms:
            between = "" if one.arm == self.best else f"{one.low:+.2%} to {one.high:+.2%}"
            shown = "best" if one.arm == self.best else f"{one.difference:+.2%}"
            rows.append(f"{one.arm!s:<12} {shown:>11} {between:>22} {one.unit_steps:>11,} {one.runs:>6,}")
        return "\n".join(rows)

    def _repr_html_(self) -> str:
        title = f"difference to {self.best}, each with its {self.confidence:.0%} interval, for one look"
        rows = [
            (str(one.arm), 0.0, 0.0, 0.0, "best") if one.arm == self.best
            else (str(one.arm), one.low, one.difference, one.high, f"{one.difference:+.2%}")
            for one in self.arms
        ]  # fmt: skip
        return card(title, intervals(rows, title))


@dataclass(frozen=True)
class UnitsTest:
    """The exact test of "no arm changes any total"."""

    p: float
    statistic: float  # largest difference of two arms, in standard errors
    draws: int
    same: int  # draws that dealt the same plan, up to the names of arms: with two or three units nearly all
    missing: int = 0  # unit-steps without a total, left out in every replay alike
    outside: int = 0  # unit-steps that did not follow the plan, left out likewise


def panel_estimates(
    policy: RoundPolicy[Any, Any], settings: Any, state: Any, arms: Sequence[Name], best: int, confidence: float
) -> PanelEstimates:
    """The differences of all arms to the best."""
    rows, difference = [], policy.pairs(settings, state)
    for place, arm in enumerate(arms):
        found = difference(place, best, confidence)
        steps = state.arm_cells[place] * settings.slot
        rows.append(PanelEstimate(arm, *found, steps, state.arm_runs[place]))
    return PanelEstimates(arms[best], tuple(rows), confidence)


def replayed_test(
    policy: RoundPolicy[Any, Any],
    settings_of: Callable[[int], Any],
    slots: Sequence[Slot],
    settings: Any,
    state: Any,
    seed: int,
    draws: int,
) -> UnitsTest:
    """Replay the recorded totals with other draws of what is random: p is the share at least as large as seen."""
    seen = policy.statistic(settings, state)
    reached = 1
    same = 0
    for draw in range(draws):
        found = replayed(policy, settings_of(key(seed, draw, REPLAY)), slots)
        reached += found >= seen * (1 - policy.rounding)
        same += abs(found - seen) <= policy.rounding * seen
    return UnitsTest(reached / (draws + 1), seen, draws, same)


def replayed(policy: RoundPolicy[Any, Any], settings: Any, slots: Sequence[Slot]) -> float:
    """The statistic of a replay with other settings."""
    state = policy.start(settings)
    if policy.quiet is not None:
        policy.quiet(state)
    for steps, split, lost, heads, bodies in slots:
        asked, _ = policy.next_round(settings, state)
        if asked < steps and not (policy.unchanged and all(lost)):
            raise OutOfTurn(f"{policy.name} asks for rounds that depend on totals, so its totals can't be replayed")
        known = [0 if gone else steps - split for gone in lost]
        policy.learn(settings, state, steps, split, known, heads, bodies)
    return policy.statistic(settings, state)
