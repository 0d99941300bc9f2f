"""Totals of metrics by unit: what closes a step, and what events and rows of steps have of them."""

import json
from collections.abc import Mapping
from typing import Any

from afterglow.errors import BadValue, Conflict, argument
from afterglow.live.domain.amounts import FULL, units
from afterglow.live.domain.arguments import known_unit
from afterglow.live.domain.commands import Reported
from afterglow.live.domain.guards.metric_totals import beside
from afterglow.live.domain.guards.settings import metric_micros
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.step_rows import StepRow


def read_metrics(spec: Spec, given: Mapping[str, object]) -> dict[int, dict[int, int]]:
    """The totals that are given, in micro-units, by metric and unit; those that are None are left out."""
    found = dict[int, dict[int, int]]()
    for name, totals in given.items():
        number = beside(spec, name)
        if not isinstance(totals, Mapping):
            raise BadValue(
                f"{argument('metrics')} must have totals by unit for {name!r}, such as "
                f"{{{spec.units[0]!r}: 3}}, got {totals!r:.100}: experiment {spec.name!r} has units"
            )
        found[number] = {
            spec.units.index(known_unit("metrics", unit, spec.units)): metric_micros("total", total)
            for unit, total in totals.items()
            if total is not None
        }
    return found


def metric_totals(spec: Spec, reported: Reported, given: Mapping[str, object]) -> dict[str, list[int]]:
    """The totals of metrics by number, then by unit: as given, else the sum of what was reported."""
    told = read_metrics(spec, given)
    found = dict[str, list[int]]()
    for number in range(1, len(spec.metrics)):
        known = told.get(number, {})
        found[str(number)] = [one_total(spec, reported, number, unit, known) for unit in range(len(spec.units))]
    return found


def one_total(spec: Spec, reported: Reported, number: int, unit: int, told: Mapping[int, int]) -> int:
    reports, added = reported.others.get(spec.series(number, unit), (0, 0))
    total = told.get(unit, min(added, FULL))
    if reports and total != min(added, FULL):
        raise Conflict(
            f"{spec.metrics[number]} of {spec.units[unit]!r} has {reports:,} reports that add up to "
            f"{units(added):,.12g}, got a total of {units(total):,.12g}; leave the unit out, or report everything one "
            "way",
            kind="step-closed", field="metrics",
        )  # fmt: skip
    return total


def has_reports(spec: Spec, reported: Reported, unit: int) -> bool:
    """Whether a metric of a unit was reported in the current step."""
    return any(reported.others.get(spec.series(number, unit)) for number in range(1, len(spec.metrics)))


def totals_in(spec: Spec, row: StepRow) -> list[list[int]]:
    """The totals of the metrics beside the reward, by unit."""
    none = [[0] * len(spec.units) for _ in spec.metrics[1:]]
    found: list[list[int]] = json.loads(row.series or "{}").get("metrics", none)
    return found


def refuse_other_totals(spec: Spec, row: StepRow, given: Mapping[str, Any]) -> None:
    """Refuse totals of a step that was closed with other ones."""
    kept = totals_in(spec, row)
    for number, totals in read_metrics(spec, given).items():
        for unit, total in totals.items():
            before = kept[number - 1][unit]
            if total != before:
                closed = f"{spec.metrics[number]} of {spec.units[unit]!r} in step {row.step:,}"
                raise Conflict(
                    f"{closed} was closed with {units(before):,.12g}, got {units(total):,.12g}; the first total stays",
                    kind="step-closed", field="metrics",
                )  # fmt: skip


def totals_by_series(body: Mapping[str, Any]) -> dict[int, int]:
    """The totals of a `close` event by series: the units' rewards, then those of each metric."""
    found = dict(enumerate(body["totals"]))
    for number, totals in body.get("metrics", {}).items():
        found |= {int(number) * len(totals) + unit: total for unit, total in enumerate(totals)}
    return found
