"""What a practitioner does with real demand, as the reference to beat: random schedules, read by regressions.

Three methods, all with a dummy for every phase of the season (hours of the week):

- *days*: arms at random by day, to the end; totals on arms.
- *windows*: arms at random for a window each, to the end; totals on exposure, the share of the last window's steps that
  each arm had, with week effects.
- *half*: the same until half time, then the arm that the regression calls best.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Arms = NDArray[np.int64]
SWEEPS = 6  # of centring by phase and by week in turn, which converges fast


@dataclass(frozen=True)
class Schedule:
    """What was played, and the arm that a method calls best."""

    arms: Arms
    best: int


def exposure(arms: Arms, count: int, window: int) -> Numbers:
    """The share of the last `window` steps that each arm had."""
    sums = np.vstack([np.zeros((1, count)), np.cumsum(np.eye(count)[arms], axis=0)])
    step = np.arange(1, len(arms) + 1)
    return (sums[step] - sums[np.maximum(step - window, 0)]) / window


def centred(rows: Numbers, groups: list[Arms]) -> Numbers:
    """Rows less the means of their groups, in turn."""
    rest = rows.copy()
    for _ in range(SWEEPS if len(groups) > 1 else 1):
        for group in groups:
            counts = np.maximum(np.bincount(group), 1)
            for place in range(rest.shape[1]):
                rest[:, place] -= (np.bincount(group, rest[:, place]) / counts)[group]
    return rest


def best_by(totals: Numbers, features: Numbers, season: int, weeks: bool) -> int:
    """The arm of largest coefficient; the first arm is the reference."""
    step = np.arange(len(totals))
    groups = [step % season] + ([step // season] if weeks else [])
    rest = centred(np.column_stack([features[:, 1:], totals]), groups)
    found = np.linalg.lstsq(rest[:, :-1].T @ rest[:, :-1], rest[:, :-1].T @ rest[:, -1], rcond=None)[0]
    return int(np.argmax(np.append(0.0, found)))


Earn = Callable[[Arms], Numbers]  # the totals of a schedule


def days(
    random: np.random.Generator, earn: Earn, steps: int, arms: int, window: int, season: int, day: int
) -> Schedule:
    played = random.integers(arms, size=-(-steps // day))[np.arange(steps) // day]
    return Schedule(played, best_by(earn(played), np.eye(arms)[played], season, weeks=False))


def windows(
    random: np.random.Generator, earn: Earn, steps: int, arms: int, window: int, season: int, day: int
) -> Schedule:
    played = random.integers(arms, size=-(-steps // window))[np.arange(steps) // window]
    return Schedule(played, best_by(earn(played), exposure(played, arms, window), season, weeks=True))


def half(
    random: np.random.Generator, earn: Earn, steps: int, arms: int, window: int, season: int, day: int
) -> Schedule:
    played = random.integers(arms, size=-(-steps // window))[np.arange(steps) // window]
    until = steps // 2
    found = best_by(earn(played)[:until], exposure(played, arms, window)[:until], season, weeks=True)
    played[until:] = found
    return Schedule(played, found)


METHODS = {"random days": days, "random windows": windows, "half, then the best": half}
