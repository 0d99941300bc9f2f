"""Models of events, in the API and in streams and webhooks."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from afterglow.live.domain.transitions import KINDS
from afterglow.live.follower import REWOUND
from afterglow.service.api.models import Answered, Moment


class By(Answered):
    """Who gave a command."""

    token: str
    label: str | None = None
    session: str | None = None


class EventBody(Answered):
    """What an event says; which fields there are depends on its kind. The event `create` has the settings too."""

    model_config = ConfigDict(extra="allow")

    step: Annotated[int | None, Field(description="The step that it is about, or the current one.")] = None
    first: Annotated[int | None, Field(description="First step of `missed` and `revise`.")] = None
    last: Annotated[int | None, Field(description="Last step of `revise`.")] = None
    count: Annotated[int | None, Field(description="How many steps were missed.")] = None
    steps: Annotated[int | None, Field(description="For how many steps nothing was reported.")] = None
    served: Annotated[str | None, Field(description="The variant of the step, by name.")] = None
    variant: Annotated[str | None, Field(description="The variant of a command or notice, by name.")] = None
    to: Annotated[str | None, Field(description="The variant that an emergency serves instead, by name.")] = None
    keep: Annotated[str | None, Field(description="The variant served after the end, by name.")] = None
    total: Annotated[float | None, Field(description="Total of the step, in the unit of rewards.")] = None
    void: Annotated[bool | None, Field(description="Whether the step is not learned from.")] = None
    silent: Annotated[bool | None, Field(description="Whether nothing was reported, where `void` is another.")] = None
    starts: Annotated[Moment | None, Field(description="When step 0 begins.")] = None
    grade: Annotated[str | None, Field(description="Grade of the verdict.")] = None
    sentence: Annotated[str | None, Field(description="The verdict or the alarm in words.")] = None
    how: Annotated[Literal["horizon", "stopped"] | None, Field(description="How the experiment ended.")] = None
    learned: Annotated[int | None, Field(description="Steps learned from, after `revise`.")] = None
    excluded: Annotated[int | None, Field(description="Steps not learned from, after `revise`.")] = None
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
    kind: Annotated[str, Field(json_schema_extra={"enum": sorted([*KINDS, REWOUND])})]
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
