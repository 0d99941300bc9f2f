"""Random operations, on the disk and in a plain reference model: both must agree after every one of them."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import afterglow.live
from afterglow.errors import BadValue, Conflict, OutOfTurn
from afterglow.live import follower
from afterglow.live.domain import limits
from afterglow.live.domain.log import NOTHING, chained
from afterglow.policies.registry import named
from support.oracles.live import Reference
from testbed.postgres import server
from testbed.quick_disk import quick_folder

NAMES = ("A", "B", "C")
REASON = "as the test wants"
POLICIES: dict[str, dict[str, Any]] = {
    "trim-ucb": {}, "leak-ucb": {}, "ucb1": {}, "composite-exp3": {}, "washout-ucb": {}, "lag-ridge-ucb": {},
    "phased-ucb": {"hold": 3}, "random-turns": {"season": 5},
}  # fmt: skip


EXPECTED: dict[str, dict[str, Any]] = {
    "none": {}, "profile": {"profile": (0.5, 1.25, 0.1, 0.9, 0.3), "trust": 0.7}, "typical": {"typical": 0.8},
}  # fmt: skip


GUARDS = {"complaints": {"at_most": 10**6}}  # which nothing exceeds: the model doesn't know what guards stop


class Machine(RuleBasedStateMachine):
    @initialize(
        policy=st.sampled_from(sorted(POLICIES)),
        window=st.integers(1, 4),
        horizon=st.sampled_from([None, 25, 60]),
        control=st.integers(0, 2),
        shadow=st.booleans(),
        heartbeat=st.booleans(),
        clocked=st.booleans(),
        expected=st.sampled_from(["none", "profile", "typical"]),
        guarded=st.booleans(),
    )
    def create(
        self, policy: str, window: int, horizon: int | None, control: int, shadow: bool, heartbeat: bool, clocked: bool,
        expected: str, guarded: bool,
    ) -> None:  # fmt: skip
        self.make_room()
        horizon = horizon or (40 if "horizon" in named(policy).needs() else None)
        if policy == "random-turns":
            horizon = horizon and 80  # it refuses shorter ones
        self.now = 1000.0
        taken_out = EXPECTED[expected] if named(policy).adjustable else {}
        self.experiments = afterglow.live.open(self.address, clock=lambda: self.now)
        self.experiment = self.experiments.create(
            "tested", NAMES, window, horizon, reward_max=2.0, policy=policy, seed=3, control=NAMES[control],
            shadow=shadow, heartbeat=heartbeat, step_seconds=60 if clocked else None, **POLICIES[policy], **taken_out,
            profile_from=250.0 if clocked and "profile" in taken_out else None,
            remember=limits.REMEMBER, guards=GUARDS if guarded else {},
        )  # fmt: skip
        self.model = Reference(
            3, window, horizon, 2.0, policy, POLICIES[policy], 3, control, shadow, heartbeat, **taken_out,
            phase=12 % 5 if clocked else 0,  # whole steps from 250 s to the start
        )  # fmt: skip
        self.clocked = clocked
        self.reported = dict[str, int]()  # of the step in hand
        self.before = dict[str, int]()  # of all steps before, whose keys are kept
        self.guarded = guarded
        self.complaints = list[int]()  # totals of the steps before
        self.complained = dict[str, int]()  # in the step in hand
        self.known_complaints = dict[str, int]()  # of all steps before
        self.heard = False  # whether anything was ever reported
        self.quiet = 0  # steps since the last report
        self.ordered = set[int]()  # steps that were made void by an order

    def make_room(self) -> None:
        self.folder = quick_folder()
        self.address = str(Path(self.folder.name) / "experiments.db")

    def tear_down_room(self) -> None:
        self.folder.cleanup()

    def running(self) -> bool:
        return not self.model.over

    def by_hand(self) -> bool:
        return not self.model.over and not self.clocked

    def by_the_clock(self) -> bool:
        return not self.model.over and self.clocked

    # Steps

    @precondition(by_hand)
    @rule(total=st.integers(0, 2_000_000))
    def close_with_a_total(self, total: int) -> None:
        step = len(self.model.closed)
        if self.reported and total != sum(self.reported.values()):
            with pytest.raises(Conflict):
                self.experiment.close_step(total / 1e6)
            return
        self.experiment.close_step(total / 1e6)
        self.ended(total, False, told=True)
        self.experiment.close_step(total / 1e6, step=step)
        with pytest.raises(Conflict):
            self.experiment.close_step((total + 1) / 1e6 if total < 2_000_000 else 0, step=step)

    @precondition(by_hand)
    @rule(times=st.integers(1, 12))
    def close_with_what_was_reported(self, times: int) -> None:
        for _ in range(times):
            if self.running():
                self.experiment.close_step()
                self.ended(sum(self.reported.values()), self.unheard())

    @precondition(by_the_clock)
    @rule(steps=st.sampled_from([1, 1, 1, 1, 2, 4]), times=st.integers(1, 12), early=st.integers(0, 59))
    def let_time_pass(self, steps: int, times: int, early: int) -> None:
        """`steps` at once, so many `times`; the clock is up to a minute early or back again in between."""
        for _ in range(times):
            if self.running():
                self.now += 60 * steps
                left = (self.model.horizon or 10**9) - len(self.model.closed)
                self.ended(sum(self.reported.values()), self.unheard())
                if min(steps, left) > 1:
                    self.model.miss(min(steps, left) - 1)
                    self.quiet += min(steps, left) - 1
                    self.complaints += [0] * (min(steps, left) - 1)
                self.experiment.current()
                self.now -= early
                self.experiment.current()
                self.now += early

    def unheard(self) -> bool:
        """Whether the step is void: nothing was reported in it, or ever, or it may have reports of silent ones."""
        if not self.reported and not self.complained:
            return self.model.heartbeat or not self.heard
        return self.model.heartbeat and self.heard and self.quiet > 0

    def ended(self, total: int, void: bool, told: bool = False) -> None:
        self.model.close(total, void)
        self.heard |= not void
        silent = not self.reported and not self.complained and not told
        self.quiet = self.quiet + 1 if silent else 0
        self.before, self.reported = self.before | self.reported, {}
        self.complaints.append(sum(self.complained.values()))
        self.known_complaints, self.complained = self.known_complaints | self.complained, {}

    @precondition(lambda self: self.running() and self.guarded)
    @rule(key=st.sampled_from("abcde"), amount=st.integers(0, 100_000))
    def complain(self, key: str, amount: int) -> None:
        """Keys of a metric are apart from those of rewards."""
        known = self.complained.get(key, self.known_complaints.get(key))
        if known is not None and known != amount:
            with pytest.raises(Conflict):
                self.experiment.reward(amount / 1e6, key, metric="complaints")
            return
        receipt = self.experiment.reward(amount / 1e6, key, metric="complaints")
        assert receipt == (len(self.model.closed), int(known is None), int(known is not None))
        if known is None:
            self.complained[key] = amount

    @precondition(running)
    @rule(key=st.sampled_from("abcde"), amount=st.integers(0, 100_000))
    def report(self, key: str, amount: int) -> None:
        known = self.reported.get(key, self.before.get(key))
        if known is not None and known != amount:
            with pytest.raises(Conflict):
                self.experiment.reward(amount / 1e6, key)
            return
        receipt = self.experiment.reward(amount / 1e6, key)
        assert receipt == (len(self.model.closed), int(known is None), int(known is not None))
        if known is None:
            self.reported[key] = amount

    @precondition(lambda self: self.running() and self.model.typical is not None)
    @rule(
        ahead=st.integers(0, 4),
        values=st.lists(st.one_of(st.none(), st.integers(0, 2_000_000)), min_size=1, max_size=6),
    )
    def expect(self, ahead: int, values: list[int | None]) -> None:
        first = len(self.model.closed) + ahead
        told = [None if value is None else value / 1e6 for value in values]
        if ahead == 0 or first + len(values) > (self.model.horizon or 10**9):
            with pytest.raises(OutOfTurn if ahead == 0 else BadValue):
                self.experiment.expect(first, told)
            return
        self.experiment.expect(first, told)
        for step, value in enumerate(values, first):
            self.model.expected.pop(step, None)
            if value is not None:
                self.model.expected[step] = value

    # Orders

    @precondition(running)
    @rule(arm=st.integers(0, 2))
    def pin(self, arm: int) -> None:
        if arm in self.model.disabled:
            with pytest.raises(OutOfTurn):
                self.experiment.pin(NAMES[arm], REASON)
        else:
            self.experiment.pin(NAMES[arm], REASON)
            self.model.pinned = arm

    @precondition(running)
    @rule()
    def unpin(self) -> None:
        self.experiment.unpin(REASON)
        self.model.pinned = None

    @precondition(running)
    @rule(paused=st.booleans())
    def pause_or_resume(self, paused: bool) -> None:
        (self.experiment.pause if paused else self.experiment.resume)(REASON)
        self.model.paused = paused

    @precondition(running)
    @rule(arm=st.integers(0, 2))
    def disable(self, arm: int) -> None:
        if arm not in self.model.disabled and (len(self.model.disabled) == 2 or arm == self.model.pinned):
            with pytest.raises(OutOfTurn):
                self.experiment.disable(NAMES[arm], REASON)
            return
        self.experiment.disable(NAMES[arm], REASON)
        if arm not in self.model.disabled:
            self.model.disabled.add(arm)
            self.model.replan(self.best())

    @precondition(running)
    @rule(arm=st.integers(0, 2))
    def enable(self, arm: int) -> None:
        self.experiment.enable(NAMES[arm], REASON)
        if arm in self.model.disabled:
            self.model.disabled.remove(arm)
            self.model.replan(self.best())

    def best(self) -> int:
        """The enabled arm of highest mean, the control first."""
        known = self.experiment.estimates()
        allowed = [arm for arm in range(3) if arm not in self.model.disabled]
        means = [known.arms[arm].mean if known.arms[arm].pulls else 0.0 for arm in range(3)]
        return max(allowed, key=lambda arm: (known.arms[arm].pulls > 0, means[arm], arm == self.model.control))

    @precondition(lambda self: self.running() and self.model.shadow)
    @rule()
    def go_live(self) -> None:
        self.experiment.go_live(REASON)
        self.model.shadow = False
        self.model.replan(self.best())

    @precondition(lambda self: self.model.closed)
    @rule(data=st.data(), late=st.booleans())
    def void(self, data: st.DataObject, late: bool) -> None:
        newest = len(self.model.closed) - 1
        first = data.draw(st.integers(0 if late else max(0, newest - 4), newest))
        self.take_back(first, data.draw(st.integers(first, min(newest, first + 3))) if late else first)

    def take_back(self, first: int, last: int) -> None:
        self.experiment.void(first, REASON, None if first == last else last)
        if not all(one.void for one in self.model.closed[first : last + 1]):
            in_hand = first == last and first in self.model.voidable()
            self.model.void(first) if in_hand else self.model.late_void(first, last)
            self.ordered |= set(range(first, last + 1))
        if last + 1 == len(self.model.closed):
            with pytest.raises(OutOfTurn, match="can't be voided before it has ended"):
                self.experiment.void(first, REASON, last + 1)

    @precondition(lambda self: self.running() and len(self.model.closed) > 15)
    @rule(keep=st.sampled_from([None, 0, 1]))
    def stop(self, keep: int | None) -> None:
        if keep is not None and keep in self.model.disabled:
            return
        self.experiment.stop(REASON, None if keep is None else NAMES[keep])
        wanted = self.model.pinned if self.model.pinned is not None else self.model.safe()
        self.model.end(wanted if keep is None else keep)

    @rule()
    def take_it_up_again(self) -> None:
        self.experiments.close()
        self.experiments = afterglow.live.open(self.address, clock=lambda: self.now)
        self.experiment = self.experiments.get("tested")

    # Agreement

    @invariant()
    def the_decision_is_the_models(self) -> None:
        model = self.model
        made = self.experiment.decision()
        assert (made.variant, made.planned) == (NAMES[model.served], NAMES[model.planned])
        assert made.role == ("over" if model.over else model.role_now())
        assert self.experiment.current() == made.variant

    @invariant()
    def steps_and_totals_are_the_models(self) -> None:
        shown = self.experiment.steps(count=len(self.model.closed))
        wanted = [
            (
                step,
                NAMES[one.served],
                NAMES[one.planned],
                "aside" if one.role in ("plan", "shadow") and not one.void and not one.counts else one.role,
                one.total / 1e6,
                one.void,
                REASON if step in self.ordered else None,
                None if (told := self.model.told(step)) is None else told / 1e6,
                {"complaints": self.complaints[step] / 1e6} if self.guarded else None,
            )
            for step, one in enumerate(self.model.closed)
        ]
        assert [one[:9] for one in shown] == wanted

    @invariant()
    def guards_count_washed_steps_of_the_plan(self) -> None:
        """The same rule in plain words: step `window` of a run or later, in the plan, not void."""
        record = self.experiment._cache.copy.state.bounds.guarded
        if record is None:
            return
        wanted, current, age = [[0, 0] for _ in NAMES], -1, 0
        for step, one in enumerate(self.model.closed):
            if one.role in ("outside", "emergency", "missed", "last"):
                current = -1
                continue
            age = age + 1 if one.served == current else 1
            current = one.served
            if age >= self.model.window and one.role == "plan" and not one.void:
                wanted[one.served][0] += 1
                wanted[one.served][1] += self.complaints[step]
        batches, _ = record.counted(1, self.experiment._cache.copy.state.bounds.current)
        assert [[washed.steps, round(washed.total)] for washed in batches.arms] == wanted

    @invariant()
    def the_status_counts_and_names_what_the_model_does(self) -> None:
        model, now = self.model, self.experiment.status()
        counted = [one for one in model.closed if one.counts and not one.void]
        assert (now.learned, now.excluded) == (len(counted), len(model.closed) - len(counted))
        assert now.phase == ("over" if model.over else "paused" if model.paused else "running")

    def teardown(self) -> None:
        if not hasattr(self, "experiments"):
            return
        try:
            self.the_verdict_fits_the_model()
            self.the_log_replays_to_the_same_state()
        finally:
            self.experiments.close()
            self.tear_down_room()

    def the_verdict_fits_the_model(self) -> None:
        """Once for each run: it takes longer than a step."""
        model, now = self.model, self.experiment.status()
        none = {"inconclusive", "stopped"} if model.over else {"exploring"}
        assert now.status in {"leading", "clear", "proven"} | none
        assert now.verdict.over == model.over
        found = now.verdict.recommended
        assert found == now.recommended or now.verdict.chances[found or ""] >= 0.9
        assert not {found, now.recommended} & set(now.disabled)

    def the_log_replays_to_the_same_state(self) -> None:
        verdict = self.experiment.verify()
        assert verdict.ok, str(verdict)
        replayed, before = follower.Follower("tested"), NOTHING
        with self.experiments._store.reading("tested") as log:
            replayed.begin(log, -1)
            for record in log.records():
                before = chained(before, record.seq, record.at, record.kind, record.body)
                assert before == record.hash
                replayed.take(record)
        assert replayed.state.text() == self.experiment._cache.copy.state.text()


class PostgresMachine(Machine):
    def make_room(self) -> None:
        self.address = server().fresh()

    def tear_down_room(self) -> None:
        server().drop(self.address)


PATIENT = settings(stateful_step_count=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
TestMachine = Machine.TestCase
TestMachine.settings = settings(PATIENT, max_examples=60)
TestPostgresMachine = PostgresMachine.TestCase
TestPostgresMachine.settings = settings(PATIENT, max_examples=12)


@pytest.fixture(autouse=True)
def frequent_snapshots(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("afterglow.live.follower.EVERY", 7)
    monkeypatch.setattr("afterglow.live.follower.BYTES", 10**9)
