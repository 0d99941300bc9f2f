"""Dates on the axis of steps, for experiments on a schedule."""

from datetime import UTC, datetime

from afterglow.service.dashboard.charts.axis import axis

HOUR, DAY = 3600.0, 86400.0
SIZES = (
    1.0, 5.0, 15.0, 60.0, 300.0, 900.0, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 28 * DAY,
    84 * DAY, 364 * DAY,
)  # fmt: skip
MOST = 8  # ticks


def date_ticks(begins: float, seconds: float) -> list[tuple[float, str]]:
    """Round times of a chart that begins at a time (seconds since 1970) and covers so many seconds: percent, label.

    >>> date_ticks(1_794_819_600.0, 5 * DAY)
    [(12.5, '17 Nov'), (32.5, '18 Nov'), (52.5, '19 Nov'), (72.5, '20 Nov'), (92.5, '21 Nov')]
    >>> date_ticks(1_794_819_600.0, 0.0)
    []
    """
    if seconds <= 0:
        return []
    size = next((one for one in SIZES if seconds / one <= MOST), SIZES[-1])
    first = begins + -begins % size
    count = int((begins + seconds - first) // size) + 1
    places = [first + number * size for number in range(max(0, count))]
    return [(round(100 * (at - begins) / seconds, 3), label(at, size)) for at in places]


def step_ticks(begins: float, step: int, seconds: float) -> tuple[list[tuple[float, str]], bool]:
    """Ticks of a chart from step 0 to this one, whose steps last so long: dates if they have any, else steps."""
    dates = date_ticks(begins, step * seconds)
    steps = [(round(100 * tick / step, 3), f"{tick:,.0f}") for tick in axis(0, step, 6).ticks if tick == int(tick)]
    return dates or steps, bool(dates)


def label(at: float, size: float) -> str:
    """The day, or the time of day where days are longer than the distance of ticks; in UTC."""
    when = datetime.fromtimestamp(at, UTC)
    day = f"{when.day} {when:%b}"
    if size >= 364 * DAY:
        return f"{day} {when:%Y}"
    return day if size >= DAY or at % DAY == 0 else f"{when:%H:%M}" if size >= 60 else f"{when:%H:%M:%S}"
