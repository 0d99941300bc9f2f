"""Format numbers, durations and times for display."""

import math
from datetime import UTC, datetime

from markupsafe import Markup

UNITS = ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))
ABBREVIATIONS = {"day": "d", "hour": "h", "minute": "min", "second": "s"}


def figure(value: float) -> str:
    """An amount with four significant digits, and at least all whole ones.

    >>> figure(1234567.8), figure(43.218), figure(0.00123456), figure(-0.0), figure(math.nan)
    ('1,234,568', '43.22', '0.001235', '0', '–')
    """
    if math.isnan(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value + 0.0:.4g}"


def aligned(value: float, largest: float) -> str:
    """An amount with as many decimals as suit the largest of its column.

    >>> aligned(0.0022, 8.9), aligned(8.9, 8.9), aligned(841.3, 1200.0), aligned(0.5, 0.9)
    ('0.00', '8.90', '841', '0.500')
    """
    if math.isnan(value):
        return "–"
    return f"{value:,.{max(0, 2 - math.floor(math.log10(largest))) if largest > 0 else 0}f}"


def signed(value: float, largest: float) -> str:
    """A difference with its sign and as many decimals as suit the largest of its column.

    >>> signed(43.2, 74.0), signed(-0.41, 2.5), signed(0.0, 2.5)
    ('+43.2', '−0.41', '0.00')
    """
    text = aligned(abs(value), largest)
    return sign(value) + text if any(digit in "123456789" for digit in text) else text


def sign(value: float) -> str:
    return "+" if value > 0 else "−" if value < 0 else ""


def percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 or share == 0 else "< 1 %"


def counted(number: int, noun: str) -> str:
    """
    >>> counted(1, "step"), counted(2000, "step")
    ('1 step', '2,000 steps')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def duration(seconds: float) -> str:
    """A duration in the largest unit that divides it.

    >>> duration(3600), duration(5400), duration(86400), duration(0.5)
    ('1 hour', '90 minutes', '1 day', '0.5 seconds')
    """
    for size, name in UNITS:
        if seconds >= size and seconds % size == 0:
            return counted(round(seconds / size), name)
    return f"{seconds:g} seconds"


def rounded_duration(seconds: float) -> str:
    """A duration in the largest unit that it reaches, with one decimal.

    >>> rounded_duration(86400), rounded_duration(2000 * 3600), rounded_duration(45)
    ('1 day', '83.3 days', '45 seconds')
    """
    for size, name in UNITS:
        if seconds >= size:
            number = f"{seconds / size:,.1f}".removesuffix(".0")
            return f"{number} {name}" + "s" * (number != "1")
    return f"{seconds:g} seconds"


def remaining(seconds: float) -> str:
    """The remaining time, in its two largest units.

    >>> remaining(5), remaining(95), remaining(3 * 3600 + 120), remaining(200_000), remaining(-3)
    ('in 5 s', 'in 1 min 35 s', 'in 3 h 2 min', 'in 2 d 7 h', 'now')
    """
    whole, parts = max(0, math.ceil(seconds)), list[str]()
    for size, name in UNITS:
        if whole >= size and len(parts) < 2:
            parts.append(f"{whole // size} {ABBREVIATIONS[name]}")
        whole %= size
    return f"in {' '.join(parts)}" if parts else "now"


def moment(seconds: float, shape: str = "both") -> Markup:
    """A time element in UTC; JavaScript converts it to the reader's time zone.

    >>> print(moment(1_800_000_000.0, "time").striptags(), moment(1_800_000_005.0, "time").striptags())
    08:00 UTC 08:00:05 UTC
    """
    when = datetime.fromtimestamp(seconds, UTC)
    day, clock = f"{when.day} {when:%b %Y}", f"{when:%H:%M:%S} UTC"
    alone = f"{when:%H:%M} UTC" if seconds % 60 == 0 else clock
    text = {"time": alone, "day": day}.get(shape, f"{day}, {clock}")
    return Markup('<time datetime="{}" data-shape="{}">{}</time>').format(
        when.isoformat(timespec="milliseconds").replace("+00:00", "Z"), shape, text
    )


def until(seconds: float, now: float) -> Markup:
    """The remaining time; JavaScript counts it down."""
    return Markup('<span class="left" data-until="{}">{}</span>').format(f"{seconds:.3f}", remaining(seconds - now))
