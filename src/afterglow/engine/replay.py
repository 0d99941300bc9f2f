"""Replay a failed compiled run in plain Python: the verb, the line and the values of the failure."""

import traceback
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterglow import rng
from afterglow.policies.policy import Policy

SHOWN = 60  # characters of a value


@dataclass(frozen=True)
class Replayed:
    """What a policy does in the holds of a failed run."""

    said: str  # what it raises, or the hold that it asks for after the last one written down
    legal: bool  # whether it raises nothing and that hold is one that may be asked for
    arm: int = 0
    age: int = 0  # steps that the arm had been played when the hold began
    steps: int = 0


def replayed(
    policy: Policy[Any, Any], settings: Any, trace: NDArray[np.float64], seed: int, arms: int, run: int = 0
) -> Replayed:
    """What plain Python does in the holds of a trace, and in the hold after them."""
    state, stream = policy.start(settings), rng.key(seed, run, rng.POLICY)
    reads = policy.reads(arms)
    last, age = -1, 0
    for count, row in enumerate([*trace[~np.isnan(trace[:, 0])], None]):
        draws = [rng.uniform(stream, count * reads + j) for j in range(reads)]
        try:
            asked = policy.next_hold(settings, state, draws)
        except Exception as problem:
            return Replayed(worded("next_hold", f"hold {count}", problem), legal=False)
        if row is None:
            arm, steps, split = asked
            legal = 0 <= arm < arms and steps >= 1 and 0 <= split <= steps
            said = f"next_hold returned {asked!r} at hold {count}"
            return Replayed(said, legal, arm, age if arm == last else 0, steps)
        arm, steps, split = (int(part) for part in row[:3])
        try:
            policy.learn(settings, state, arm, steps, split, float(row[3]), float(row[4]))
        except Exception as problem:
            return Replayed(worded("learn", f"hold {count}", problem), legal=False)
        last, age = arm, (age if arm == last else 0) + steps
    raise AssertionError("the loop ends with the hold after the last")


def worded(verb: str, when: str, problem: Exception) -> str:
    """Where a verb failed, and the values there."""
    frame, line = list(traceback.walk_tb(problem.__traceback__))[-1]
    text = traceback.extract_tb(problem.__traceback__)[-1].line
    values = ", ".join(f"{name} = {short(value)}" for name, value in frame.f_locals.items())
    place = f"line {line} of {frame.f_code.co_filename}"
    what = f"{type(problem).__name__}: {problem}".removesuffix(": ")
    said = f"in plain Python, {verb} raises {what} at {when}, {place}"
    return f"{said}{f' ({text})' if text else ''}, with {values}"


def short(value: Any) -> str:
    """A value in at most `SHOWN` characters."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
