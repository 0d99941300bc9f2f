"""Models of requests and answers. Those of commands and of new experiments are made from their declarations.

Unknown fields and other types are refused.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from afterglow.live.domain import limits
from afterglow.live.domain.arguments import LONGEST_NAME, LONGEST_TEXT, Argument, Kind
from afterglow.live.domain.command_table import Command
from afterglow.live.domain.expected import AHEAD
from afterglow.live.domain.settings_table import SETTINGS
from afterglow.policies.registry import names
from afterglow.service.api.examples import EXAMPLES

MOST = limits.EXACT
NAMES, WORDS = f"^[A-Za-z0-9_-]{{1,{LONGEST_NAME}}}$", r"\S"
RULES = {NAMES: f"must be 1 to {LONGEST_NAME} letters, digits, '-' or '_'", WORDS: "must not be blank"}
Name = Annotated[str, Field(pattern=NAMES, examples=["shipping"], description="Letters, digits, `-` and `_`.")]
Variant = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME, examples=["59"])]
Moment = Annotated[str, Field(json_schema_extra={"format": "date-time"}, examples=["2026-11-16T01:30:00.000Z"])]
POLICIES = tuple(sorted(names()))


class Sent(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Answered(BaseModel):
    model_config = ConfigDict(json_schema_mode_override="serialization")


def annotation(one: Argument) -> Any:
    """The type of a field with its limits and description."""
    limited = Field(ge=one.least, le=one.most, gt=one.above, lt=one.below)
    short = Field(min_length=1, max_length=int(one.most or LONGEST_TEXT), pattern=WORDS)
    base: Any = {
        Kind.NAME: Name,
        Kind.VARIANTS: Annotated[
            list[Variant],
            Field(min_length=2, max_length=limits.VARIANTS, json_schema_extra={"uniqueItems": True}),
        ],
        Kind.VARIANT: Variant,
        Kind.WHOLE: Annotated[int, limited],
        Kind.NUMBER: Annotated[float, limited],
        Kind.NUMBERS: Annotated[list[float], Field(min_length=int(one.least or 1), max_length=int(one.most or 1))],
        Kind.FLAG: bool,
        Kind.TEXT: Annotated[str, short],
        Kind.TIME: Moment,
        Kind.POLICY: Annotated[str, Field(json_schema_extra={"enum": list(POLICIES)})],
        Kind.OPTIONS: dict[str, Any],
    }[one.kind]
    described = Field(description=one.help, examples=None if one.example is None else [one.example])
    return Annotated[base if one.required or one.default is not None else base | None, described]


def model_of(name: str, arguments: Iterable[Argument], text: str, example: dict[str, Any]) -> Any:
    """A model with a field for each argument."""

    class WithExample(Sent):
        model_config = ConfigDict(json_schema_extra={"examples": [example]})

    fields: dict[str, Any] = {one.name: (annotation(one), ... if one.required else one.default) for one in arguments}
    return create_model(name, __base__=WithExample, __doc__=text, **fields)


def command_model(command: Command) -> Any:
    """The body of a command."""
    unused = [Argument(name, Kind.TEXT, "Accepted and not used.", None) for name in command.ignored]
    example = {one.name: one.example for one in command.arguments}
    return model_of(command.name.title().replace("_", ""), [*command.arguments, *unused], command.help, example)


if TYPE_CHECKING:

    class NewExperiment(Sent):
        name: str
        starts: str | None
        profile_from: str | None
else:
    NewExperiment = model_of(
        "NewExperiment", SETTINGS, "An experiment to create. Without `step_seconds` the caller closes each step.",
        EXAMPLES["NewExperiment"],
    )  # fmt: skip


class Total(Sent):
    total: Annotated[
        float | None, Field(ge=0, le=1e300, description="Total of the step; null for the sum of its rewards.")
    ] = None


class ExpectedTotals(Sent):
    """Totals that are expected of steps that have not begun. They must not depend on the variants."""

    first: Annotated[int, Field(ge=0, le=MOST, description="The step of the first value.")]
    values: Annotated[
        list[float | None],
        Field(min_length=1, max_length=AHEAD, description="One for each step; null takes back what was told."),
    ]


class Told(Answered):
    first: int
    last: int


class Difference(Answered):
    """Difference of the average per step between two variants, by ordinary statistics: an interval valid for one look
    at the end, if effects arrive alike all the time and stretches of a window vary independently with one variance."""

    variant: str
    over: str
    mean: Annotated[float | None, Field(description="Null if there are too few steps yet.")]
    low: float | None
    high: float | None
    missing: Annotated[str | None, Field(description="Why there are no numbers.")]


Grade = Literal["exploring", "leading", "clear", "tested", "proven", "inconclusive", "stopped"]


class Percent(Answered):
    """A difference with its interval, in percent of the other variant's mean."""

    mean: float
    low: float
    high: float


