"""The verdict as one or two sentences for somebody who has to decide."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from afterglow.checks import Name

if TYPE_CHECKING:
    from afterglow.estimation.verdict import Verdict, Versus


CLOSE = 5.0  # percent
NOTHING_PAID = "Nothing was paid: every total is 0. Check that rewards are reported."
UNDECIDED, NOT_SHOWN = ", which decides nothing yet", ", which is not certain"
STOPPED = "The experiment was stopped before its end."


def sentence(
    verdict: "Verdict",
    others: Sequence[Name],
    doubt: "Versus | None" = None,
    reward_max: float = math.inf,
    unpaid: bool = False,
) -> str:
    """What is recommended instead of the others, how sure that is, and what would help.

    `doubt` is a difference that is not told yet where that to the runner-up is; `unpaid` says that every total was 0.
    """
    parts = []
    row = doubt or verdict.to_runner_up
    if verdict.grade == "tested":
        parts.append(tested_claim(verdict, others))
    elif unpaid and row is not None:
        parts.append(NOTHING_PAID)
    elif doubt is not None:
        parts.append(partial(verdict, doubt, reward_max))
    else:
        parts.append(opening(verdict, reward_max))
    if verdict.grade not in ("clear", "tested", "proven") and verdict.alarm is None and not unpaid:
        parts.append(remedy(verdict, row, others, reward_max))
    if verdict.stopped:
        parts.append(STOPPED)
    if verdict.alarm is not None:
        parts.append(f"Nothing is called clear while an alarm stands: {verdict.alarm}.")
    return " ".join(part for part in parts if part)


def partial(verdict: "Verdict", doubt: "Versus", reward_max: float) -> str:
    """The best is told apart from the closest, but not from every other."""
    row = verdict.to_runner_up
    assert row is not None
    if doubt.mean is None:
        why = f"can't be compared with {doubt.other} yet: {doubt.missing}"
    elif says_nothing(doubt, reward_max):
        why = f"has had too few steps beside {doubt.other} to be told from it"
    else:
        why = f"can't be told from {doubt.other}: {amounts(doubt, verdict.unit)}"
    return f"{verdict.recommended} is better than {row.other}: {amounts(row, verdict.unit)}. But it {why}."


def says_nothing(row: "Versus", reward_max: float) -> bool:
    """Whether the interval contains all that rewards allow."""
    return row.low is not None and row.high is not None and row.low <= -reward_max and row.high >= reward_max


def is_alike(row: "Versus", reward_max: float = math.inf) -> bool:
    """Whether the two look so alike that more steps would hardly tell them apart."""
    if row.low is None or row.high is None or not row.low <= 0 <= row.high or row.more_steps is not None:
        return False
    return is_narrow(row) and not says_nothing(row, reward_max)


def is_narrow(row: "Versus") -> bool:
    """Whether the two are known to be close: within a twentieth of the other's mean."""
    return row.percent is not None and max(abs(row.percent[1]), abs(row.percent[2])) <= CLOSE


def opening(verdict: "Verdict", reward_max: float) -> str:
    """The claim and its numbers."""
    best, row = verdict.recommended, verdict.to_runner_up
    if best is None:
        return "Nothing is known yet."
    if row is None:
        return f"{best} is the only variant that is enabled."
    if row.mean is None:
        return (
            f"Not known yet which is best: {row.missing}."
            if not verdict.over
            else (f"{best} is recommended; it can't be compared with {row.other}: {row.missing}.")
        )
    numbers = amounts(row, verdict.unit)
    if says_nothing(row, reward_max):
        why = "with too few steps for an interval" if verdict.alarm is None else "without an interval"
        numbers = f"{numbers.partition(', between')[0]}, {why}"
    chance = "" if verdict.chance is None else f" (chance {percent(verdict.chance)})"
    return {
        "proven": f"{best} is proven to be the best, however effects arrive within the window; over {row.other} it "
        f"brings {numbers}.",
        "clear": f"{best} is clearly the best; over {row.other}, which comes closest, it brings {numbers}.",
        "leading": f"{best} is probably the best{chance}{NOT_SHOWN if verdict.over else UNDECIDED}; over {row.other} "
        f"it brings {numbers}.",
        "exploring": ahead(verdict, row, chance, numbers),
    }.get(verdict.grade, f"{best} is recommended; the data can't tell it from {row.other}: {numbers}.")


