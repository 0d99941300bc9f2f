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
from afterglow.live.domain.guards.settings import LONGEST as LONGEST_METRIC
from afterglow.live.domain.settings_table import SETTINGS
from afterglow.policies.registry import names, round_names
from afterglow.service.api.examples import EXAMPLES

MOST = limits.EXACT
NAMES, WORDS = f"^[A-Za-z0-9_-]{{1,{LONGEST_NAME}}}$", r"\S"
RULES = {NAMES: f"must be 1 to {LONGEST_NAME} letters, digits, '-' or '_'", WORDS: "must not be blank"}
Name = Annotated[str, Field(pattern=NAMES, examples=["shipping"], description="Letters, digits, `-` and `_`.")]
Variant = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME, examples=["59"])]
Moment = Annotated[str, Field(json_schema_extra={"format": "date-time"}, examples=["2026-11-16T01:30:00.000Z"])]
POLICIES = tuple(sorted([*names(), *round_names()]))


class Sent(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Answered(BaseModel):
    model_config = ConfigDict(json_schema_mode_override="serialization")


MetricName = Annotated[str, Field(min_length=1, max_length=LONGEST_METRIC, examples=["complaints"])]
Change = Annotated[float | str | None, Field(description="A change such as `+10%` or `+0.5`, or the limit itself.")]


class GuardLimit(Sent):
    """The limit of a secondary total: `at_most` or `at_least`, one of them."""

    at_most: Change = None
    at_least: Change = None
    against: Annotated[
        float | str | None,
        Field(description="What a change is measured against: `control`, which is the default, or a number."),
    ] = None
    metric: Annotated[str | None, Field(description="The metric, if it isn't the guard's name; `reward` too.")] = None


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
        Kind.UNITS: Annotated[
            list[Variant], Field(min_length=2, max_length=limits.UNITS, json_schema_extra={"uniqueItems": True})
        ],
        Kind.UNIT: Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)],
        Kind.LEVELS: dict[str, float],
        Kind.WHOLE: Annotated[int, limited],
        Kind.NUMBER: Annotated[float, limited],
        Kind.NUMBERS: Annotated[list[float], Field(min_length=int(one.least or 1), max_length=int(one.most or 1))],
        Kind.FLAG: bool,
        Kind.TEXT: Annotated[str, short],
        Kind.TIME: Moment,
        Kind.POLICY: Annotated[str, Field(json_schema_extra={"enum": list(POLICIES)})],
        Kind.OPTIONS: dict[str, Any],
        Kind.GUARDS: Annotated[dict[MetricName, GuardLimit], Field(max_length=limits.GUARDS)],
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
    totals: Annotated[
        dict[str, float | None] | None,
        Field(
            description="Totals by unit, in an experiment with units. A unit that is left out, or null, is not known "
            "in this step, unless it has rewards; without `totals`, all are the sums of their rewards."
        ),
    ] = None
    metrics: Annotated[
        dict[MetricName, float | dict[str, float | None]],
        Field(
            max_length=limits.GUARDS,
            description="Totals that guards watch, by name, and by unit in an experiment with units; others are the "
            "sums of their reports.",
        ),
    ] = {}


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
    """Difference of the average per step between two variants: an interval valid at any time, together with those of
    the other variants, if effects arrive alike all the time and noise is common to all variants or gone within blocks.
    """

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
    more_steps: Annotated[
        int | None, Field(description="About how many more steps would tell them apart, or give numbers.")
    ]


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


class UnitStatus(Answered):
    """How one unit of an experiment stands."""

    unit: str
    variant: str
    planned: str
    role: str
    pinned: str | None
    level: Annotated[float | None, Field(description="Mean total of a step: told, or from its first counted steps.")]
    silent: Annotated[int, Field(description="Steps since its last report.")]


class UnitsTest(Answered):
    """The exact test of "no variant changes any total", by replaying other draws; once, at the fixed end."""

    p: float
    statistic: Annotated[float, Field(description="Largest difference of two variants, in standard errors.")]
    draws: int
    same: Annotated[int, Field(description="Draws that dealt the same plan: with few units many.")]
    missing: Annotated[int, Field(description="Unit-steps that were left out, in every replay alike.")]
    outside: int


class GuardReading(Answered):
    """What a guard knows of a variant, per step and in the unit of the metric. The intervals of all guards hold
    together and at any time, with 95 %."""

    guard: str
    metric: str
    variant: str
    limit_words: str
    state: Annotated[
        Literal["waiting", "unreported", "watching", "beyond", "stopped", "withdrawn"],
        Field(description="`stopped`: disabled by this guard. `beyond`: shown, but it may not be disabled."),
    ]
    mean: Annotated[float | None, Field(description="The variant's mean.")]
    limit: float | None
    excess: Annotated[float | None, Field(description="How far the mean is beyond the limit; below 0: within it.")]
    low: float | None
    high: float | None
    missing: Annotated[str | None, Field(description="Why there are no numbers.")]
    stopped_at: Annotated[int | None, Field(description="The step in which it was stopped.")]


