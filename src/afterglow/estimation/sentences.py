"""The verdict as one or two sentences for somebody who has to decide."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from afterglow.checks import Name

if TYPE_CHECKING:
    from afterglow.estimation.verdict import Verdict, Versus

NEVER = 200  # times the steps so far: more than that is not worth waiting for


def sentence(verdict: "Verdict", steps: int, others: Sequence[Name]) -> str:
    """What is recommended instead of the others, how sure that is, and what would help."""
    parts = [] if not verdict.stopped else ["The experiment was stopped before its end."]
    tested = verdict.grade == "tested"
    parts.append(tested_claim(verdict, others) if tested else opening(verdict))
    if verdict.grade not in ("clear", "tested", "proven"):
        parts.append(remedy(verdict, steps))
    if verdict.alarm is not None:
        parts.append(f"Nothing is called clear while an alarm stands: {verdict.alarm}.")
    return " ".join(part for part in parts if part)


def opening(verdict: "Verdict") -> str:
    """The claim and its numbers."""
    best, row = verdict.recommended, verdict.to_runner_up
    if best is None:
        return "Nothing is known yet."
    if row is None:
        return f"{best} is the only variant."
    if row.mean is None:
        return f"{best} is recommended; it can't be compared with {row.other} yet: {row.missing}."
    numbers = amounts(row, verdict.unit)
    chance = "" if verdict.chance is None else f" (chance {percent(verdict.chance)})"
    return {
        "proven": f"{best} is proven to be the best, however effects arrive within the window; over {row.other} it "
        f"brings {numbers}.",
        "clear": f"{best} is clearly the best; over {row.other}, which comes closest, it brings {numbers}.",
        "leading": f"{best} is probably the best{chance}; over {row.other} it brings {numbers}.",
        "exploring": f"No variant stands out yet; {best} is ahead of {row.other}{chance}: {numbers}.",
    }.get(verdict.grade, f"{best} is recommended; the data can't tell it from {row.other}: {numbers}.")


def tested_claim(verdict: "Verdict", others: Sequence[Name]) -> str:
    """What an exact test of the schedule has called."""
    *most, last = (str(other) for other in others)
    named = f"{', '.join(most)} and {last}" if most else last
    return f"{verdict.recommended} is better than {named}: p = {verdict.p:.2g}, by re-drawing the schedule."


def amounts(row: "Versus", unit: str) -> str:
    """A difference a step with its interval, in percent if there is one, else in the unit."""
    if row.percent is not None:
        mean, low, high = (f"{signed(value)} %" for value in row.percent)
    else:
        assert row.mean is not None
        assert row.low is not None
        assert row.high is not None
        mean, low, high = (f"{signed(value)}{' ' + unit if unit else ''}" for value in (row.mean, row.low, row.high))
    return f"{mean} a step, between {low} and {high}"


def remedy(verdict: "Verdict", steps: int) -> str:
    """What would help."""
    row = verdict.to_runner_up
    if row is None:
        return ""
    if row.mean is None or row.low is None or row.high is None:
        return "" if row.more_steps is None else f"About {rounded(row.more_steps)} more steps on it would tell."
    gap = abs(row.mean)
    reach = 0.5 * (row.high - row.low)
    if gap <= 0 or (reach / gap) ** 2 > NEVER:
        return "They are so close that more steps hardly help: keep either."
    more = steps * ((reach / gap) ** 2 - 1)
    if more <= 0:
        return ""
    return f"About {rounded(more)} more steps would tell, were the difference as large as it looks."


def signed(value: float) -> str:
    """Two or three digits with a sign."""
    if value == 0 or not math.isfinite(value):
        return f"{value:+.1f}"
    digits = max(0, 1 - math.floor(math.log10(abs(value)))) if abs(value) < 100 else 0
    text = f"{value:+,.{min(digits, 6)}f}"
    return text.replace("-", "−")


def percent(share: float) -> str:
    return "over 99 %" if share > 0.99 else f"{100 * share:.0f} %"


def rounded(steps: float) -> str:
    """Two digits are enough."""
    scale = 10 ** max(0, math.floor(math.log10(max(steps, 1))) - 1)
    return f"{math.ceil(steps / scale) * scale:,}"
