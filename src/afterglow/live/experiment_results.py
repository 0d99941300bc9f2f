"""What is known of an experiment: its status, verdict, estimates, steps and log."""

from dataclasses import replace
from typing import NamedTuple

from afterglow.checks import whole
from afterglow.errors import OutOfTurn
from afterglow.estimation.estimates import Estimates
from afterglow.estimation.panel import PanelEstimates, UnitsTest
from afterglow.estimation.verdict import Verdict, Versus
from afterglow.live.cached_state import CachedState
from afterglow.live.change_signal import ChangeSignal
from afterglow.live.clock_watch import ClockWatch
from afterglow.live.domain.arguments import known_unit
from afterglow.live.domain.decision import Decision
from afterglow.live.domain.guards.stops import GuardStatus
from afterglow.live.domain.log import read_body
from afterglow.live.domain.rules import Rules, rules_of
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.status import Explanation, Status
from afterglow.live.follower import Follower
from afterglow.live.log_entries import LogEntry, log_entries
from afterglow.live.past_steps import Step, decided, explain, steps
from afterglow.live.store.contract import Store
from afterglow.live.summary import Reached, progress, summary
from afterglow.live.verdict_cache import VerdictCache
from afterglow.live.verdict_history import POINTS, VerdictPoint, history
from afterglow.live.verify import Verification, verify

GLANCE = 0.05  # seconds to wait for a lock where what is stored does too


class Listed(NamedTuple):
    """What lists show of an experiment, at one moment."""

    status: Status
    decision: Decision  # of the first unit, if there are units
    reported: bool  # whether anything was ever reported
    silent: int  # steps in which nothing was, since then