class Versus(Answered):
    """What a step with one variant brings more than a step with another, in the unit of totals and in percent."""

    variant: str
    over: str
    mean: Annotated[float | None, Field(description="Null if `missing` says why.")]
    low: float | None
    high: float | None
    percent: Annotated[Percent | None, Field(description="Null where the other's mean is not above 0.")]
    valid: Annotated[str, Field(description="`at any time`, or `one look at the fixed end`.")]
    missing: Annotated[str | None, Field(description="Why there are no numbers.")]
    more_steps: Annotated[int | None, Field(description="About how many more steps would give numbers.")]


class Gained(Answered):
    """What the variants served have brought more than the control would have in the same steps."""

    mean: float | None
    low: float | None
    high: float | None


class Verdict(Answered):
    """The graded answer: which variant to keep, by how much it is better, how sure that is, and what it assumes."""

    grade: Grade
    recommended: Annotated[str | None, Field(description="The variant to keep; null while nothing is learned.")]
    control: str
    to_control: Annotated[Versus | None, Field(description="Null if the control is recommended.")]
    to_runner_up: Versus | None
    chance: Annotated[float | None, Field(description="Probability that the recommended variant is the best.")]
    chances: Annotated[dict[str, float], Field(description="The same for every variant; empty while it is unknown.")]
    expected_loss: Annotated[float | None, Field(description="Per step, on average, of keeping the recommended one.")]
    gained: Gained | None
    assumes: list[str]
    unit: Annotated[str, Field(description="Unit of totals; empty for none.")]
    confidence: float
    over: bool
    stopped: Annotated[bool, Field(description="Whether it ended before its horizon.")]
    alarm: str | None
    lingers: Annotated[int | None, Field(description="About how many steps noise lasts, if it does.")]
    sentence: str
    p: Annotated[float | None, Field(description="P-value of the exact test, if the grade is `tested`.")]


class VerdictWithSummary(Verdict):
    """The verdict, and a paragraph about it with numbers, units and dates."""

    summary: str


class PairTest(Answered):
    """One variant against another, by the exact test. `low` and `high` are null if there are too few blocks."""

    variant: str
    over: str
    difference: Annotated[float, Field(description="Per step, mean over blocks.")]
    p: float
    holm: Annotated[float, Field(description="The p-value corrected for all pairs.")]
    low: Annotated[float | None, Field(description="Exact interval, if the difference is the same in every block.")]
    high: float | None
    t_low: Annotated[float | None, Field(description="Student's interval of the differences in blocks.")]
    t_high: float | None


class ExactTest(Answered):
    """The exact test of a randomised schedule: one look, when it has ended."""

    p: Annotated[float, Field(description="For `all variants are alike`.")]
    pairs: list[PairTest]
    means: Annotated[dict[str, float], Field(description="Per step, over the blocks that count.")]
    blocks: Annotated[int, Field(description="Blocks that count.")]
    left_out: Annotated[int, Field(description="Blocks that were interrupted or are not whole.")]
    orders: Annotated[int, Field(description="Orders of the schedule that were compared.")]
    every_order: Annotated[bool, Field(description="Whether these are all orders.")]
    confidence: Annotated[float, Field(description="Of each interval.")]
    void_steps: Annotated[int, Field(description="Void steps within the schedule.")]


