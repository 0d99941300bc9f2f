"""Replay a failed compiled run in plain Python: the verb, the line and the values of the failure."""

import traceback
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterglow import rng
from afterglow.policies.policy import Policy
from afterglow.worlds.spreads import Spread

SHOWN = 60  # characters of a value
AGES = 2_000  # of a run, on which a spread is tried


def replayed(
    policy: Policy[Any, Any], settings: Any, trace: NDArray[np.float64], seed: int, arms: int, run: int = 0
) -> str:
    """What plain Python raises in the holds of a trace, or in the hold after them; empty if it raises nothing."""
    state, stream = policy.start(settings), rng.key(seed, run, rng.POLICY)
    reads = policy.reads(arms)
    for count, row in enumerate([*trace[~np.isnan(trace[:, 0])], None]):
        draws = [rng.uniform(stream, count * reads + j) for j in range(reads)]
        try:
            asked = policy.next_hold(settings, state, draws)
        except Exception as problem:
            return worded("next_hold", count, problem)
        if row is None:
            return f"next_hold returned {asked!r} at hold {count}"
        try:
            arm, steps, split = (int(part) for part in row[:3])
            policy.learn(settings, state, arm, steps, split, float(row[3]), float(row[4]))
        except Exception as problem:
            return worded("learn", count, problem)
    return ""


def spread_fault(spread: Spread, arms: int, best: int, window: int) -> str:
    """What a user's spread raises in plain Python, tried on all arms and many ages; empty if it raises nothing."""
    if spread.function is None:
        return ""
    key, memory = rng.key(1, 0, rng.SPREAD), [0.0] * spread.memory
    for age in range(min(3 * window + 100, AGES)):
        for arm in range(arms):
            draws = [rng.uniform(key, age * spread.draws + j) for j in range(spread.draws)]
            given: list[Any] = [1.0, arm, best, age, draws, [0.0] * window]
            try:
                spread.function(*given, *([memory] if spread.memory else []))
            except Exception as problem:
                return worded("the spread", age, problem).replace(f"at hold {age}", f"at age {age}")
    return ""


def worded(verb: str, count: int, problem: Exception) -> str:
    """Where a verb failed, and the values there."""
    frame, line = list(traceback.walk_tb(problem.__traceback__))[-1]
    text = traceback.extract_tb(problem.__traceback__)[-1].line
    values = ", ".join(f"{name} = {short(value)}" for name, value in frame.f_locals.items())
    place = f"line {line} of {frame.f_code.co_filename}"
    said = f"in plain Python, {verb} raises {type(problem).__name__}: {problem} at hold {count}, {place}"
    return f"{said}{f' ({text})' if text else ''}, with {values}"


def short(value: Any) -> str:
    """A value in at most `SHOWN` characters."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
