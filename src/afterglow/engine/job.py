"""Simulate runs of one policy in one world into arrays with one row per run."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterglow.engine import driver
from afterglow.engine.layout import pack, unpack
from afterglow.engine.machinery import Machinery
from afterglow.engine.policies import compiled
from afterglow.engine.replay import Replayed, replayed
from afterglow.engine.scatter import BadParts
from afterglow.engine.spread_faults import ages_of, first_ages, spread_fault
from afterglow.errors import AfterglowError, BadValue
from afterglow.policies.policy import Policy

Numbers = NDArray[np.float64]
NO_TRACE = np.zeros((0, 5))
NO_MARKS = np.zeros(0, np.int64)
REPLAYED = 1_000_000  # holds of a failed run


@dataclass(frozen=True)
class JobResults:
    """Arrays with one row for each run."""

    facts: Numbers
    curves: Numbers
    shares: Numbers
    pulls: NDArray[np.int64]
    recommended: NDArray[np.int64] | None
    marks: NDArray[np.int64]
    kept: dict[int, Any] | None = None  # the final values of a field of the state, by run

    @classmethod
    def empty(cls, runs: int, arms: int, marks: NDArray[np.int64], recommend: bool, keep: bool = False) -> "JobResults":
        curves, shares = np.zeros((2, runs, marks.size))
        chosen = np.zeros(runs, np.int64) if recommend else None
        return cls(
            np.zeros((runs, len(driver.FACTS))), curves, shares, np.zeros((runs, arms), np.int64), chosen, marks,
            {} if keep else None,
        )  # fmt: skip

    def columns(self) -> dict[str, Numbers]:
        """The facts by name, one number for each run."""
        return {name: column.copy() for name, column in zip(driver.FACTS, self.facts.T, strict=True)}


@dataclass(frozen=True)
class Job:
    """All that stays the same from run to run."""

    policy: Policy[Any, Any]
    settings: Any
    world: Machinery
    horizon: int
    seed: int
    tier: int
    first: int = 0
    verbs: tuple[Any, Any] | tuple[()] = ()
    keep: str = ""  # a field of the state

    def compiled(self) -> "Job":
        """With all machine code at hand, so that no clock counts it."""
        driver.machine()
        return replace(self, verbs=compiled(self.policy))

    def play(self, results: JobResults, begin: int, end: int, stop: Numbers, trace: Numbers = NO_TRACE) -> Numbers:
        """Play runs begin … end - 1 into their rows; the final states. The first run's holds go to `trace`."""
        try:
            states = self.run(results, begin, end, stop, trace)
        except (AfterglowError, MemoryError):  # no failure of a verb
            raise
        except Exception as error:  # verbs and spreads of users raise what they like
            raise self.explained(begin, end, error) from error
        if results.recommended is not None:
            for row, state in zip(range(begin, end), states, strict=True):
                results.recommended[row] = self.recommended(results.pulls[row], state)
        if results.kept is not None:
            for row, state in zip(range(begin, end), states, strict=True):
                results.kept[row] = getattr(unpack(self.policy.State, state), self.keep)
        return states

    def run(self, results: JobResults, begin: int, end: int, stop: Numbers, trace: Numbers) -> Numbers:
        """The compiled runs, with whatever they raise."""
        world, rows = self.world, slice(begin, end)
        reads = self.policy.reads(world.gaps.size)
        states = np.tile(pack(self.policy.start(self.settings)), (end - begin, 1))
        driver.machine()(
            driver.addresses((*self.verbs, *world.functions)), np.uint64(self.seed), self.first + begin, self.horizon,
            self.tier, reads, world.window, int(world.gather), world.best, world.gaps, world.law,
            world.cuts, world.base, world.room, pack(self.settings), states, results.marks, results.curves[rows],
            results.shares[rows], results.pulls[rows], results.facts[rows], trace, stop,
        )  # fmt: skip
        return states

    def explained(self, begin: int, end: int, error: Exception) -> BadValue:
        """What failed, spread or policy: played again run by run, then in plain Python."""
        world, arms = self.world, range(self.world.gaps.size)
        if said := spread_fault(world.spread, world.best, world.window, arms, first_ages(world.window)):
            return spread_failed(error, said)
        if isinstance(error, BadParts):
            return spread_failed(error, "")
        found = self.failed_alone(begin, end)
        own_spread = world.spread.function is not None
        if found is not None and found.legal and own_spread:  # the policy does nothing wrong
            ages = ages_of(found.age, found.steps)
            said = spread_fault(world.spread, world.best, world.window, [found.arm], ages)
            return spread_failed(error, said or f"arm {found.arm} was held from age {found.age} on")
        said = "" if found is None else f"; {found.said}"
        what = f"{error}" or type(error).__name__
        return BadValue(f"{self.policy.name} failed in a compiled run: {what}{said}", kind="failed-run", field="policy")

    def failed_alone(self, begin: int, end: int) -> Replayed | None:
        """The first run that fails, in plain Python; None if none fails alone."""
        arms = self.world.gaps.size
        for run in range(begin, end):
            trace = np.full((min(self.horizon + 1, REPLAYED), 5), np.nan)  # the last row stays empty, or there are more
            alone = JobResults.empty(1, arms, NO_MARKS, recommend=False)
            try:
                replace(self, first=self.first + run).run(alone, 0, 1, np.zeros(1), trace)
            except Exception:
                if np.isnan(trace[-1, 0]):
                    return replayed(self.policy, self.settings, trace, self.seed, arms, self.first + run)
                return Replayed(f"it failed after {REPLAYED:,} holds, too many to replay", legal=False)
        return None

    def recommended(self, pulls: NDArray[np.int64], state: Numbers) -> int:
        """The arm that a finished run would keep."""
        if self.policy.recommend is None:
            return int(pulls.argmax())
        return self.policy.recommend(self.settings, unpack(self.policy.State, state))


def spread_failed(error: Exception, said: str) -> BadValue:
    """The error of a world's spread, with what is known of it."""
    sentence = f"the world's spread failed in a compiled run: {f'{error}' or type(error).__name__}"
    return BadValue(f"{sentence}; {said}" if said else sentence, kind="failed-run", field="spread")
