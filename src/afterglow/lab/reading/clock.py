"""Join a date in one column and its time of day in another: 23.02.2026 and 13:00, or 2026-02-23 and hour 13.

They are joined where dates repeat and the second column distinguishes their rows, or where the steps stay as even, so
daily totals recorded at 12:01, 12:03, … stay daily. A time of day may be 13:00, 13:00:00, 13h, 1 PM, 13:00-14:00 (its
start) or a whole hour from 0 to 24; whole hours need a column that is called so.
"""

import re
from collections.abc import Collection, Sequence

from afterglow.lab.reading.text import CellGrid
from afterglow.lab.reading.times import day_comes_first, evenly, evenness, moment

NAMES = {
    "time", "clock", "hour", "hours", "hr", "h", "uhrzeit", "uhr", "zeit", "stunde", "stunden", "std", "heure", "hora",
}  # fmt: skip
TIME = r"(?P<hour>\d{1,2})(?:[:.h](?P<minute>\d{2}))?(?::(?P<second>\d{2})(?:[.,]\d+)?)?"
CLOCK = re.compile(rf"{TIME}\s*(?:h|uhr)?\s*(?:(?P<half>[ap])\.?m\.?)?", re.IGNORECASE)
RANGE = re.compile(r"\s*(?:-|–|to|bis)\s*(?=\d)")
MIDNIGHT = re.compile(r"[T ]+0?0:00(?::00(?:\.0+)?)?$")
DAY = re.compile(r".*\d.*\d.*")


def join_clock(found: CellGrid, header: Sequence[str], taken: Collection[int]) -> tuple[int, int] | None:
    """Write the time of day into the cells of the date; (place of the date, place of the time), None if not so."""
    if not found.rows:
        return None
    free = [place for place in range(len(found.rows[0])) if place not in taken]
    for date in free:
        texts = [row[date] for row in found.rows]
        some = [day_of(text) for text in evenly(texts)]
        if 2 * sum(day is not None for day in some) <= len(some):
            continue
        days = [day_of(text) for text in texts]
        if 2 * sum(day is not None for day in days) <= len(days):
            continue
        dates = [day or text for day, text in zip(days, texts, strict=True)]
        for place in by_likeness(header, free):
            if place != date and is_clock(found, place, bool(header)):
                return written(found, header, date, place, dates)
        refuse_odd_clock(found, header, date, taken)
    return None


def written(
    found: CellGrid, header: Sequence[str], date: int, place: int, dates: Sequence[str]
) -> tuple[int, int] | None:
    """Join the columns where that tells rows apart, or keeps the steps at least as even."""
    joined = [f"{day} {clock(row[place])}" for day, row in zip(dates, found.rows, strict=True)]
    if len(set(dates)) < len(dates):
        better = len(set(joined)) > len(set(dates))
    else:
        first, _ = day_comes_first(dates)
        better = evenness([moment(text, first) for text in joined]) >= evenness([moment(day, first) for day in dates])
    if better:
        for row, text in zip(found.rows, joined, strict=True):
            row[date] = text
        called = [header[one] if header else str(one + 1) for one in (date, place)]
        found.notes.append(f"columns {called[0]!r} and {called[1]!r} are read together, as date and time")
    return date, place


def day_of(text: str) -> str | None:
    """The date that a cell is, without the midnight that spreadsheets add; None if it is none or has a time."""
    bare = MIDNIGHT.sub("", text.strip())
    found = moment(bare) or moment(bare, day_first=False)
    whole = found is not None and found.tzinfo is None and found.timetz().isoformat() == "00:00:00"
    return bare if whole and DAY.fullmatch(bare) and ":" not in bare else None


def by_likeness(header: Sequence[str], free: Sequence[int]) -> list[int]:
    """The columns that are called like a time of day, the plainest name first; all if none has a name."""
    if not header:
        return list(free)
    ranked = [(plain, place) for place in free if (plain := likeness(header[place])) is not None]
    return [place for _, place in sorted(ranked)]


def likeness(name: str) -> int | None:
    """0 if a column is called like a time of day, 1 if a word of its name is so."""
    parts = re.split(r"[\s_\-./()\[\]]+", name.strip().lower())
    return 0 if "".join(parts) in NAMES else 1 if NAMES & set(parts) else None


def is_clock(found: CellGrid, place: int, named: bool) -> bool:
    """Whether a column has nothing but times of day; whole hours are some only where the column is called so."""
    cells = [row[place] for row in found.rows]
    return all(map(clock, cells)) and (named or not all(cell.isdigit() for cell in cells))


def clock(text: str) -> str | None:
    """A time of day as 13:00:00, None if it is none."""
    start, *end = RANGE.split(text.strip().lower(), maxsplit=1)
    match = CLOCK.fullmatch(start)
    if match is None or (end and not CLOCK.fullmatch(end[0])):
        return None
    hour, minute, second = (int(match[part] or 0) for part in ("hour", "minute", "second"))
    if match["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if match["half"] == "p" else 0)
    if hour > 24 or minute > 59 or second > 59 or (hour == 24 and minute + second):
        return None
    return f"{hour:02}:{minute:02}:{second:02}"


def refuse_odd_clock(found: CellGrid, header: Sequence[str], date: int, taken: Collection[int]) -> None:
    """Refuse a time of day that can't be read beside dates that repeat, unless times are in another column."""
    days = [row[date] for row in found.rows]
    others = [[row[place] for row in found.rows] for place in range(len(header)) if place != date]
    if len(set(days)) == len(days) or any(all(map(moment, cells)) for cells in others):
        return
    for place, name in enumerate(header):
        if place in taken or place == date or likeness(name) != 0:
            continue
        odd = next(row for row, cells in enumerate(found.rows) if clock(cells[place]) is None)
        why = f"is no time of day, and {header[date]!r} has dates more than once; write both into one column, such as "
        raise found.refuse(odd, name, found.rows[odd][place], f"{why}2026-02-23 13:00, or call this one otherwise")
