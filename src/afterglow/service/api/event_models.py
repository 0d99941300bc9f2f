"""Models of events, in the API and in streams and webhooks."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from afterglow.live.domain.transitions import KINDS
from afterglow.live.log_entries import REWOUND
from afterglow.service.api.base_models import Answered, Moment
from afterglow.service.background.webhook_call import TEST


class By(Answered):
    """Who gave a command."""

    token: str
    label: str | None = None
    session: str | None = None


class EventBody(Answered):
    """What an event says; which fields there are depends on its kind. The event `create` has the settings too."""

    model_config = ConfigDict(extra="allow")

    step: Annotated[int | None, Field(description="The step that it is about, or the current one.")] = None
    first: Annotated[int | None, Field(description="First step of `missed`, `revise` and `expect`.")] = None
    values: Annotated[
        list[float | None] | None, Field(description="Totals that are expected of step `first` and those after it.")
    ] = None
    last: Annotated[int | None, Field(description="Last step of `revise`.")] = None
    count: Annotated[int | None, Field(description="How many steps were missed.")] = None
    steps: Annotated[int | None, Field(description="For how many steps nothing was reported.")] = None
    served: Annotated[
        str | dict[str, str] | None, Field(description="The variant of the step, by name; with units, by unit.")
    ] = None
    totals: Annotated[dict[str, float] | None, Field(description="Totals of the step by unit.")] = None
    voids: Annotated[list[str] | None, Field(description="Units whose step is not learned from.")] = None
    units: Annotated[list[str] | None, Field(description="Units of a command; all, if there are none.")] = None
    variant: Annotated[str | None, Field(description="The variant of a command or notice, by name.")] = None
    to: Annotated[str | None, Field(description="The variant that an emergency serves instead, by name.")] = None
    keep: Annotated[str | None, Field(description="The variant served after the end, by name.")] = None
    total: Annotated[float | None, Field(description="Total of the step, in the unit of rewards.")] = None
    void: Annotated[bool | None, Field(description="Whether the step is not learned from.")] = None
    late: Annotated[
        bool | list[str] | None,
        Field(
            description="Whether it is void because it may have reports of silent steps before it; with units, which."
        ),
    ] = None
    silent: Annotated[
        bool | list[str] | None,
        Field(description="Whether nothing was reported, where `void` is another; with units, those that didn't."),
    ] = None
    starts: Annotated[Moment | None, Field(description="When step 0 begins.")] = None
    clock: Annotated[Moment | None, Field(description="What the clock showed when it jumped or was accepted.")] = None
    expected: Annotated[Moment | None, Field(description="What it should have shown.")] = None
    horizon: Annotated[int | None, Field(description="The new number of steps, of `extend`.")] = None
    more: Annotated[int | None, Field(description="By how many steps `extend` made it longer.")] = None
    grade: Annotated[str | None, Field(description="Grade of the verdict.")] = None
    sentence: Annotated[str | None, Field(description="The verdict or the alarm in words.")] = None
    how: Annotated[Literal["horizon", "stopped"] | None, Field(description="How the experiment ended.")] = None
    learned: Annotated[int | None, Field(description="Steps learned from, after `revise`.")] = None
    excluded: Annotated[int | None, Field(description="Steps not learned from, after `revise`.")] = None
    metrics: Annotated[
        dict[str, float | dict[str, float]] | None,
        Field(description="Totals that guards watch, by name, and by unit where there are units."),
    ] = None
    guard: Annotated[str | None, Field(description="The guard that stopped the variant.")] = None
    metric: Annotated[str | None, Field(description="The metric of the guard.")] = None
    excess: Annotated[
        list[float] | None, Field(description="How far the mean is beyond the limit, with the ends of its interval.")
    ] = None
    mean: Annotated[float | None, Field(description="The variant's mean of the metric.")] = None
    limit: Annotated[float | None, Field(description="The limit of the metric.")] = None
    reason: str | None = None
    by: By | None = None


class Event(Answered):
    seq: int
    at: Moment
    kind: Annotated[str, Field(json_schema_extra={"enum": sorted(KINDS)})]
    body: EventBody
    hash: str


class Events(Answered):
    items: list[Event]
    next: Annotated[int | None, Field(description="The cursor of the next page.")]


class SentEvent(Answered):
    """An event in a stream or a delivery of a webhook."""

    experiment: str
    seq: int
    at: Moment
    kind: Annotated[str, Field(json_schema_extra={"enum": sorted([*KINDS, REWOUND, TEST])})]
    body: EventBody
    verdict: Annotated[
        dict[str, Any] | None,
        Field(description="The verdict after the event, as `Verdict`; null if others have followed it."),
    ]


def sent_event() -> dict[str, Any]:
    """The schema of an event that is sent; it refers to the one of bodies in the document."""
    made = SentEvent.model_json_schema(ref_template="#/components/schemas/{model}", mode="serialization")
    made.pop("$defs", None)
    return made
