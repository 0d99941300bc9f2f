"""Expected totals of a running experiment: what was known of a step's total before the step began.

A profile repeats; its phase at step 0 is fixed when the experiment starts. Without a profile, `expect` events tell the
totals of steps to come; later ones replace earlier ones, and steps that have begun are refused, so that nobody chooses
after seeing. What is taken out of a total is a whole number of micro-units, so that replays agree to the digit.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from afterglow.checks import is_number, whole
from afterglow.errors import BadValue, OutOfTurn, argument
from afterglow.live.domain.amounts import MICRO, MOST
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import WAITING, ExperimentState

AHEAD = 10_000  # steps


def phase_at(spec: Spec, starts: int) -> int:
    """The phase of step 0, which begins at `starts` (milliseconds since 1970)."""
    if not spec.profile or not spec.step_ms or spec.profile_from_ms is None:
        return 0
    return (starts - spec.profile_from_ms) // spec.step_ms % len(spec.profile)


def expected_total(spec: Spec, phase: int, step: int, told: int | None) -> int | None:
    """What is expected of a step, in micro-units; None if nothing is."""
    if spec.profile:
        return round(spec.profile[(phase + step) % len(spec.profile)] * MICRO)
    return told


def surplus(spec: Spec, state: ExperimentState) -> int | None:
    """What is taken out of the total of the current step, in micro-units; None if totals stay as they are."""
    if not spec.adjusts:
        return None
    told = expected_total(spec, state.profile_phase, state.step, state.expected.get(state.step))
    return 0 if told is None else round(spec.trust * (told - spec.usual))


def forget(state: ExperimentState, steps: int) -> None:
    """Drop what was expected of the last steps, which are over."""
    if state.expected:
        for step in range(max(state.step - steps, min(state.expected)), state.step):
            state.expected.pop(step, None)


def expect(state: ExperimentState, body: Mapping[str, Any]) -> None:
    """The totals of steps to come are told; None takes back what was told."""
    for step, value in enumerate(body["values"], body["first"]):
        if value is None:
            state.expected.pop(step, None)
        else:
            state.expected[step] = value


def told(spec: Spec, state: ExperimentState, first: object, values: Iterable[object]) -> dict[str, Any]:
    """The body of an `expect` event; refused for steps that have begun or are too far ahead."""
    if spec.typical is None:
        way_out = "it repeats its profile" if spec.profile else "create one with typical, their usual mean"
        raise BadValue(f"experiment {spec.name!r} takes no expected totals; {way_out}", field="values")
    begins, least = whole("first", first, 0), state.step + (state.phase not in WAITING)
    amounts = list(values)
    if not 1 <= len(amounts) <= AHEAD:
        raise BadValue(f"{argument('values')} must have 1 to {AHEAD:,} numbers, got {len(amounts):,}")
    if begins < least:
        raise OutOfTurn(
            f"step {begins:,} has begun, and what is expected must be told before; the next step is {least:,}",
            field="first",
        )
    last = begins + len(amounts) - 1
    most = state.step + AHEAD if spec.horizon is None else min(state.step + AHEAD, spec.horizon - 1)
    if last > most:
        raise BadValue(
            f"{argument('values')} must be of steps up to {most:,}, at most {AHEAD:,} ahead and before the horizon; "
            f"got one of step {last:,}"
        )
    return {"first": begins, "values": [micro(place, value) for place, value in enumerate(amounts)]}


def micro(place: int, value: object) -> int | None:
    if value is None:
        return None
    if not is_number(value) or abs(float(value)) > MOST:
        raise BadValue(
            f"{argument('values')} must have finite numbers up to {MOST:,}, or None, got {value!r} at place {place:,}"
        )
    return round(float(value) * MICRO)


class GivenTotals:
    """What `expect` events have told, for readers of past steps."""

    def __init__(self) -> None:
        self.parts: list[tuple[int, Sequence[int | None]]] = []

    def add(self, body: Mapping[str, Any]) -> None:
        self.parts.append((body["first"], body["values"]))

    def of(self, first: int, last: int) -> dict[int, int]:
        """What was told of the steps from `first` to `last`."""
        found = dict[int, int | None]()
        for begins, values in self.parts:
            for step in range(max(first, begins), min(last, begins + len(values) - 1) + 1):
                found[step] = values[step - begins]
        return {step: value for step, value in found.items() if value is not None}
