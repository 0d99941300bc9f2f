"""Rows of steps of an experiment with units: one row, with what each unit was served and came to as JSON."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from afterglow.live.domain.log import Record, read_body
from afterglow.live.domain.replay import range_of
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import WAITING, Role
from afterglow.live.domain.step_rows import Change, CloseRow, MissedRows, OpenRow, SeriesRow, StepRow, VoidUnits
from afterglow.live.domain.units.state import Lane, UnitsState


def text_of(
    lanes: Sequence[Lane], totals: Sequence[int] | None = None, voids: Sequence[int] = (), role: Role | None = None,
    metrics: Mapping[str, Sequence[int]] | None = None,
) -> str:  # fmt: skip
    """The column `series` of a row."""
    values = {
        "served": [lane.served for lane in lanes],
        "planned": [lane.planned for lane in lanes],
        "roles": [str(role or lane.role) for lane in lanes],
        "totals": [None] * len(lanes) if totals is None else list(totals),
        "voids": list(voids) or [0] * len(lanes),
    }
    if metrics:
        values["metrics"] = [metrics[number] for number in sorted(metrics, key=int)]
    return json.dumps(values, separators=(",", ":"))


def opened(spec: Spec, state: UnitsState) -> OpenRow:
    """The row of the current step."""
    return OpenRow(state.step, state.served, state.planned, role_of(state.lanes), text_of(state.lanes))


def role_of(lanes: Sequence[Lane]) -> str:
    """The role of the step: the one in the plan, if any unit has it."""
    roles = [lane.role for lane in lanes]
    return str(next((one for one in (Role.PLAN, Role.SHADOW, Role.WASHOUT) if one in roles), roles[0]))


def changes(spec: Spec, state: UnitsState, kind: str, body: Mapping[str, Any]) -> Iterator[Change]:
    """Changes of rows by an event, from the state before it; the row of a step that it opens is added separately."""
    lanes = state.lanes
    if kind == "close":
        series = text_of(lanes, body["totals"], body["voids"], metrics=body.get("metrics"))
        yield CloseRow(state.step, body["total"], role_of(lanes), body["void"], series)
    elif kind == "missed":
        role, none = Role.MISSED, [0] * len(lanes)
        series = text_of(lanes, none, [1] * len(lanes), role)
        yield CloseRow(state.step, 0, str(role), True, series)
        if body["count"] > 1:
            row = StepRow(state.step + 1, state.served, state.planned, str(role), 0, 1, series)
            yield MissedRows(row, body["count"] - 1)
    elif kind in ("void", "revise"):
        first, last = (body["step"],) * 2 if kind == "void" else (body["first"], body["last"])
        yield VoidUnits(first, last, tuple(body.get("units") or range(len(lanes))))
    elif kind == "stop" and state.phase not in WAITING:
        voids = [int(lane.role is Role.EMERGENCY) for lane in lanes]
        series = text_of(lanes, body["totals"], voids, Role.LAST, body.get("metrics"))
        yield CloseRow(state.step, body["total"], str(Role.LAST), all(voids), series)
    elif kind == "emergency" and body["void"]:
        away = {unit: Lane(body["to"], lanes[unit].planned, Role.EMERGENCY) for unit in body["units"]}
        yield SeriesRow(state.step, text_of([away.get(unit, lane) for unit, lane in enumerate(lanes)]))


def voided_row(row: StepRow, units: Sequence[int]) -> StepRow:
    """A row that is void for some units; void as a whole if it is for all."""
    values = json.loads(row.series or "{}")
    voids = [int(void or unit in units) for unit, void in enumerate(values["voids"])]
    text = json.dumps(values | {"voids": voids}, separators=(",", ":"))
    return row._replace(void=int(all(voids)), series=text)


class VoidedUnitRows:
    """What records of voids do to rows of steps."""

    def __init__(self, records: Iterable[Record]) -> None:
        self.voids = [(range_of(one), tuple(read_body(one.body).get("units", ()))) for one in records]

    def applied(self, row: StepRow) -> StepRow:
        """The row as it is after all voids."""
        for steps, units in self.voids:
            if row.step in steps and row.series is not None:
                row = voided_row(row, units or range(len(json.loads(row.series)["voids"])))
        return row
