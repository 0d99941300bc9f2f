"""Parse times: ISO 8601, 31.12.2026 23:00, 12/31/2026 11:00 PM, 31 Dec 2026, 2026-W53, Unix seconds.

Whether 1/2 is in January or February is decided for a whole column: by a number above 12, else by which reading gives
more even steps. Times with an offset, or with `zone` given, are compared as instants, so a change to summer time is no
gap. Without either they are read as written, with a note where it matters.
"""

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, timezone
from functools import lru_cache
from itertools import pairwise
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from afterglow.errors import BadValue, argument

CLOCK = r"(?:[T ,]+(?P<hour>\d{1,2})[:.h](?P<minute>\d{2})?(?:[:.](?P<second>\d{2})(?:[.,](?P<part>\d{1,9}))?)?)?"
HALF = r"(?:\s*(?P<half>[AaPp])\.?[Mm]\.?)?"
PLACE = r"\s*(?P<zone>Z|[A-Za-z]{3,4}|(?:UTC|GMT)?[+-]\d{1,2}:?(?:\d{2})?|[A-Z][A-Za-z]+/[A-Za-z_/]+)?(?:\[[^\]]+\])?"
TAIL = CLOCK + HALF + PLACE
FORMS = tuple(
    re.compile(head + TAIL)
    for head in (
        r"(?P<year>\d{4})[-/.](?P<month>\d{1,2})(?:[-/.](?P<day>\d{1,2}))?",
        r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})",
        r"(?P<first>\d{1,2})[-/.](?P<second_>\d{1,2})[-/.](?P<year>\d{4}|\d{2})",
        r"(?:[A-Za-z]{2,9}\.?,? )?(?P<day>\d{1,2})\.?[ -](?P<name>[A-Za-z]{3,9})\.?[ ,-]+(?P<year>\d{4}|\d{2})",
        r"(?:[A-Za-z]{2,9}\.?,? )?(?P<name>[A-Za-z]{3,9})\.? (?P<day>\d{1,2})(?:st|nd|rd|th)?,? (?P<year>\d{4})",
        r"(?P<year>\d{4})[- ]?[Ww](?P<week>\d{1,2})(?:-?(?P<weekday>[1-7]))?",
    )
)
PLAIN = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?", re.ASCII)  # which Python reads fastest
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
OFFSETS = {
    "Z": 0, "UTC": 0, "GMT": 0, "WET": 0, "WEST": 1, "BST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "MSK": 3,
    "EST": -5, "EDT": -4, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7, "JST": 9, "AEST": 10, "AEDT": 11,
}  # fmt: skip
UNIX = {10: 1, 13: 1_000, 16: 1_000_000, 19: 1_000_000_000}  # digits of a date of our time, and parts of a second


MOST_LOOKED_AT = 10_000  # cells of a column, to find out what it is


