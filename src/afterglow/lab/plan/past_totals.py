"""The history of a plan: read, estimated, and described with its outliers."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import cast

from afterglow.checks import choice, is_number, whole
from afterglow.errors import BadFormat, BadValue, Sentence, argument
from afterglow.lab.history.estimate import History, estimate
from afterglow.lab.history.forecast import less_expected
from afterglow.lab.plan.scenario import Forecast
from afterglow.lab.reading.frames import Columns, Frame, Rows, is_table
from afterglow.lab.reading.tables import Totals, read_totals
from afterglow.lab.rendering.durations import MONTH, lasting
from afterglow.lab.rendering.rounding import amount

READING = ("step", "column", "decimal", "zone", "missing", "expected")  # how to read a file
Past = str | Path | Frame | Columns | Rows | Totals | Sequence[float]
SHARED = 0.8  # maximum share of steps with several rows
WORTHWHILE = 0.1  # share of the noise below which expected totals are left out
WORTH = 0.7  # a longer cycle is mentioned if it leaves at most this share of the noise
NAMED = 3  # stretches of outliers that are listed
NEAR = 6  # maximum distance of outliers in one stretch, in steps


@dataclass(frozen=True)
class HistorySummary:
    """Estimates from a history and a description of it."""

    history: History
    calm: History | None  # the same without outliers; None if there are none
    read: str  # what was read
    apart: list[str]  # when outliers occur, the longest stretches first
    step_seconds: float | None
    notes: list[str]
    forecast: Forecast | None = None  # taken out of the totals before they were estimated
    begins: float | None = None  # when the step after the history begins


def source_of(history: Past | None, reading: Mapping[str, str] | None) -> dict[str, str] | None:
    """The file of a history and how to read it; None without a file."""
    for name in reading or {}:
        choice("reading", name, READING)
    text = isinstance(history, str) and "\n" in history
    if isinstance(history, str | Path) and not text:
        return {"file": str(history), **(reading or {})}
    if reading and not text and not is_table(history):
        options = ", ".join(argument(name) for name in reading)
        given = argument("history")
        raise BadValue(f"{options} says how to read a history, and there is no file of one; give {given}")
    return None


def summarised_history(past: Past, season: int | None, window: int, reading: Mapping[str, str]) -> HistorySummary:
    """Estimates from totals or a file of them."""
    table = totals_of(past, reading)
    refuse_rows_of_other_steps(table)
    seconds = seconds_of(table.step)
    window = whole("window", window, 1)
    history = estimate(table.values, season, window, seconds)
    values, forecast, told = table.values, None, list[str]()
    if table.expected is not None:
        history, values, forecast = with_forecast(table, history, season, window, seconds, reading["expected"], told)
    if not history.level > 0:
        raise BadValue(
            f"a history must have totals above 0 on average, got {history.level:g}; shift or choose another unit",
            field="history",
        )
    calm = without(values, history, window, seconds)
    notes = [*table.notes, *told, *negative(table.values), *remarks(history), *longer_cycle(values, history, window)]
    return HistorySummary(
        history, calm, description_of(table, seconds), stretches(history.apart, table.times), seconds, notes, forecast,
        time_after(table),
    )  # fmt: skip


def totals_of(past: Past, reading: Mapping[str, str]) -> Totals:
    """A history as it was given: a file, a data frame, columns, rows, totals that are read, or plain numbers."""
    if isinstance(past, Totals):
        return past
    if isinstance(past, str | Path) or is_table(past):
        return read_totals(past, **reading)
    return Totals(plain_numbers(cast("Sequence[float | None]", past)), None, None, [])


def plain_numbers(past: Sequence[float | None]) -> list[float]:
    """Numbers of a list; None and nan stand for a total that is missing."""
    values = [math.nan if value is None else value for value in past]
    for place, value in enumerate(values):
        if not is_number(value) and value == value:
            raise BadValue(
                f"{argument('history')} must have finite numbers, or nan where a total is missing, got {value!r} at "
                f"place {place:,}"
            )
    return values


def with_forecast(
    table: Totals, plain: History, season: int | None, window: int, seconds: float | None, column: str,
    notes: list[str],
) -> tuple[History, list[float], Forecast | None]:  # fmt: skip
    """The history less what was expected, if that explains enough of the noise of a pull."""
    assert table.expected is not None
    values, typical, trust = less_expected(table.values, table.expected, window)
    left = estimate(values, season, window, seconds)
    explained = 1 - (left.pull.value / plain.pull.value) ** 2 if plain.pull.value > 0 else 0.0
    if explained < WORTHWHILE:
        notes.append(
            f"expected: column {column!r} explains {max(0.0, explained):.0%} of the noise of a pull, which is not "
            "worth it; the plan leaves it out"
        )
        return plain, table.values, None
    notes.append(
        f"expected: column {column!r} explains {explained:.0%} of the noise of a pull; trust {trust:g}. It must not "
        "depend on the variants"
    )
    return replace(left, largest=plain.largest), values, Forecast(column, typical, trust, explained)


def refuse_rows_of_other_steps(table: Totals) -> None:
    """Refuse a file with several rows for nearly every step: its steps are shorter than its times show."""
    if table.added > SHARED * len(table.values):
        raise BadFormat(
            f"a history needs one row for each step, and {table.added:,} of {len(table.values):,} steps "
            f"({span(table)}) have several; give each row its own time, such as a column with the hour, or add rows "
            "up before",
            kind="several-rows-per-step",
            field="history",
        )


def seconds_of(step: timedelta | str | None) -> float | None:
    """Seconds of a step, if the history has times."""
    if isinstance(step, timedelta):
        return step.total_seconds() or None
    return None if step is None else MONTH * (int(step.split()[0]) if " " in step else 1)


def time_after(table: Totals) -> float | None:
    """When the step after the last one begins, in seconds since 1970; times without a zone are taken as UTC."""
    if table.times is None or not isinstance(table.step, timedelta):
        return None
    try:
        end = table.times[-1] + table.step
    except OverflowError:
        when = f"{table.times[-1]:%Y-%m-%d}"
        sentence = f"the step after the last one of a history, {when}, must be before the year 10000; correct its times"
        raise BadValue(sentence, kind="bad-times", field="history") from None
    return (end if end.tzinfo else end.replace(tzinfo=UTC)).timestamp()


def without(values: Sequence[float], history: History, window: int, seconds: float | None) -> History | None:
    """The history without its outliers; None if there are none."""
    if not history.apart:
        return None
    apart = set(history.apart)
    kept = [float("nan") if place in apart else value for place, value in enumerate(values)]
    try:
        return estimate(kept, history.season, window, seconds)
    except BadValue:
        return None  # too little is left


def description_of(table: Totals, seconds: float | None) -> str:
    """Number of totals, length of a step, column and period of a history."""
    known = len(table.values) - len(table.gaps)
    words = f"{known:,} total{'' if known == 1 else 's'}"
    words += f" of {lasting(1, seconds)}" if seconds else ""
    if table.column:
        words += f" from column {table.column!r}"
        words += f" (not {' or '.join(repr(name) for name in table.others)})" if table.others else ""
    words += f", {span(table)}" if table.times else ""
    return words + (f", {len(table.gaps):,} missing" if table.gaps else "")


def span(table: Totals) -> str:
    return f"{when(table.times[0])} to {when(table.times[-1])}" if table.times else "without times"


def when(time: datetime, year: bool = True) -> str:
    """A date, with its time unless that is midnight."""
    clock = f" {time:%H:%M}" if (time.hour, time.minute) != (0, 0) else ""
    return f"{time.day} {time:%b}{f' {time.year}' if year else ''}{clock}"


def stretches(places: Sequence[int], times: Sequence[datetime] | None) -> list[str]:
    """Outliers as text, joined into stretches where they are close."""
    runs: list[list[int]] = [[places[0]]] if places else []
    for before, place in pairwise(places):
        if place - before > NEAR:
            runs.append([])
        runs[-1].append(place)
    longest = sorted(runs, key=lambda run: (-len(run), run[0]))
    words = []
    for run in longest[:NAMED]:
        first, last = (when(times[place]) if times else f"step {place:,}" for place in (run[0], run[-1]))
        words.append(first if len(run) == 1 else f"{first} to {last}")
    more = len(runs) - len(words)
    return [*words, f"{more:,} more"] if more else words


def negative(values: Sequence[float]) -> list[str]:
    """A note on totals that an experiment would refuse."""
    found = [value for value in values if value < 0]
    if not found:
        return []
    many = f"{len(found):,} total{' is' if len(found) == 1 else 's are'} negative, the least is {amount(min(found))}"
    return [f"{many}; agents and experiments refuse such totals: shift all of them so that the least is 0"]


def remarks(history: History) -> list[str]:
    """Notes on the estimates."""
    notes: list[str] = []
    if history.empty:
        notes.append(
            Sentence(
                f"{history.empty:,} of {history.season:,} phases of the cycle have no total at all and are taken to be "
                f"like the mean of the others; if nothing comes in then, give {argument('missing', 'zero')}"
            )
        )
    if abs(history.trend) > 0.1 * history.level:
        notes.append(
            f"the history has a trend of {history.trend / history.level:+.0%} from end to end, which was removed: an "
            "experiment can mistake drift for the effect of an arm"
        )
    return notes


def longer_cycle(values: Sequence[float], history: History, window: int) -> list[str]:
    """A note on a longer cycle that is likely but not certain, if it matters."""
    if history.maybe == 1:
        return []
    noise = estimate(values, history.maybe, window).pull_noise
    if noise > WORTH * history.pull_noise:
        return []
    return [
        Sentence(
            f"a cycle of {history.maybe:,} steps would lower the noise of one pull from {amount(history.pull_noise)} "
            f"to {amount(noise)}, and the history is too short to be sure of it; try "
            f"{argument('season', history.maybe)}"
        )
    ]
