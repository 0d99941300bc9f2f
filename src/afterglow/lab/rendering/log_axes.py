"""Logarithmic axes: ticks at any range, and marks for values that are not on the axis."""

import math
from typing import Any

from matplotlib.ticker import AutoLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from afterglow.lab.rendering.style import short

FEW_DECADES, MANY_DECADES = 0.5, 1.6


def log_ticks(*all_axes: Any) -> None:
    """Short numbers at powers of ten, at 1, 2 and 5 within few decades, at round steps within less."""
    for axis in all_axes:
        low, high = sorted(axis.get_view_interval())
        decades = math.log10(high / low) if low > 0 else math.inf
        if decades < FEW_DECADES:
            axis.set_major_locator(AutoLocator())
            axis.set_minor_locator(NullLocator())
        else:
            axis.set_major_locator(LogLocator(10, subs=(1.0, 2.0, 5.0) if decades < MANY_DECADES else (1.0,)))
            axis.set_minor_locator(LogLocator(10, subs=range(2, 10)) if decades < 8 else NullLocator())
        axis.set_major_formatter(FuncFormatter(short))
        axis.set_minor_formatter(NullFormatter())


def below(axes: Any, at: float, colour: str, sideways: bool = False) -> None:
    """A triangle at the lower end of a logarithmic axis: a mean of 0, which is not on it."""
    place, mark = ((0.0, at), "<") if sideways else ((at, 0.0), "v")
    transform = axes.get_yaxis_transform() if sideways else axes.get_xaxis_transform()
    axes.plot(
        *place, marker=mark, color=colour, markersize=5, transform=transform, clip_on=False, zorder=4, gid="below"
    )