class Status(Answered):
    status: Annotated[Grade, Field(description="Grade of the verdict.")]
    phase: Literal["draft", "scheduled", "running", "paused", "over"]
    step: int
    horizon: int | None
    variant: Annotated[str, Field(description="The current variant.")]
    leader: Annotated[str | None, Field(description="The recommended variant, if the grade is `leading` or higher.")]
    pinned: str | None
    disabled: list[str]
    shadow: bool
    washout: Annotated[int, Field(description="Further steps that won't be learned from.")]
    learned: Annotated[int, Field(description="Steps that the policy learned from.")]
    excluded: Annotated[int, Field(description="Steps that the policy did not learn from.")]
    alarm: str | None
    recommended: Annotated[
        str | None, Field(description="The variant to keep, by what is known now; null while nothing is learned.")
    ]
    verdict: Verdict
    test: Annotated[
        ExactTest | None, Field(description="Of a randomised schedule that has ended (policy `switchback`); else null.")
    ]


class Experiment(Answered):
    name: str
    variants: list[str]
    window: int
    horizon: int | None
    reward_max: float
    policy: str
    policy_version: int
    options: dict[str, Any]
    settings: Annotated[dict[str, Any], Field(description="Settings of the policy, as it resolved them.")]
    seed: int
    confidence: float
    season: int
    control: str
    mode: Literal["manual", "clock"]
    step_seconds: float | None
    starts: Annotated[Moment | None, Field(description="Time from which steps on a schedule are counted.")]
    heartbeat: bool
    shadow: bool
    remember: Annotated[float, Field(description="Seconds for which reward keys are kept at least.")]
    remember_steps: Annotated[int, Field(description="Steps for which reward keys are kept at least.")]
    release: str
    unit: Annotated[str, Field(description="Unit of totals; empty for none.")]
    profile: Annotated[list[float], Field(description="Expected totals of the steps of a cycle; empty for none.")]
    profile_from: Annotated[Moment | None, Field(description="A time for which its first number was expected.")]
    typical: Annotated[float | None, Field(description="Usual mean of totals that are expected step by step.")]
    trust: float
    status: Status


class Unusable(Answered):
    name: str
    detail: Annotated[str, Field(description="Why it can't be used.")]


class ExperimentList(Answered):
    items: list[Experiment]
    unusable: Annotated[
        list[Unusable], Field(description="Experiments of this page that can't be read; the others continue.")
    ]
    next: Annotated[str | None, Field(description="The cursor of the next page.")]


class Current(Answered):
    """The current variant, the same for everyone until `valid_until`."""

    experiment: str
    variant: str
    step: int
    role: Literal["waiting", "plan", "washout", "outside", "shadow", "missed", "last", "emergency", "over"]
    valid_until: Annotated[
        Moment | None,
        Field(description="When the step ends, if it ends on a schedule; before a scheduled start, the start time."),
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
    reason: Annotated[str | None, Field(description="Reason of the command that made it void.")]
    expected: Annotated[float | None, Field(description="Total that was expected before it began.")]


class StepList(Answered):
    items: list[Step]
    next: Annotated[int | None, Field(description="The cursor of the next page.")]


class Estimate(Answered):
    variant: str
    mean: Annotated[float | None, Field(description="Average per step; null for a variant that was never served.")]
    low: Annotated[
        float, Field(description="The mean is between `low` and `high`, however effects arrive, at all steps.")
    ]
    high: float
    pulls: int
    runs: Annotated[int, Field(description="Stretches of consecutive steps.")]
    share: Annotated[float, Field(description="Share of all steps.")]


class Estimates(Answered):
    confidence: float
    alarm: str | None
    items: list[Estimate]
    differences: Annotated[
        list[Difference], Field(description="The variant with the largest mean, compared with each of the others.")
    ]


class Explanation(Answered):
    step: int
    variant: str
    planned: str
    role: str
    why: str
    policy: str
    hold: Annotated[list[int] | None, Field(description="The step in which the hold was decided, and its length.")]
    figures: Annotated[dict[str, Any], Field(description="The policy's state when it decided.")]
    estimates: Estimates
