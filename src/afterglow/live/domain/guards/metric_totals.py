"""Totals of metrics beside the reward: what closes a step, and what events and rows of steps have of them."""

from collections.abc import Mapping
from typing import Any

from afterglow.errors import BadValue, Conflict, argument
from afterglow.live.domain.amounts import FULL, units
from afterglow.live.domain.guards.settings import metric_micros
from afterglow.live.domain.spec import Spec


def metric_totals(spec: Spec, reported: Mapping[int, tuple[int, int]], given: Mapping[str, object]) -> dict[str, int]:
    """The totals of metrics, by number: as given, else the sum of what was reported."""
    found = {str(number): min(reported.get(number, (0, 0))[1], FULL) for number in range(1, len(spec.metrics))}
    for name, amount in given.items():
        number = beside(spec, name)
        total, (reports, added) = metric_micros("total", amount), reported.get(number, (0, 0))
        if reports and total != min(added, FULL):
            raise Conflict(
                f"{name} has {reports:,} reports that add up to {units(added):,.12g}, got a total of {amount!r}; leave "
                "the total out, or report everything one way",
                kind="step-closed", field="metrics",
            )  # fmt: skip
        found[str(number)] = total
    return found


def beside(spec: Spec, name: str) -> int:
    """The number of a metric that is not the reward."""
    number = spec.metric(name)
    if not number:
        raise BadValue(f"{argument('metrics')} has the totals beside the reward; give the reward as the total")
    return number


def refuse_other_totals(spec: Spec, step: int, kept: list[int], given: Mapping[str, object]) -> None:
    """Refuse totals of a step that was closed with other ones."""
    for name, amount in given.items():
        number = beside(spec, name)
        before = kept[number] if number < len(kept) else 0
        if metric_micros("total", amount) != before:
            closed = f"{name} of step {step:,} was closed with {units(before):,.12g}"
            raise Conflict(f"{closed}, got {amount!r}; the first total stays", kind="step-closed", field="metrics")


def step_totals(spec: Spec, body: Mapping[str, Any], total: int) -> list[int]:
    """The totals of all metrics of a step, the reward first."""
    others = body.get("metrics", {})
    return [total, *(others.get(str(metric), 0) for metric in range(1, len(spec.metrics)))]


def totals_by_series(body: Mapping[str, Any]) -> dict[int, int]:
    """The totals of a `close` event by series: the reward is 0, then the metrics."""
    return {0: body["total"], **{int(number): total for number, total in body.get("metrics", {}).items()}}
