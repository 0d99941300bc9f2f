"""What is sent and answered, as the OpenAPI document shows it. Unknown fields and other types are refused."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from afterglow.live.domain import limits
from afterglow.live.domain.amounts import MOST as LARGEST
from afterglow.policies.registry import names

MOST = limits.EXACT
Whole = Annotated[int, Field(ge=0, le=MOST)]
NAMES, WORDS = "^[A-Za-z0-9_-]{1,100}$", r"\S"
RULES = {NAMES: "must be 1 to 100 letters, digits, '-' or '_'", WORDS: "must not be blank"}  # patterns, for people
Name = Annotated[str, Field(pattern=NAMES, examples=["shipping"], description="Letters, digits, `-` and `_`.")]
Variant = Annotated[str, Field(min_length=1, max_length=100, examples=["59"])]
Reason = Annotated[
    str,
    Field(min_length=1, max_length=1000, pattern=WORDS, examples=["the shop asked for it"], description="For the log."),
]
Moment = Annotated[str, Field(json_schema_extra={"format": "date-time"}, examples=["2026-11-16T01:30:00.000Z"])]
POLICIES = tuple(sorted(names()))


class Sent(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Answered(BaseModel):
    model_config = ConfigDict(json_schema_mode_override="serialization")


class NewExperiment(Sent):
    """An experiment to create. Without `step_seconds` the caller closes each step."""

    name: Name
    variants: Annotated[
        list[Variant], Field(min_length=2, max_length=limits.VARIANTS, json_schema_extra={"uniqueItems": True},
                             examples=[["49", "59", "69"]]),
    ]  # fmt: skip
    window: Annotated[int, Field(ge=1, le=limits.WINDOW, description="Steps an effect can last, its own included.")]
    horizon: Annotated[int | None, Field(ge=1, le=limits.HORIZON, description="Steps in all; null for no end.")] = None
    reward_max: Annotated[
        float, Field(gt=0, le=LARGEST, description="The most that one step's pull brings in all.")
    ] = 1.0
    policy: Annotated[
        str, Field(json_schema_extra={"enum": list(POLICIES)}, description="`afterglow policies` lists them.")
    ] = "trim-ucb"
    options: Annotated[dict[str, Any], Field(description="Settings of the policy.")] = {}
    seed: Annotated[int, Field(ge=0, le=MOST, description="Of policies that draw at random.")] = 0
    confidence: Annotated[float, Field(gt=0, lt=1, description="Of all intervals together.")] = 0.95
    season: Annotated[int, Field(ge=1, le=limits.SEASON, description="Steps of a cycle; 1 for none.")] = 1
    control: Annotated[Variant | None, Field(description="Served when the plan is not; the first by default.")] = None
    step_seconds: Annotated[
        float | None, Field(ge=limits.SHORTEST, le=limits.LONGEST, description="The clock closes steps of this length.")
    ] = None
    starts: Annotated[
        Moment | None,
        Field(
            description="From when on steps are counted by the clock; now by default. A full hour in the past lets "
            "steps of an hour begin on the hour; before a time to come the control is served and rewards are refused."
        ),
    ] = None
    heartbeat: Annotated[bool, Field(description="A step without any report is void.")] = False
    shadow: Annotated[bool, Field(description="Decide and log, serve the control.")] = False
    remember: Annotated[int, Field(ge=0, le=limits.REMEMBER, description="Steps that keys are kept after theirs.")] = 1
    start: Annotated[bool, Field(description="Begin at once; else with the order `start`.")] = True


class Start(Sent):
    reason: Reason | None = None


class Because(Sent):
    reason: Reason


class BecauseVariant(Because):
    variant: Variant


class Stop(Because):
    keep: Annotated[Variant | None, Field(description="Served from then on; the control by default.")] = None


class Void(Because):
    step: Whole
    last: Annotated[Whole | None, Field(description="The last step to take back; `step` alone by default.")] = None


class Total(Sent):
    total: Annotated[
        float | None, Field(ge=0, le=1e300, description="What arrived in the step; null for the sum of its rewards.")
    ] = None


class Difference(Answered):
    """What a step on one variant brings more than on another, by ordinary statistics: an interval for one look, if
    effects arrive alike all the time and stretches of a window vary independently with one variance."""

    variant: str
    over: str
    mean: Annotated[float | None, Field(description="Null if there are too few steps yet.")]
    low: float | None
    high: float | None
    missing: Annotated[str | None, Field(description="Why there are no numbers.")]


class Status(Answered):
    status: Literal["exploring", "leading", "decided", "finished", "inconclusive"]
    phase: Literal["draft", "scheduled", "running", "paused", "over"]
    step: int
    horizon: int | None
    variant: Annotated[str, Field(description="Live now.")]
    leader: str | None
    pinned: str | None
    disabled: list[str]
    shadow: bool
    washout: Annotated[int, Field(description="Steps to come that won't be learned from.")]
    learned: Annotated[int, Field(description="Steps.")]
    excluded: Annotated[int, Field(description="Steps.")]
    alarm: str | None
    recommended: Annotated[
        str | None, Field(description="The variant to keep, as things stand; null while nothing is learned.")
    ]
    lead: Annotated[Difference | None, Field(description="Of that variant over the next best.")]


class Experiment(Answered):
    name: str
    variants: list[str]
    window: int
    horizon: int | None
    reward_max: float
    policy: str
    policy_version: int
    options: dict[str, Any]
    settings: Annotated[dict[str, Any], Field(description="Of the policy, as it resolved them.")]
    seed: int
    confidence: float
    season: int
    control: str
    mode: Literal["manual", "clock"]
    step_seconds: float | None
    starts: Annotated[Moment | None, Field(description="From when on steps are counted, by the clock.")]
    heartbeat: bool
    shadow: bool
    remember: int
    release: str
    status: Status


class Unusable(Answered):
    name: str
    detail: Annotated[str, Field(description="Why it can't go on.")]


class Experiments(Answered):
    items: list[Experiment]
    unusable: Annotated[list[Unusable], Field(description="Those of this page that can't be read; the others go on.")]
    next: Annotated[str | None, Field(description="The cursor of the next page.")]


class Current(Answered):
    """The live variant, the same for everybody until `valid_until`."""

    experiment: str
    variant: str
    step: int
    role: Literal["waiting", "plan", "washout", "outside", "shadow", "missed", "last", "over"]
    valid_until: Annotated[
        Moment | None,
        Field(description="When the step ends, if a clock ends it; before a scheduled start, when that is."),
    ]


class Closed(Answered):
    step: int
    total: float | None
    next: Current


class Step(Answered):
    step: int
    variant: str
    planned: str
    role: str
    total: float | None
    void: bool
    reason: Annotated[str | None, Field(description="Of the order that made it void.")]


class Steps(Answered):
    items: list[Step]
    next: Annotated[int | None, Field(description="The cursor of the next page.")]


class Event(Answered):
    seq: int
    at: Moment
    kind: str
    body: dict[str, Any]
    hash: str


class Events(Answered):
    items: list[Event]
    next: Annotated[int | None, Field(description="The cursor of the next page.")]


class Estimate(Answered):
    variant: str
    mean: Annotated[float | None, Field(description="Of a pull; null for a variant that was never played.")]
    low: Annotated[float, Field(description="The mean is between `low` and `high`, whatever effects do, at all times.")]
    high: float
    pulls: int
    runs: Annotated[int, Field(description="Stretches of consecutive steps.")]
    share: Annotated[float, Field(description="Of all steps.")]


class Estimates(Answered):
    confidence: float
    alarm: str | None
    items: list[Estimate]
    differences: Annotated[
        list[Difference], Field(description="Of the variant with the largest mean over each of the others.")
    ]


class Explanation(Answered):
    step: int
    variant: str
    planned: str
    role: str
    why: str
    policy: str
    hold: Annotated[list[int] | None, Field(description="The step in which it was decided, and steps asked for.")]
    figures: Annotated[dict[str, Any], Field(description="The policy's state when it decided.")]
    estimates: Estimates
