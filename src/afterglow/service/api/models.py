"""Models of requests and answers; those made from declarations and those of verdicts have files of their own."""

from typing import Annotated, Any, Literal

from pydantic import Field

from afterglow.live.domain import limits
from afterglow.live.domain.expected import AHEAD
from afterglow.service.api.base_models import MOST, Answered, MetricName, Moment, Sent
from afterglow.service.api.verdict_models import ExactTest, Grade, UnitsTest, Verdict


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
    ] = {}  # noqa: RUF012  pydantic copies it


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


class UnitStatus(Answered):
    """How one unit of an experiment stands."""

    unit: str
    variant: str
    planned: str
    role: str
    pinned: str | None
    level: Annotated[float | None, Field(description="Mean total of a step: told, or from its first counted steps.")]
    silent: Annotated[int, Field(description="Steps since its last report.")]


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
