"""Logarithmic axes: ticks at any range and in any width, and marks for values that are not on the axis."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from matplotlib import rcParams
from matplotlib.font_manager import FontProperties
from matplotlib.ticker import FuncFormatter, Locator, LogLocator, MaxNLocator, NullFormatter, NullLocator

from afterglow.lab.rendering.style import short

SUBS = ((1.0, 2.0, 5.0), (1.0, 3.0), (1.0,))  # of each power of ten, the densest first
MINOR_DECADES = 8
ACROSS, UP = 3.2, 1.7  # room that a number takes, in letters' heights
MOST_PLACES = 8  # ticks at values of the study, if they are so few
LEAST_TICKS = 2


class LogTicks(Locator):
    """Ticks at the given places, or at 1, 2 and 5 or 1 and 3 or 1 times powers of ten: as many as have room."""

    def __init__(self, places: Sequence[float] = (), sideways: bool = True, letters: float = 8.5) -> None:
        self.places, self.sideways = sorted(places), sideways
        self.needed = letters * (ACROSS if sideways else UP)  # points between two ticks that their numbers take

    def __call__(self) -> Any:
        assert self.axis is not None
        return self.tick_values(*sorted(self.axis.get_view_interval()))

    def tick_values(self, vmin: float, vmax: float) -> Any:
        if not 0 < vmin < vmax < math.inf:
            return []
        room = self.room() / math.log(vmax / vmin)  # points for a factor of e
        for ticks in self.choices(vmin, vmax):
            gaps = [math.log(high / low) for low, high in pairwise(ticks)]
            if len(ticks) >= LEAST_TICKS and min(gaps) * room >= self.needed:
                return ticks
        between = math.log10(vmax / vmin) < 1
        return MaxNLocator("auto", steps=[1, 2, 5, 10]).tick_values(vmin, vmax) if between else decades(vmin, vmax)

    def choices(self, vmin: float, vmax: float) -> list[list[float]]:
        """The lists of ticks to choose from, the best first."""
        span = range(math.floor(math.log10(vmin)), math.ceil(math.log10(vmax)) + 1)
        rounds = [[sub * 10.0**power for power in span for sub in subs] for subs in SUBS]
        own = [self.places] if LEAST_TICKS <= len(self.places) <= MOST_PLACES else []
        edge = 1e-9
        return own + [[tick for tick in one if vmin * (1 - edge) <= tick <= vmax * (1 + edge)] for one in rounds]

    def room(self) -> float:
        """The length of the axis in points, as it is laid out now."""
        axes: Any = getattr(self.axis, "axes")  # noqa: B009
        box = axes.get_window_extent()
        return float((box.width if self.sideways else box.height) * 72 / axes.figure.dpi)


def decades(vmin: float, vmax: float) -> Any:
    """Powers of ten, not all of them where there are many."""
    return LogLocator(10, subs=(1.0,)).tick_values(vmin, vmax)


def log_ticks(*all_axes: Any, places: Sequence[float] = ()) -> None:
    """Short numbers at the places if they are few, else at round numbers, as many as have room."""
    for axis in all_axes:
        low, high = sorted(axis.get_view_interval())
        letters = FontProperties(
            size=rcParams["xtick.labelsize" if axis.axis_name == "x" else "ytick.labelsize"]
        ).get_size_in_points()
        axis.set_major_locator(LogTicks(places, axis.axis_name == "x", letters))
        few = not places and low > 0 and math.log10(high / low) < MINOR_DECADES
        axis.set_minor_locator(LogLocator(10, subs=range(2, 10)) if few else NullLocator())
        axis.set_major_formatter(FuncFormatter(short))
        axis.set_minor_formatter(NullFormatter())


def below(axes: Any, at: float, colour: str, sideways: bool = False) -> None:
    """A triangle at the lower end of a logarithmic axis: a mean of 0, which is not on it."""
    place, mark = ((0.0, at), "<") if sideways else ((at, 0.0), "v")
    transform = axes.get_yaxis_transform() if sideways else axes.get_xaxis_transform()
    axes.plot(
        *place, marker=mark, color=colour, markersize=5, transform=transform, clip_on=False, zorder=4, gid="below"
    )
