"""Steps as rows of a table for people: with the times at which they began and ended, unknown totals left empty."""

from collections.abc import Iterator
from typing import NamedTuple

from afterglow.errors import BadValue
from afterglow.live.experiment import Experiment
from afterglow.live.past_steps import Step

PAGE = 5000  # rows at a time
MISSED = 1_000_000  # rows of missed steps in a table


class TimedStep(NamedTuple):
    """`begins` and `ends` are seconds since 1970; None if not known, or while the step is open."""

    step: int
    begins: float | None
    ends: float | None
    variant: str
    planned: str
    role: str
    total: float | None  # None if nobody knows it: missed steps, and void ones without a report
    void: bool
    reason: str | None
    expected: float | None
    metrics: dict[str, float] | None = None
    unit: str | None = None  # of an experiment with units, which has a row for each


def refuse_long_absence(experiment: Experiment) -> None:
    """Refuse to make a row of every missed step where that would take hours: a week away may be 600 million steps."""
    missed = sum(map(len, experiment.missed()))
    if missed * max(1, len(experiment.spec.units)) > MISSED:
        raise BadValue(
            f"{experiment.name!r} has {missed:,} missed steps, a row for each of them would be more than {MISSED:,}; "
            "use `afterglow export --without-missed`, and --what events for when they were missed"
        )


def with_known_total(step: Step) -> Step:
    """The step, without its total if that is unknown: missed steps and steps void without a report have 0."""
    unknown = step.role == "missed" or (step.void and not step.total)
    return step._replace(total=None) if unknown else step


def timed_steps(experiment: Experiment) -> Iterator[TimedStep]:
    """All steps, read page by page."""
    times = StepTimes(experiment)
    first, units = 0, max(1, len(experiment.spec.units))
    known: tuple[int, float | None, float | None] = (-1, None, None)
    while page := experiment.steps(first, max(1, PAGE // units)):
        for step in map(with_known_total, page):
            if step.step != known[0]:  # of the first unit
                known = (step.step, *times.of(step))
            yield TimedStep(known[0], known[1], known[2], *step[1:])
        first += len(page) // units


class StepTimes:
    """When steps began and ended: by the schedule, or by the records that closed them, in order."""

    def __init__(self, experiment: Experiment) -> None:
        self.seconds = experiment.spec.step_ms / 1000
        self.events = closings(experiment)
        self.first = experiment.progress().began / 1000
        self.begun: float | None = self.first  # when the next step began

    def of(self, step: Step) -> tuple[float | None, float | None]:
        """Begin and end of a step; ask in their order."""
        if self.seconds:
            at = self.first + step.step * self.seconds
            return at, None if step.total is None and not step.void else at + self.seconds
        begins, self.begun = self.begun, next(self.events, None)
        return begins, self.begun


def closings(experiment: Experiment) -> Iterator[float]:
    """The times at which steps were closed by calls."""
    seq = -1
    while page := experiment.events(seq, PAGE):
        yield from (one.at for one in page if one.kind in ("close", "stop"))
        seq = page[-1].seq
