"""One row for each step, and what an event changes in those rows."""

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from afterglow.live.domain.guards.metric_totals import step_totals
from afterglow.live.domain.log import body_of, read_body
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import WAITING, ExperimentState, Role


class StepRow(NamedTuple):
    step: int
    served: int
    planned: int
    role: str
    total: int | None = None  # None until it is closed
    void: int = 0
    series: str | None = None  # JSON, where a step has several totals


class OpenRow(NamedTuple):
    step: int
    served: int
    planned: int
    role: str
    series: str | None = None

    def row(self) -> StepRow:
        return StepRow(self.step, self.served, self.planned, self.role, series=self.series)


class CloseRow(NamedTuple):
    step: int
    total: int
    role: str
    void: bool
    series: str | None = None


class MissedRows(NamedTuple):
    """Rows like this one, for so many steps."""

    row: StepRow
    steps: int


class StepRun(NamedTuple):
    """Rows like this one, from its step to the last: many where steps were missed, else one."""

    row: StepRow
    last: int

    @property
    def steps(self) -> int:
        return self.last - self.row.step + 1


class SpoiledRow(NamedTuple):
    """The current step got another variant before its end."""

    step: int
    served: int


class VoidRows(NamedTuple):
    first: int
    last: int


class SeriesRow(NamedTuple):
    """What each unit was served and came to is another."""

    step: int
    series: str


class VoidUnits(NamedTuple):
    """Steps are void for some units."""

    first: int
    last: int
    units: tuple[int, ...]


def series_of(spec: Spec, body: Mapping[str, Any]) -> str | None:
    """The totals of all metrics of a step that has ended, the reward first; None if that is the only one."""
    if len(spec.metrics) == 1:
        return None
    return body_of({"totals": step_totals(spec, body, body["total"])})


def totals_in(row: StepRow) -> list[int]:
    """The totals of all metrics of a row, the reward first; no others if it has none."""
    if row.series is None:
        return [] if row.total is None else [row.total]
    found: list[int] = read_body(row.series).get("totals", [row.total or 0])
    return found


Change = OpenRow | CloseRow | MissedRows | SpoiledRow | VoidRows | SeriesRow | VoidUnits


def void_for(row: StepRow, units: Collection[int]) -> bool:
    """Whether a step is void for all of these units."""
    if row.series is None:
        return False
    voids = json.loads(row.series)["voids"]
    return all(voids[unit] for unit in units)


def opened(spec: Spec, state: ExperimentState) -> OpenRow:
    """The row of the current step."""
    return OpenRow(state.step, state.served, state.planned, str(state.role))


def changes(spec: Spec, state: ExperimentState, kind: str, body: Mapping[str, Any]) -> Iterator[Change]:
    """Changes of rows by an event, from the state before it; the row of a step that it opens is added separately."""
    if kind == "close":
        yield CloseRow(state.step, body["total"], str(state.role), body["void"], series_of(spec, body))
    elif kind == "missed":
        first, role = state.step, str(Role.MISSED)
        yield CloseRow(first, 0, role, True)
        if body["count"] > 1:
            yield MissedRows(StepRow(first + 1, state.served, state.planned, role, 0, 1), body["count"] - 1)
    elif kind == "void":
        yield VoidRows(body["step"], body["step"])
    elif kind == "revise":
        yield VoidRows(body["first"], body["last"])
    elif kind == "stop" and state.phase not in WAITING:
        void = state.role is Role.EMERGENCY
        yield CloseRow(state.step, body["total"], str(Role.LAST), void, series_of(spec, body))
    elif kind == "emergency" and body["void"]:
        yield SpoiledRow(state.step, body["to"])