class ExperimentResults:
    """What is known of an experiment; nothing here changes it, but for steps that have ended meanwhile."""

    def __init__(self, store: Store, name: str, watch: ClockWatch, signal: ChangeSignal) -> None:
        self.name = name
        self._cache = CachedState(store, name, watch, signal)
        self._verdicts = VerdictCache()

    @property
    def spec(self) -> Spec:
        return self._cache.spec

    @property
    def _rules(self) -> Rules:
        return rules_of(self.spec)

    @property
    def variants(self) -> tuple[str, ...]:
        return self.spec.variants

    def status(self, recent: float = 0.0) -> Status:
        """How the experiment stands, with its verdict and its guards, which may be `recent` seconds old."""
        with self._cache.current() as state:
            mark = self._cache.mark
            found = self._rules.status(self.spec, state, self._verdicts.judge(mark, recent))
        return replace(found, watch=self._verdicts.watch(mark, found.watch, recent)) if self.spec.guards else found

    def listed(self, recent: float = 0.0, patience: float = GLANCE) -> Listed:
        """What lists show: as `status`, but without waiting for locks.

        If others have the lock of the experiment for longer than `patience` seconds, it is what is stored; the status
        is `stale` if a step has ended since then.
        """
        with self._cache.standing(patience) as (spec, state, mark, stale):
            rules, reported, silent = rules_of(spec), state.told.reported, state.told.silent
            found = rules.status(spec, state, self._verdicts.judge(mark, recent))
            decision = rules.decisions(spec, state)[spec.units[0] if spec.units else None]
        watch = self._verdicts.watch(mark, found.watch, recent) if spec.guards else found.watch
        return Listed(replace(found, watch=watch, stale=stale), decision, reported, silent)

    def verdict(self) -> Verdict:
        """The graded answer so far: which variant to keep, by how much it is better, how sure that is, what it assumes.

        It is computed once for each step, when somebody asks. Rewards and `current` don't wait for it.
        """
        return self.status().verdict

    def verdict_after(self, seq: int, only_known: bool = False) -> Verdict | None:
        """The verdict, if record `seq` is the last one; `only_known`: if it was computed already."""
        with self._cache.standing(GLANCE) as (spec, state, mark, _):
            if mark[0] != seq or (only_known and not self._verdicts.has(mark)):
                return None
            now = rules_of(spec).status(spec, state, self._verdicts.judge(mark))
        return now.verdict

    def silence(self) -> tuple[bool, int]:
        """Whether anything was ever reported, and for how many steps nothing was."""
        with self._cache.current() as state:
            return state.told.reported, state.told.silent

    def reached(self) -> int:
        """The current step, as it is stored if others have the lock of the experiment."""
        with self._cache.standing(GLANCE) as (_, state, _, _):
            return int(state.step)

    def alarmed(self) -> bool:
        """Whether the last notice of an alarm said that one was raised, and the experiment is not archived."""
        with self._cache.standing(GLANCE) as (_, state, _, _):
            return bool(state.told.alarm) and not state.archived

    def stopped_by_guards(self) -> int:
        """How many variants guards have disabled."""
        with self._cache.standing(GLANCE) as (_, state, _, _):
            return len(state.stops)

    def summary(self) -> str:
        """The verdict for somebody who has to decide: a paragraph with numbers, units and dates."""
        with self._cache.current() as state:
            now = self._rules.status(self.spec, state, self._verdicts.judge(self._cache.mark))
            reached = progress(self.spec, state, self._cache.copy.latest)
        return summary(self.spec, now.verdict, reached)

    def guards(self) -> tuple[GuardStatus, ...]:
        """What every guard knows of every variant: its excess over the limit with an interval, and whether it stopped
        the variant. The intervals hold together and at any time, so they may be watched."""
        return self.status().guards

    def progress(self) -> Reached:
        """Phase, step and dates, as `summary` tells them."""
        with self._cache.current() as state:
            return progress(self.spec, state, self._cache.copy.latest)

    def lifts(self) -> tuple[Versus, ...]:
        """The difference of every variant to the control per step; the intervals hold together."""
        with self._cache.current() as state:
            mark, case = self._cache.mark, self._rules.case_of(self.spec, state)
        return self._verdicts.lifts(mark, case)

    def verdicts(self, count: int = POINTS) -> list[VerdictPoint]:
        """Verdicts at up to `count` steps of the past, for a picture of how the chances have changed."""
        return history(self._cache.store, self.name, self.status().step, whole("count", count, 2))

    def estimates(self) -> Estimates:
        """Mean and interval of every variant: valid together, at any step, whatever was voided or pinned.

        An experiment with units has differences only: see `differences`.
        """
        if self.spec.units:
            raise OutOfTurn(f"experiment {self.name!r} has units, which have no means in common; use differences()")
        with self._cache.current() as state:
            found: Estimates = self._rules.estimates(self.spec, state)
            return found

    def differences(self) -> PanelEstimates:
        """The difference of every variant to the best, as a share of a unit's level, in an experiment with units.

        Intervals are ordinary ones, each alone, for one look.
        """
        if not self.spec.units:
            raise OutOfTurn(f"experiment {self.name!r} has no units; use estimates() or verdict()")
        with self._cache.current() as state:
            found: PanelEstimates = self._rules.estimates(self.spec, state)
            return found

    def test(self) -> UnitsTest:
        """The exact test of an experiment with units, of "no variant changes any total": one look, at its end."""
        if not self.spec.units:
            raise OutOfTurn(f"experiment {self.name!r} has no units; status().test has the test of a schedule")
        now = self.status()
        found = now.units_test
        if found is None:
            left = (now.horizon or 0) - now.step
            why = f"{left:,} of {now.horizon:,} steps are left" if left else "there is nothing to compare"
            raise OutOfTurn(f"test() is one look at the end that was fixed before; {why}")
        return found

    def recommend(self) -> str:
        """The variant to keep, by what is known now."""
        with self._cache.current() as state:
            return self.spec.variants[state.served if state.phase == "over" else self._rules.recommended(state)]

    def explain(self, step: int, unit: str | None = None) -> Explanation:
        """The figures from which the variant of a step was chosen; of a unit, in an experiment with units."""
        if unit is not None or self.spec.units:
            known_unit("unit", unit, self.spec.units)
        step = whole("step", step, 0)
        with self._cache.aside() as log:
            row = decided(self._cache.copy, log, step)
        past = Follower(self.name)
        with self._cache.store.aside(self.name) as log:  # the experiment goes on meanwhile
            past.replay_until(log, step)
        with self._cache.aside() as log:
            return explain(self._cache.copy, log, past, row, unit)

    def steps(self, first: int = 0, count: int | None = None) -> list[Step]:
        """Variant, role and total of each step, from `first` on; with units, one row for each unit of each step."""
        first, count = whole("first", first, 0), None if count is None else whole("count", count, 0)
        with self._cache.aside() as log:
            return steps(self._cache.copy, log, first, count)

    def missed(self) -> list[range]:
        """The stretches of steps that nobody asked for or reported to, which `steps` has as a row for each step."""
        with self._cache.aside() as log:
            bodies = [read_body(one.body) for one in log.records(kind="missed")]
        return [range(body["first"], body["first"] + body["count"]) for body in bodies]

    def events(self, after: int = -1, count: int | None = None) -> list[LogEntry]:
        """The records of the log after number `after`."""
        with self._cache.aside() as log:
            return log_entries(log, after, count)

    def verify(self) -> Verification:
        """Replay the whole log and compare hashes, decisions, totals and snapshots."""
        with self._cache.store.aside(self.name) as log:
            return verify(self.name, log)
