"""Models of verdicts and of exact tests."""

from typing import Annotated, Literal

from pydantic import Field

from afterglow.service.api.base_models import Answered

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


class UnitsTest(Answered):
    """The exact test of "no variant changes any total", by replaying other draws; once, at the fixed end."""

    p: float
    statistic: Annotated[float, Field(description="Largest difference of two variants, in standard errors.")]
    draws: int
    same: Annotated[int, Field(description="Draws that dealt the same plan: with few units many.")]
    missing: Annotated[int, Field(description="Unit-steps that were left out, in every replay alike.")]
    outside: int
