"""Compiled replays of recorded rounds with other settings: the exact test, many times faster than in plain Python."""

from functools import cache
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from afterglow.engine.compiling import digest, jitted, keep, source_of
from afterglow.engine.layout import pack
from afterglow.engine.rounds.verbs import LEARN, STATISTIC, compiled, compiled_statistic, first_count
from afterglow.engine.view import first_cell
from afterglow.policies.rounds import RoundPolicy

Numbers = NDArray[np.float64]
Counts = NDArray[np.int64]


def replay_one(
    learn: Any, statistic: Any, settings: Any, state: Any, steps: int, known: Counts, heads: Numbers, bodies: Numbers
) -> float:
    """The statistic after all rounds, which have one length and no head."""
    for place in range(bodies.shape[0]):
        learn(settings, state, steps, 0, first_count(known[place]), first_cell(heads), first_cell(bodies[place]))
    found: float = statistic(settings, state)
    return found


def replay_all(
    learn: Any, statistic: Any, settings: Numbers, states: Numbers, steps: int, known: Counts, bodies: Numbers,
    found: Numbers,
) -> None:  # fmt: skip
    heads = np.zeros(bodies.shape[1])
    for row in range(states.shape[0]):
        found[row] = replay_one(
            learn, statistic, first_cell(settings[row]), first_cell(states[row]), steps, known, heads, bodies
        )  # fmt: skip


f8, i8 = types.float64, types.int64
SIGNATURE = types.none(
    types.FunctionType(LEARN), types.FunctionType(STATISTIC), f8[:, ::1], f8[:, ::1], i8, i8[:, ::1], f8[:, ::1],
    f8[::1],
)  # fmt: skip


@cache
def machine() -> Any:
    mark = digest(replay_all, str(SIGNATURE), source_of("afterglow.engine.view"))
    return keep(replay_all, SIGNATURE, lambda: {"replay_one": jitted(replay_one, {}, False, mark)}, mark)


def statistics_of(
    policy: RoundPolicy[Any, Any], settings: list[Any], steps: int, known: Counts, bodies: Numbers
) -> Numbers:
    """The statistic of a replay with each of the settings; `known` and `bodies` have a row for each round."""
    rows = np.array([pack(one) for one in settings])
    states = np.array([pack(policy.start(one)) for one in settings])
    found = np.zeros(len(settings))
    machine()(compiled(policy)[1], compiled_statistic(policy), rows, states, steps, known, bodies, found)
    return found
