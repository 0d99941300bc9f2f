"""Verify an experiment: replay its log and compare decisions, totals and snapshots with what is stored."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from afterglow.errors import AfterglowError
from afterglow.live.domain.amounts import FULL
from afterglow.live.domain.log import NOTHING, Record, body_of, chained, read_body
from afterglow.live.domain.replay import REVISING, Replay, StepSet, range_of
from afterglow.live.domain.spec import Spec, read_spec
from afterglow.live.domain.state import ExperimentState, bounds_version, initial, stored_bounds, version_of
from afterglow.live.domain.step_rows import CloseRow, MissedRows, StepRow, changes
from afterglow.live.domain.transitions import Body, apply
from afterglow.live.follower import check
from afterglow.live.late_void import voided_steps
from afterglow.live.store.contract import Reading, Snapshot

ENOUGH = 20  # faults, then it stops


@dataclass(frozen=True, slots=True)
class Verification:
    """What was compared, and what is wrong."""

    experiment: str
    records: int
    steps: int
    snapshots: int
    faults: tuple[str, ...]

    @property
    def ok(self) -> bool:
        return not self.faults

    def __str__(self) -> str:
        compared = f"{self.records:,} records, {self.steps:,} steps, {self.snapshots:,} snapshots"
        return "\n".join([f"{self.experiment}: {compared}, {'all as logged' if self.ok else 'faults:'}", *self.faults])


class Audit:
    """One pass over a log, with the tables beside it."""

    def __init__(self, name: str, log: Reading) -> None:
        self.name = name
        self.log = log
        self.faults: list[str] = []
        self.records = self.steps = self.snapshots = 0
        self.voided = StepSet(voided_steps(log))
        self.any_voided = bool(self.voided.firsts)  # most logs have none
        self.rows: Iterator[StepRow] = log.steps()
        self.kept: Iterator[Snapshot] = log.snapshots()
        self.opened = (0, 0, 0)  # step, served, planned
        self.recounted = log.recounted()

    def run(self) -> Verification:
        spec: Spec | None = None
        state: ExperimentState | None = None
        before, snapshot = NOTHING, next(self.kept, None)
        for record in self.log.records():
            seq, at, kind, body, mark = record
            if seq != self.records or chained(before, seq, at, kind, body) != mark:
                self.faults.append(f"record {seq:,}: its hash doesn't follow from the record before")
                break
            before = mark
            self.records += 1
            if spec is None or state is None:
                spec = read_spec(body)
                state = initial(spec)
            self.replay(spec, state, record)
            while snapshot is not None and snapshot.seq <= seq:
                self.compare_snapshot(snapshot, state, mark)
                snapshot = next(self.kept, None)
            if len(self.faults) >= ENOUGH:
                break
        if not self.faults and state is not None:
            self.compare_rest(state, snapshot)
        return Verification(self.name, self.records, self.steps, self.snapshots, tuple(self.faults))

    def replay(self, spec: Spec, state: ExperimentState, record: Record) -> None:
        """Apply a record; compare the decision in it with the one that follows from the log."""
        kind, values = record.kind, read_body(record.body)
        if kind == "close":
            self.compare_decision(state, record.seq, values)
            self.compare_row(state.step, values["total"], state.role, values["void"])
            self.compare_rewards(state.step, values["total"])
        elif kind in ("missed", "stop"):
            if kind == "stop":
                self.compare_decision(state, record.seq, values)
            for change in changes(spec, state, kind, values):
                if isinstance(change, CloseRow):
                    self.compare_row(*change)
                elif isinstance(change, MissedRows):
                    for step in range(change.row.step, change.row.step + change.steps):
                        self.compare_row(step, 0, change.row.role, True)
        elif kind == "void" and values["total"] != total_of(state, values["step"]):
            self.faults.append(f"record {record.seq:,}: step {values['step']:,} was not closed with that total")
        elif kind == "revise":
            self.compare_revision(spec, record, values)
        was, planned = state.step, self.opened[2]
        apply(spec, state, kind, values)
        if state.step > was or kind == "start":
            self.opened = (state.step, state.served, state.planned)
        elif kind == "emergency" and values["void"]:
            self.opened = (state.step, state.served, planned)

    def compare_revision(self, spec: Spec, record: Record, values: Body) -> None:
        """Replay the log up to a record that voided learned steps."""
        known = [one for kind in REVISING for one in self.log.records(kind=kind) if one.seq <= record.seq]
        early = StepSet(range_of(one) for one in known if one.kind == "void")
        again = Replay(spec, StepSet(map(range_of, known)), early)
        for one in takewhile(lambda one: one.seq < record.seq, self.log.records()):
            again.take(one.kind, read_body(one.body))
        follows, said = again.follows(), values["follows"]
        follows["books"] = stored_bounds(follows["books"], bounds_version(said["books"]))
        if body_of(follows) != body_of(said):
            self.faults.append(f"record {record.seq:,}: what it says is not what follows without the steps it voids")

    def compare_decision(self, state: ExperimentState, seq: int, values: Body) -> None:
        if values["step"] != state.step or values["served"] != state.served:
            self.faults.append(
                f"record {seq:,}: says step {values['step']:,} served {values['served']}, "
                f"the log leads to step {state.step:,} and {state.served}"
            )

    def compare_row(self, step: int, total: int, role: str, void: bool) -> None:
        self.steps += 1
        row = next(self.rows, None)
        _, served, planned = self.opened
        leads = (step, served, planned, role, total, void or (self.any_voided and step in self.voided))
        if row != leads:
            self.faults.append(
                f"step {step:,}: the table has {tuple(row) if row else 'no row'}, the log leads to {leads}"
            )

    def compare_rewards(self, step: int, total: int) -> None:
        """Rewards whose keys are not erased yet add up to the total of their step."""
        count, added = self.recounted.pop(step, (0, total))
        if count and min(added, FULL) != total:
            self.faults.append(
                f"step {step:,}: its {count:,} rewards add up to {added:,} micro-units, the log has {total:,}"
            )

    def compare_snapshot(self, snapshot: Snapshot, state: ExperimentState, mark: bytes) -> None:
        self.snapshots += 1
        if snapshot.state != state.text(version_of(snapshot.state)) or snapshot.check != check(mark, snapshot.state):
            self.faults.append(f"snapshot {snapshot.seq:,}: it is not the state that the log leads to")

    def compare_rest(self, state: ExperimentState, snapshot: Snapshot | None) -> None:
        """The current step has its row and the sum of its rewards, and there is nothing after it."""
        reported, added = self.log.reported(state.step), self.recounted.pop(state.step, (0, 0))
        if reported != added:
            self.faults.append(f"step {state.step:,}: its rewards are {added}, their stored sum is {reported}")
        self.faults += [f"step {step:,}: there are rewards, but the log has no such step" for step in self.recounted]
        row = next(self.rows, None)
        if state.phase in ("running", "paused"):
            if row is None or row[:3] != self.opened or row.total is not None:
                self.faults.append(f"step {state.step:,}: the table has {row}, the log leads to {self.opened}")
            row = next(self.rows, None)
        if row is not None:
            self.faults.append(f"step {row.step:,}: the table has a row that is not in the log")
        if snapshot is not None:
            self.faults.append(f"snapshot {snapshot.seq:,}: it is not in the log")


def total_of(state: ExperimentState, step: int) -> int | None:
    """The total of a step of the current hold."""
    hold = state.plan.hold
    return None if hold is None else hold.totals[hold.place(step)]


def verify(name: str, log: Reading) -> Verification:
    """Compare hashes, decisions, totals and snapshots with what follows from the log."""
    audit = Audit(name, log)
    try:
        return audit.run()
    except (AfterglowError, LookupError, TypeError, ValueError) as error:
        faults = (*audit.faults, f"record {audit.records - 1:,}: can't be replayed: {error}")
        return Verification(name, audit.records, audit.steps, audit.snapshots, faults)