def ahead(verdict: "Verdict", row: "Versus", chance: str, numbers: str) -> str:
    """That no variant stands out. The recommended one may be behind: a policy that was restarted knows less."""
    best = verdict.recommended
    how = f"{best} is ahead of {row.other}{chance}"
    if row.mean == 0:
        how = f"{best} would be kept{chance}, and {row.other} is level with it"
    elif row.mean is not None and row.mean < 0:
        how = f"{best} would be kept{chance}, but {row.other} is ahead of it; {best} less {row.other}"
    return f"No variant stands out yet; {how}: {numbers}."


def tested_claim(verdict: "Verdict", others: Sequence[Name]) -> str:
    """What an exact test of the schedule has called."""
    *most, last = (str(other) for other in others)
    named = f"{', '.join(most)} and {last}" if most else last
    return f"{verdict.recommended} is better than {named}: p = {verdict.p:.2g}, by re-drawing the schedule."


def amounts(row: "Versus", unit: str) -> str:
    """A difference a step with its interval, in percent if there is one, and in the unit if it is told."""
    assert row.mean is not None
    assert row.low is not None
    assert row.high is not None
    plain = [f"{signed(value)}{' ' + unit if unit else ''}" for value in (row.mean, row.low, row.high)]
    if row.percent is None:
        return f"{plain[0]} a step, between {plain[1]} and {plain[2]}"
    mean, low, high = (f"{signed(value)} %" for value in row.percent)
    return f"{mean} a step{f' ({plain[0]})' if unit else ''}, between {low} and {high}"


def remedy(verdict: "Verdict", row: "Versus | None", others: Sequence[Name], reward_max: float) -> str:
    """What would help."""
    if row is None:
        return ""
    if row.mean is None:
        return "" if row.more_steps is None else f"About {rounded(row.more_steps)} more steps would allow a comparison."
    parts = []
    alone = " with these two variants alone" if len(others) > 1 else ""
    if says_nothing(row, reward_max):
        parts.append(f"More steps on {row.other} would tell.")
    elif row.more_steps is not None and row.more_steps > 0:
        parts.append(
            f"About {rounded(row.more_steps)} more steps{alone} would tell, if the difference is as large as it looks."
        )
    elif row.more_steps is None and is_narrow(row):
        parts.append("They are so close that more steps hardly help: keep either.")
    elif row.more_steps is None:
        parts.append("They look alike so far: four times as many steps on both would halve that interval.")
    if verdict.lingers is not None:
        parts.append(
            f"Noise lingers over about {verdict.lingers:,} steps: a profile of usual demand, units or a switchback "
            "would tell sooner."
        )
    return " ".join(parts)


def signed(value: float) -> str:
    """Two or three digits with a sign.

    >>> signed(0.0123), signed(-5.21), signed(99.7), signed(68163.2)
    ('+0.012', '−5.2', '+100', '+68,200')
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:+.1f}"
    digits = max(0, 1 - math.floor(math.log10(abs(value)))) if abs(value) < 100 else 0
    if abs(value) >= 1000:
        value = round(value, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:+,.{min(digits, 6)}f}"
    return text.replace("-", "−")


def percent(share: float) -> str:
    return "over 99 %" if share > 0.99 else f"{100 * share:.0f} %"


def rounded(steps: float) -> str:
    """Two digits are enough."""
    scale = 10 ** max(0, math.floor(math.log10(max(steps, 1))) - 1)
    return f"{math.ceil(steps / scale) * scale:,}"
