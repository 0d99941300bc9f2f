"""thompson, kl-ucb and ars-exp3 decide as second implementations do, which compute each decision from the whole record.

Those are written from the formulas of the papers and of the module docstrings, in NumPy, and share no code with the
package (`support/oracles/textbook.py`).
"""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from afterglow.policies import named
from afterglow.policy_runner import PolicyRunner
from support.oracles.textbook import Record, ars_exp3, kl_ucb, thompson
from support.worlds.stationary import World

Oracle = Callable[[Record, int, int, Sequence[float]], tuple[int, int, int]]
ORACLES: dict[str, tuple[dict[str, Any], Oracle]] = {
    "thompson": ({}, thompson),
    "kl-ucb": ({}, lambda record, arms, window, uniforms: (kl_ucb(record, arms, 0.0), 1, 0)),
    "kl-ucb, theorem": ({"c": 3.0}, lambda record, arms, window, uniforms: (kl_ucb(record, arms, 3.0), 1, 0)),
    "ars-exp3": ({}, lambda record, arms, window, uniforms: (*ars_exp3(record, arms, uniforms[0]), 0)),
}


@pytest.mark.parametrize("window", [1, 4])
@pytest.mark.parametrize("name", ORACLES)
def test_every_hold_is_that_of_the_second_implementation(name: str, window: int) -> None:
    options, oracle = ORACLES[name]
    policy, arms, horizon = named(name.split(",", maxsplit=1)[0]), 3, 200
    for seed in (1, 2):
        settings = policy.settings(arms, window, options=options)
        runner = PolicyRunner(policy, settings, policy.start(settings), arms, stream=seed)
        world = World([0.5, 0.8, 0.65], [1 / window] * window, 2 * horizon, seed)
        record: list[tuple[int, int, Sequence[float]]] = []
        played = set()
        while world.clock < horizon:
            uniforms = runner.draws(runner.opened)
            hold = runner.current()
            assert (hold.arm, hold.steps, hold.split) == oracle(record, arms, window, uniforms), len(record)
            totals = world.hold(hold.arm, hold.steps)
            record.append((hold.arm, hold.split, totals))
            played.add(hold.arm)
            for total in totals:
                runner.take(total)
        assert played == {0, 1, 2}
