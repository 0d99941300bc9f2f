"""Guess the roles of columns whose names don't show them, by content or position."""

import re
from collections.abc import Sequence

from afterglow.errors import BadFormat, argument
from afterglow.lab.reading.clock import clock
from afterglow.lab.reading.columns import ARGUMENTS, NAMES, Table, column, counts_up, mostly_times, words
from afterglow.lab.reading.numbers import apart, is_missing
from afterglow.lab.reading.text import DIGITS
from afterglow.lab.reading.times import evenly, moment

DATELIKE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d*|\d{1,2}:\d{2}|\d{1,2}\.? [A-Za-z]{3,9}")
UNCLEAR = "unclear-column"  # kind of error
MOST_NUMBERED = 20  # arms with numbers as names, in a column that isn't called like arms
OBVIOUS = frozenset(("total", "totals", "value", "values", "amount", "sum", "reward", "rewards", "summe", "betrag"))


def guess_totals(found: Table) -> None:
    """Times and totals; the total must be there."""
    places = found.places
    if "time" in places and not found.is_time("time"):
        if any(moment(cell) for cell in found.cells("time")) or not all_whole(found.cells("time")):
            row = next(n for n, cell in enumerate(found.cells("time")) if moment(cell) is None)
            raise found.refuse(row, "time", "is no time")
        places["step"] = places.pop("time")
    if "step" in places and not all_whole(found.cells("step")):
        del places["step"]
    if "time" not in places:
        timed = times_of(found)
        places |= {"time": timed[0]} if timed else {}
    finest_times(found, "time")
    if "time" in places:
        places.pop("step", None)
    if "total" not in places:
        free = [n for n in found.free if mostly_numbers(column(found, n))]
        if len(free) == 2 and not places and all_whole(column(found, free[0])) and counts_up(column(found, free[0])):
            places["step"] = free.pop(0)
        if len(free) != 1:
            raise unclear(found, "total", free)
        places["total"] = free[0]
    refuse_rivals(found)


def guess_steps(found: Table, roles: Sequence[str]) -> None:
    """Step, arm and total; the last two must be there."""
    places = found.places
    called = "arm" in places
    if "step" in places and not found.is_time("step") and not all_whole(found.cells("step")) and times_of(found):
        del places["step"]  # such as names of weekdays beside times
    finest_times(found, "step")
    if "step" in places and all(map(clock, found.cells("step"))) and not all_whole(found.cells("step")):
        raise found.refuse(
            0, "step", "is a time of day without its date; put the date before it, or into another column"
        )
    if not places and len(found.free) in (2, 3):
        places |= dict(zip(roles[-len(found.free) :], found.free, strict=True))
    if "step" not in places:
        guess_step(found)
    for role, other in (("arm", "total"), ("total", "arm")):
        if other in places and role not in places and len(found.free) == 1:
            places[role] = found.free[0]
    if "arm" in places and not called and is_measured(found.cells("arm")):
        del places["arm"]
    for role in ("arm", "total"):
        if role not in places:
            raise unclear(found, role, [n for n in found.free if mostly_numbers(column(found, n))])
    refuse_rivals(found)


def is_measured(texts: Sequence[str]) -> bool:
    """Whether texts are numbers of many sizes, such as counts of orders, which aren't names of arms."""
    return mostly_numbers(texts) and len(set(texts)) > MOST_NUMBERED


def refuse_rivals(found: Table) -> None:
    """Refuse to choose between columns of numbers, such as money and counts, unless one is plainly called the total."""
    if "total" in found.named:
        return
    chosen = found.places["total"]
    rivals = [n for n in found.free if mostly_numbers(column(found, n)) and not counts_rows(found, n)]
    if rivals and (not obvious(found, chosen) or any(obvious(found, n) for n in rivals)):
        raise unclear(found, "total", sorted([chosen, *rivals]))


def obvious(found: Table, place: int) -> bool:
    """Whether the whole name of a column says that it is the total."""
    return words(found.header[place])[0] in OBVIOUS


def counts_rows(found: Table, place: int) -> bool:
    """Whether a column numbers rows or times: it is called so, or has whole numbers that differ and are close."""
    return words(found.header[place])[0] in NAMES["step"].split() or numbers_rows(column(found, place))


def guess_step(found: Table) -> None:
    """The only column of times, else the only one left that counts the rows; refuse ambiguous ones."""
    timed = times_of(found)
    if len(timed) > 1:
        several = ", ".join(found.header[n] for n in timed)
        raise BadFormat(
            f"{found.grid.name} has several columns of times ({several}); {way_out('step', found.header[timed[0]])}",
            kind=UNCLEAR,
            field="step",
        )
    if timed:
        found.places["step"] = timed[0]
        return
    for place in found.free:
        odd = [cell for cell in column(found, place) if is_datelike(cell)]
        if 2 * len(odd) > len(found.grid.rows):
            raise BadFormat(
                f"{found.grid.name} has no column for the step, and {found.header[place]!r} has times that can't be "
                f"read, such as {odd[0]!r}; write them as 2026-02-23 13:00, or name the step's column with "
                f"{argument('step')}",
                kind=UNCLEAR,
                field="step",
            )
    if {"arm", "total"} <= set(found.places) and len(found.free) == 1 and numbers_rows(column(found, found.free[0])):
        found.places["step"] = found.free[0]


def is_datelike(text: str) -> bool:
    """Whether a text has a date or a time in it and is no number."""
    return apart(text) is None and DATELIKE.search(text) is not None


def numbers_rows(texts: Sequence[str]) -> bool:
    """Whether texts are whole numbers, no two the same, close to each other."""
    if not all_whole(texts):
        return False
    numbers = {int(text) for text in texts}
    return len(numbers) == len(texts) and max(numbers) - min(numbers) < 2 * len(texts)


def unclear(found: Table, role: str, free: Sequence[int]) -> BadFormat:
    """The error for a column that can't be determined."""
    listed = ", ".join(repr(name) for name in found.header)
    if role == "total" and len(free) > 1:
        could = ", ".join(found.header[n] for n in free)
        several = f"{found.grid.name} has several columns that could be the total ({could})"
        return BadFormat(f"{several}; {way_out(role, found.header[free[0]])}", kind=UNCLEAR, field=ARGUMENTS[role])
    return BadFormat(
        f"{found.grid.name} has no column for the {role}; it has {listed}; call one of them {role!r}, or "
        f"{way_out(role, found.header[0])}",
        kind=UNCLEAR,
        field=ARGUMENTS[role],
    )


def way_out(role: str, name: str) -> str:
    """How to name a column."""
    return f"name it, such as {argument(ARGUMENTS[role], name)}"


def finest_times(found: Table, role: str) -> None:
    """Of several columns of times, of which none was named, take the one that tells most rows apart."""
    if role in found.places and role not in found.named and found.is_time(role):
        sorts = {place: len(set(column(found, place))) for place in [found.places[role], *times_of(found)]}
        found.places[role] = max(sorts, key=lambda place: sorts[place])


def times_of(found: Table) -> list[int]:
    """The columns of times that have no role yet."""
    return [n for n in found.free if mostly_times(column(found, n))]


def all_whole(texts: Sequence[str]) -> bool:
    return all(DIGITS.fullmatch(text) for text in texts)


def mostly_numbers(texts: Sequence[str]) -> bool:
    texts = evenly(texts)
    numbers = sum(apart(text) is not None for text in texts)
    return 2 * numbers > sum(not is_missing(text) for text in texts) and numbers > 0
