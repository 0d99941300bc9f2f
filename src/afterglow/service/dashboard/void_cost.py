"""What voiding steps would cost, as its form says before it is confirmed."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from afterglow.live import Experiment
from afterglow.service.dashboard.numbers import counted


class SaidCost(NamedTuple):
    """A sentence, and whether steps beyond the void ones would be lost."""

    text: str
    beyond: bool


def void_cost(experiment: Experiment, given: Mapping[str, Any]) -> SaidCost:
    """What `void` with these arguments would cost; refused where the command would be."""
    first, last, unit = given["step"], given.get("last"), given.get("unit")
    learned, lost = experiment.cost_of_void(first, last, unit)
    steps = 1 if last is None else last - first + 1
    units = 1 if unit or not experiment.spec.units else len(experiment.spec.units)
    if not lost:
        return SaidCost("Nothing is learned from these steps, so none is lost.", False)
    word = "used unit-step" if experiment.spec.units else "used step"
    share = f"{lost:,} of {counted(learned, word)} would be lost"
    if lost <= steps * units:
        return SaidCost(f"{share}: no others than those that you void.", False)
    return SaidCost(f"About {share}, because the plan would have been another without the void ones.", True)
