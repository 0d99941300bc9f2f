"""Check that a round policy acts the same in plain Python and compiled, by replaying a compiled run."""

from typing import Any

import numpy as np

from afterglow.engine.job import JobResults
from afterglow.engine.layout import unpack
from afterglow.engine.rounds.job import RoundJob
from afterglow.engine.tiers import STEP
from afterglow.errors import Disagreement
from afterglow.policies.rounds import RoundPolicy
from afterglow.worlds.units_world import UnitsWorld


def agree(policy: RoundPolicy[Any, Any], world: UnitsWorld, horizon: int, options: Any = None, seed: int = 1) -> int:
    """Raise unless a run is the same plain and compiled, to the bit; the number of rounds compared."""
    units = world.units
    trace = np.full((horizon, 2 + 3 * units), np.nan)
    job = RoundJob(policy, dict(options or {}), world, world.window, horizon, seed, STEP).compiled()
    results = JobResults.empty(1, world.arms, np.zeros(0, np.int64), recommend=True)
    final = unpack(policy.State, job.play(results, 0, 1, np.zeros(1), trace)[0])
    settings = job.settings(0, job.draws(0).levels)
    state, clock, count = policy.start(settings), 0, 0
    while clock < horizon:
        steps, split = policy.next_round(settings, state)
        steps = min(steps, horizon - clock)
        split = min(split, steps)
        row = trace[count].tolist()
        if [steps, split, *state.arms] != row[: 2 + units] or type(steps) is not int:
            raise Disagreement(
                f"{policy.name} differs at round {count}: plain Python asks for {[steps, split, *state.arms]}, "
                f"compiled for {row[: 2 + units]}; look for a float where a whole number should be"
            )
        heads, bodies = row[2 + units : 2 + 2 * units], row[2 + 2 * units :]
        policy.learn(settings, state, steps, split, [steps - split] * units, heads, bodies)
        clock, count = clock + steps, count + 1
    chosen = results.recommended
    if repr(state) != repr(final) or chosen is None or policy.recommend(settings, state) != chosen[0]:
        raise Disagreement(
            f"{policy.name} ends in another state compiled than in plain Python; look for a float kept in an int "
            f"field: plain {state}, compiled {final}"
        )
    return count
