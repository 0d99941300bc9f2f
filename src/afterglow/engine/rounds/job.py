"""Simulate runs of a round policy in a world of units, into arrays with one row per run."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterglow import rng
from afterglow.engine import income
from afterglow.engine.job import JobResults
from afterglow.engine.layout import layout, pack
from afterglow.engine.machinery import Machinery, machinery
from afterglow.engine.rounds import driver
from afterglow.engine.rounds.verbs import compiled
from afterglow.engine.scatter import BadParts
from afterglow.errors import BadValue
from afterglow.policies.rounds import RoundPolicy
from afterglow.round_runner import draw_order
from afterglow.worlds.units_world import UnitDraws, UnitsWorld

Numbers = NDArray[np.float64]
NO_TRACE = np.zeros((0, 0))
NOBODY = np.zeros(0, np.int64)


@dataclass(frozen=True)
class RoundJob:
    """All that stays the same from run to run; `window` is what the policy is told."""

    policy: RoundPolicy[Any, Any]
    options: dict[str, Any]
    world: UnitsWorld
    window: int
    horizon: int
    seed: int
    tier: int
    first: int = 0
    made: Machinery | None = None
    verbs: tuple[Any, ...] = ()

    def compiled(self) -> "RoundJob":
        """With all machine code at hand, so that no clock counts it."""
        driver.machine()
        return replace(self, made=machinery(self.world.pulls), verbs=compiled(self.policy))

    def draws(self, run: int) -> UnitDraws:
        """What run number `run` draws for its units."""
        return self.world.draw(rng.key(self.seed, run, rng.UNITS))

    def settings(self, run: int, levels: list[float]) -> Any:
        """The settings of run number `run`: orders are its own."""
        arms, units = self.world.arms, self.world.units
        order, labels = draw_order(rng.key(self.seed, run, rng.ROUNDS), units, arms)
        return self.policy.settings(arms, units, self.window, self.horizon, levels, order, labels, self.options)

    def rows(self, begin: int, end: int) -> tuple[NDArray[np.float64], Numbers, Numbers]:
        """Draws, settings and first states of runs."""
        units, arms = self.world.units, self.world.arms
        draws = np.zeros((end - begin, units, driver.EXTRA + arms))
        settings, states = [], []
        for row, run in enumerate(range(self.first + begin, self.first + end)):
            drawn = self.draws(run)
            draws[row, :, driver.SIZE], draws[row, :, driver.LOADING] = drawn.sizes, drawn.loadings
            draws[row, :, driver.SHIFT] = drawn.shifts
            draws[row, :, driver.EXTRA :] = np.reshape(drawn.extras, (units, arms))
            made = self.settings(run, drawn.levels)
            settings.append(pack(made))
            states.append(pack(self.policy.start(made)))
        return draws, np.array(settings), np.array(states)

    def play(self, results: JobResults, begin: int, end: int, stop: Numbers, trace: Numbers = NO_TRACE) -> Numbers:
        """Play runs begin … end - 1 into their rows; the final states. The first run's rounds go to `trace`."""
        draws, settings, states = self.rows(begin, end)
        world, made, rows = self.world, self.made, slice(begin, end)
        assert made is not None
        next_round, learn, recommend = self.verbs
        lists = [name for name, _ in layout(self.policy.State).lists]
        head = len(layout(self.policy.State).scalars) + 2 * lists.index("arms")
        arms_at = int(states[0, head : head + 1].view(np.int64)[0])
        chosen = NOBODY if results.recommended is None else results.recommended[rows]
        try:
            driver.machine()(
                next_round, learn, recommend, *made.functions, np.uint64(self.seed), self.first + begin, self.horizon,
                self.tier, made.window, int(made.gather), made.best, made.gaps, made.law, made.cuts,
                income.table_of(world.common), income.table_of(world.own), made.room, arms_at, draws, settings, states,
                results.marks, results.curves[rows], results.shares[rows], results.pulls[rows], results.facts[rows],
                chosen, trace, stop,
            )  # fmt: skip
        except BadParts as error:
            sentence = f"the world's spread failed in a compiled run: {error}"
            raise BadValue(sentence, kind="failed-run", field="spread") from error
        except (ValueError, IndexError, ZeroDivisionError) as error:
            sentence = f"{self.policy.name} failed in a compiled run: {error}"
            raise BadValue(sentence, kind="failed-run", field="policy") from error
        return states
