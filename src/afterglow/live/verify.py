"""Verify an experiment: replay its log and compare decisions, totals and snapshots with what is stored."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from afterglow.errors import AfterglowError
from afterglow.live.domain import versions
from afterglow.live.domain.alike import alike
from afterglow.live.domain.amounts import FULL
from afterglow.live.domain.log import NOTHING, Body, Record, chained, read_body
from afterglow.live.domain.replay import REVISING
from afterglow.live.domain.rules import rules_of
from afterglow.live.domain.spec import Spec, read_spec
from afterglow.live.domain.state import version_of
from afterglow.live.domain.step_rows import CloseRow, MissedRows, StepRow, StepRun
from afterglow.live.domain.transitions import spec_after
from afterglow.live.follower import check
from afterglow.live.late_void import voiding
from afterglow.live.store.contract import Reading, Snapshot
from afterglow.live.store.names import named, number_of
from afterglow.live.store.session import Session
from afterglow.live.store.tables import TableLog

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
        self.rows: Iterator[StepRun] = log.step_runs()
        self.kept: Iterator[Snapshot] = log.snapshots()
        self.opened = StepRow(0, 0, 0, "")  # as it was when the step began
        self.recounted = log.recounted()

    def run(self) -> Verification:
        spec: Spec | None = None
        state: Any = None
        before, snapshot = NOTHING, next(self.kept, None)
        for record in self.log.records():
            seq, at, kind, body, mark = record
            if seq != self.records or chained(before, seq, at, kind, body) != mark:
                self.faults.append(f"record {seq:,}: its hash doesn't follow from the record before")
                break
            before = mark
            self.records += 1
            if spec is None:
                spec = self.created = read_spec(body)
                self.rules = rules_of(spec)
                self.voided = self.rules.voided(voiding(self.log))
                state = self.rules.initial(spec)
            spec = self.replay(spec, state, record)
            while snapshot is not None and snapshot.seq <= seq:
                self.compare_snapshot(snapshot, state, mark)
                snapshot = next(self.kept, None)
            if len(self.faults) >= ENOUGH:
                break
        if not self.faults and state is not None:
            self.compare_rest(state, snapshot)
        return Verification(self.name, self.records, self.steps, self.snapshots, tuple(self.faults))

    def replay(self, spec: Spec, state: Any, record: Record) -> Spec:
        """Apply a record; compare the decision in it with the one that follows from the log. The spec after it."""
        kind, values = record.kind, read_body(record.body)
        if kind in ("close", "missed", "stop"):
            if kind != "missed":
                self.compare_decision(spec, state, record.seq, values)
            for change in self.rules.changes(spec, state, kind, values):
                if isinstance(change, CloseRow):
                    self.compare_rows(change)
                elif isinstance(change, MissedRows):
                    row = change.row
                    self.compare_rows(CloseRow(row.step, 0, row.role, True, row.series), change.steps)
            if kind == "close":
                self.compare_rewards(state.step, values)
        elif kind == "void" and values["total"] != self.rules.total_of(state, values["step"]):
            self.faults.append(f"record {record.seq:,}: step {values['step']:,} was not closed with that total")
        elif kind == "revise":
            self.compare_revision(self.created, record, values)
        elif kind == "guarded" and not self.rules.guard_follows(spec, state, values):
            self.faults.append(f"record {record.seq:,}: its figures are not those that the log leads to")
        was, planned = state.step, self.opened.planned
        self.rules.apply(spec, state, kind, values)
        if state.step > was or kind == "start":
            self.opened = self.rules.opened(spec, state).row()
        elif kind == "emergency" and values["void"]:
            self.opened = self.rules.opened(spec, state).row()._replace(planned=planned)
        return spec_after(spec, kind, values)

    def compare_revision(self, spec: Spec, record: Record, values: Body) -> None:
        """Replay the log up to a record that voided learned steps."""
        known = [one for kind in REVISING for one in self.log.records(kind=kind) if one.seq <= record.seq]
        again = self.rules.replay(spec, known, ())
        for one in takewhile(lambda one: one.seq < record.seq, self.log.records()):
            again.take(one.kind, read_body(one.body))
        if not again.agrees(values["follows"]):
            self.faults.append(f"record {record.seq:,}: what it says is not what follows without the steps it voids")

    def compare_decision(self, spec: Spec, state: Any, seq: int, values: Body) -> None:
        served = self.rules.served(state)
        if values["step"] != state.step or values["served"] != served:
            self.faults.append(
                f"record {seq:,}: says step {values['step']:,} served {values['served']}, "
                f"the log leads to step {state.step:,} and {served}"
            )

    def compare_rows(self, closed: CloseRow, steps: int = 1) -> None:
        """Compare steps that were closed alike, whether the table has one row for all of them or one for each."""
        step, total, role, void, series = closed
        _, served, planned, *_ = self.opened
        end = step + steps
        while step < end and len(self.faults) < ENOUGH:
            found = next(self.rows, None)
            leads = self.voided.applied(StepRow(step, served, planned, role, total, int(void), series))
            if found is None or found.row != leads:
                has = "no row" if found is None else tuple(found.row)
                self.faults.append(f"step {step:,}: the table has {has}, the log leads to {tuple(leads)}")
            elif found.last >= end:
                self.faults.append(
                    f"step {step:,}: the table has a row for the steps to {found.last:,}, the log leads to {end - 1:,}"
                )
            self.steps += found.steps if found is not None else end - step
            step = end if found is None else max(step, found.last) + 1

    def compare_rewards(self, step: int, values: Body) -> None:
        """Rewards whose keys are not erased yet add up to the totals of their step."""
        totals = self.rules.totals(values)
        for series, (count, added) in self.recounted.pop(step, {}).items():
            total = totals.get(series)
            if total is None or max(-FULL, min(added, FULL)) != total:
                self.faults.append(
                    f"step {step:,}: its {count:,} rewards add up to {added:,} micro-units, the log has {total or 0:,}"
                )

    def compare_snapshot(self, snapshot: Snapshot, state: Any, mark: bytes) -> None:
        self.snapshots += 1
        if not as_computed(snapshot.state, state) or snapshot.check != check(mark, snapshot.state):
            self.faults.append(f"snapshot {snapshot.seq:,}: it is not the state that the log leads to")

    def compare_rest(self, state: Any, snapshot: Snapshot | None) -> None:
        """The current step has its row and the sum of its rewards, and there is nothing after it."""
        reported, recounted = self.log.reported(state.step), self.recounted.pop(state.step, {})
        for series in sorted(reported.keys() | recounted.keys()):
            stored, added = reported.get(series, (0, 0)), recounted.get(series, (0, 0))
            if stored != added:
                of = f" of series {series}" if series else ""
                self.faults.append(f"step {state.step:,}: its rewards{of} are {added}, their stored sum is {stored}")
        self.faults += [f"step {step:,}: there are rewards, but the log has no such step" for step in self.recounted]
        found = next(self.rows, None)
        if state.phase in ("running", "paused"):
            row = None if found is None else found.row
            if row is None or row[:3] != self.opened[:3] or row.total is not None:
                self.faults.append(f"step {state.step:,}: the table has {row}, the log leads to {self.opened[:3]}")
            found = next(self.rows, None)
        if found is not None:
            self.faults.append(f"step {found.row.step:,}: the table has a row that is not in the log")
        if snapshot is not None:
            self.faults.append(f"snapshot {snapshot.seq:,}: it is not in the log")


def as_computed(stored: str, state: Any) -> bool:
    """Whether a snapshot is the state, up to rounding.

    Bounds that the release which stored it computed otherwise are not compared; they are not used: see `versions`.
    """
    found = state.text(version_of(stored))
    if stored == found:
        return True
    values, expected = json.loads(stored), json.loads(found)
    if alike(values, expected):
        return True
    if all(versions.numbers_of(values)[one] == versions.COMPUTED[one] for one in versions.BOUNDS):
        return False
    for one in (values, expected):
        one.pop("books", None)
        one.pop("computed", None)
    return alike(values, expected)


def verify(name: str, log: Reading) -> Verification:
    """Compare hashes, decisions, totals and snapshots with what follows from the log."""
    audit = Audit(name, log)
    try:
        return audit.run()
    except (AfterglowError, LookupError, TypeError, ValueError) as error:
        faults = (*audit.faults, f"record {audit.records - 1:,}: can't be replayed: {error}")
        return Verification(name, audit.records, audit.steps, audit.snapshots, faults)


def faults_of_all(session: Session) -> Iterator[str]:
    """What is wrong with the experiments of a database, each with its name."""
    for name in named(session):
        for fault in verify(name, TableLog(session, number_of(session, name))).faults:
            yield f"{name}: {fault}"