def evenly(texts: Sequence[str]) -> Sequence[str]:
    """The texts; of very many some, evenly chosen.

    >>> len(evenly(["1"] * 25_000))
    8334
    """
    return texts[:: 1 + len(texts) // MOST_LOOKED_AT]


@lru_cache(maxsize=1 << 17)  # columns are read more than once
def moment(text: str, day_first: bool = True) -> datetime | None:
    """The time that a text is, None if it is none."""
    text = text.strip()
    if PLAIN.fullmatch(text):
        with suppress(ValueError):  # 24:00, for one, is read below
            return datetime.fromisoformat(text)
    if re.fullmatch(r"\d+", text) and len(text) in UNIX and text[0] in "123":
        return datetime.fromtimestamp(int(text) / UNIX[len(text)], UTC)
    for form in FORMS:
        match = form.fullmatch(text)
        if match:
            try:
                return built({name: part for name, part in match.groupdict().items() if part}, day_first)
            except (ValueError, KeyError, ZoneInfoNotFoundError):
                return None
    return None


def built(parts: dict[str, str], day_first: bool) -> datetime:
    """A time from its named parts; ValueError or KeyError if there is no such time."""
    year = int(parts["year"]) + (2000 if len(parts["year"]) == 2 else 0)
    if "first" in parts:
        day, month = (int(parts[name]) for name in (("first", "second_") if day_first else ("second_", "first")))
    elif "week" in parts:
        monday = date.fromisocalendar(year, int(parts["week"]), int(parts.get("weekday", 1)))
        year, month, day = monday.year, monday.month, monday.day
    else:
        day = int(parts.get("day", 1))
        month = MONTHS.index(parts["name"][:3].lower()) + 1 if "name" in parts else int(parts["month"])
    hour = int(parts.get("hour", 0))
    if "half" in parts:
        if not 1 <= hour <= 12:
            raise ValueError
        hour = hour % 12 + (12 if parts["half"] in "Pp" else 0)
    late = timedelta(days=1) if hour == 24 else timedelta(0)  # 24:00 ends a day
    micro = int(parts.get("part", "0")[:6].ljust(6, "0"))
    minute, second = int(parts.get("minute", 0)), int(parts.get("second", 0))
    place = zone_of(parts["zone"]) if "zone" in parts else None
    return datetime(year, month, day, hour % 24 if hour == 24 else hour, minute, second, micro, place) + late


def zone_of(text: str) -> timezone | ZoneInfo:
    """The zone that an abbreviation, an offset or a name of the zone database means."""
    if text.upper() in OFFSETS:
        return timezone(timedelta(hours=OFFSETS[text.upper()]))
    offset = re.fullmatch(r"(?:UTC|GMT)?([+-])(\d{1,2}):?(\d{2})?", text)
    if offset:
        size = timedelta(hours=int(offset[2]), minutes=int(offset[3] or 0))
        return timezone(size if offset[1] == "+" else -size)
    return ZoneInfo(text)


def day_comes_first(texts: Sequence[str]) -> tuple[bool, str | None]:
    """(whether 1/2 is the first of February, a note if it was a guess) for a column of times."""
    seen = [match for text in texts if (match := FORMS[2].fullmatch(text.strip()))]
    if not seen:
        return True, None
    if any(int(match["first"]) > 12 for match in seen):
        return True, None
    if any(int(match["second_"]) > 12 for match in seen):
        return False, None
    even = {first: evenness([moment(text, first) for text in texts]) for first in (True, False)}
    if even[True] != even[False]:
        return even[True] > even[False], None
    first = "/" not in seen[0][0]
    return first, f"{seen[0][0]!r} is read as {'day, month' if first else 'month, day'}"


def evenness(times: Sequence[datetime | None]) -> int:
    """How many steps are forward and of the most usual length."""
    known = [time.replace(tzinfo=None) for time in times if time is not None]
    lengths = Counter(later - sooner for sooner, later in pairwise(known) if later > sooner)
    return max(lengths.values(), default=0)


def placed(times: Sequence[datetime], zone: str) -> list[datetime]:
    """Times without an offset put into a zone; an hour that comes twice is summer time first."""
    try:
        place = ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise BadValue(f"{argument('zone')} must be a name such as Europe/Berlin, got {zone!r}") from None
    bare = [time for time in times if time.tzinfo is None]
    falling = len(bare) > 1 and bare[0] > bare[-1]  # newest first
    seen: set[datetime] = set()
    found = []
    for time in reversed(times) if falling else times:
        fold = int(time.tzinfo is None and time in seen)
        seen.add(time)
        local = time if time.tzinfo else time.replace(tzinfo=place, fold=fold)
        if time.hour and not exists(local):  # midnight may stand for the day
            raise BadValue(
                f"{argument('zone')} {zone} has no {time:%Y-%m-%d %H:%M}, when its clocks were put forward; give the "
                "zone that these times were written in, or none"
            )
        found.append(local)
    return found[::-1] if falling else found


def exists(time: datetime) -> bool:
    """Whether its zone's clocks ever show it."""
    return time.astimezone(UTC).astimezone(time.tzinfo).replace(tzinfo=None) == time.replace(tzinfo=None)
