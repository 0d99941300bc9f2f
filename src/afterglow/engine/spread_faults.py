"""Try a user's spread in plain Python: what it raises, or why its parts can't be."""

import math
from collections.abc import Iterable
from typing import Any

from afterglow import rng
from afterglow.engine.replay import worded
from afterglow.worlds.spreads import Spread

AGES = 2_000  # of a run, on which a spread is tried
REWARDS = (1.0, 0.5, 0.0)
ROUNDING = 1e-9


def spread_fault(spread: Spread, best: int, window: int, arms: Iterable[int], ages: Iterable[int]) -> str:
    """What is wrong with a user's spread at these arms and ages; empty if nothing is."""
    if spread.function is None:
        return ""
    arms = list(arms)
    key, memory = rng.key(1, 0, rng.SPREAD), [0.0] * spread.memory
    for age in ages:
        draws = [rng.uniform(key, age * spread.draws + j) for j in range(spread.draws)]
        for arm in arms:
            for reward in REWARDS:
                parts = [0.0] * window
                given: list[Any] = [reward, arm, best, age, list(draws), parts]
                try:
                    spread.function(*given, *([memory] if spread.memory else []))
                except Exception as problem:
                    return worded("the spread", f"age {age}", problem)
                if said := bad_parts(reward, parts):
                    return f"at age {age} of arm {arm} it cuts a reward of {reward:g} into {said}"
    return ""


def bad_parts(reward: float, parts: list[float]) -> str:
    """What parts are wrong; empty if none is."""
    if any(not part >= 0 for part in parts):
        return f"a part of {min(parts):g}"
    whole = math.fsum(parts)
    return f"parts that add up to {whole:g}" if abs(whole - reward) > ROUNDING else ""


def first_ages(window: int) -> range:
    """Ages at which most faults of a spread show."""
    return range(min(3 * window + 100, AGES))


def ages_of(age: int, steps: int) -> list[int]:
    """The first and the last ages of a hold."""
    end = age + steps
    return [*range(age, min(end, age + AGES)), *range(max(age + AGES, end - AGES), end)]