class GuardReadings(Answered):
    items: list[GuardReading]


class Status(Answered):
    status: Annotated[Grade, Field(description="Grade of the verdict.")]
    phase: Literal["draft", "scheduled", "running", "paused", "over"]
    step: int
    horizon: int | None
    variant: Annotated[str | None, Field(description="The current variant; null if units have different ones.")]
    leader: Annotated[str | None, Field(description="The recommended variant, if the grade is `leading` or higher.")]
    pinned: str | None
    disabled: list[str]
    shadow: bool
    held: Annotated[bool, Field(description="The clock has jumped: the step goes on until it is right, or accepted.")]
    washout: Annotated[int, Field(description="Further steps that won't be learned from.")]
    learned: Annotated[int, Field(description="Steps that the policy learned from.")]
    excluded: Annotated[int, Field(description="Steps that the policy did not learn from.")]
    alarm: str | None
    recommended: Annotated[
        str | None, Field(description="The variant to keep, by what is known now; null while nothing is learned.")
    ]
    archived: Annotated[bool, Field(description="Whether it is hidden from the overview.")]
    stale: Annotated[
        bool,
        Field(
            description="In lists: a step has ended that could not be closed yet, since another process has locked the "
            "experiment."
        ),
    ]
    verdict: Verdict
    test: Annotated[
        ExactTest | None, Field(description="Of a randomised schedule that has ended (policy `switchback`); else null.")
    ]
    guards: Annotated[list[GuardReading], Field(description="Every guard and variant; empty without guards.")]
    units: Annotated[list[UnitStatus], Field(description="Of an experiment with units; else empty.")]
    units_test: Annotated[UnitsTest | None, Field(description="Of an experiment with units at its end; else null.")]


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
    guards: Annotated[dict[str, dict[str, float | str]], Field(description="Limits of secondary totals, by name.")]
    units: Annotated[list[str], Field(description="Units that have totals of their own; empty for one total a step.")]
    levels: Annotated[dict[str, float], Field(description="Mean totals before the start, if they were told.")]
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
    unit: Annotated[str | None, Field(description="Of an experiment with units; else null.")]


class Closed(Answered):
    step: int
    total: Annotated[float | None, Field(description="Of all units together, where there are units.")]
    metrics: Annotated[
        dict[str, float] | None,
        Field(
            description="Totals that guards watch, of all units together where there are units; null without guards."
        ),
    ]
    next: Annotated[Current | None, Field(description="Null in an experiment with units.")]
    units: Annotated[list[Current], Field(description="What is next in each unit; else empty.")]


class Step(Answered):
    step: int
    variant: str
    planned: str
    role: str
    total: float | None
    void: bool
    reason: Annotated[str | None, Field(description="Reason of the command that made it void.")]
    expected: Annotated[float | None, Field(description="Total that was expected before it began.")]
    metrics: Annotated[
        dict[str, float] | None, Field(description="Totals that guards watch; null while open, and without guards.")
    ]
    unit: Annotated[str | None, Field(description="Of an experiment with units, which has a row for each; else null.")]


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


class UnitDifference(Answered):
    """A variant beside the best one, as a share of a unit's level; an ordinary interval for one look."""

    variant: str
    difference: float | None
    low: float | None
    high: float | None
    unit_steps: int
    runs: Annotated[int, Field(description="Times that a unit was put on it.")]


class UnitDifferences(Answered):
    best: str
    confidence: float
    items: list[UnitDifference]


class Explanation(Answered):
    step: int
    variant: str
    planned: str
    role: str
    why: str
    policy: str
    hold: Annotated[list[int] | None, Field(description="The step in which the hold was decided, and its length.")]
    figures: Annotated[dict[str, Any], Field(description="The policy's state when it decided.")]
    estimates: Annotated[Estimates | None, Field(description="Null in an experiment with units.")]
    differences: Annotated[UnitDifferences | None, Field(description="Of an experiment with units; else null.")]
    unit: str | None
    because: Annotated[str, Field(description="The numbers that the policy compared, as a sentence.")]
    index: Annotated[
        dict[str, float | None],
        Field(
            description="These numbers by variant; null: not tried yet, or dropped. Amounts are in the unit of totals."
        ),
    ]
    index_name: Annotated[str, Field(description="What they are called.")]
    index_unit: Annotated[str, Field(description="amount, or share: from 0 to 1; empty without numbers.")]
