"""Proved bounds on the means of arms from recorded steps, valid for any spread within the window if an arm's
expected reward, given all that happened before, is its mean."""

import math
from itertools import groupby

import numpy as np

from afterglow.checks import ROUNDING, number
from afterglow.errors import Sentence, argument
from afterglow.estimation import estimates
from afterglow.estimation.bounds_with_gaps import BoundsWithGaps
from afterglow.lab.fit.recorded import Recorded


def most_of_a_pull(recorded: Recorded, window: int, reward_max: float | None) -> float:
    """The maximum reward of a pull; by default the largest sum of a window of totals, which no pull can exceed.

    That is so if nothing comes in that no arm causes, and all that a pull has paid is in the table.
    """
    if reward_max is not None:
        return number("reward_max", reward_max, above=0.0)
    sums = np.convolve(np.nan_to_num(recorded.total), np.ones(min(window, len(recorded))))
    return max(float(sums.max()), 0.0) or 1.0


def proved(
    recorded: Recorded, window: int | None, reward_max: float | None, confidence: float, notes: list[str]
) -> tuple[str | None, list[tuple[float, float] | None]]:
    """(contradiction, bounds on the means) by bounds that allow for what may have come in unseen; None if not given."""
    if window is None or reward_max is None:
        both = f"{argument('window')} and {argument('reward_max')}"
        notes.append(Sentence(f"no proved bounds: they hold only if {both} are right; give both"))
        return None, [None] * len(recorded.names)
    if recorded.season > 1:
        notes.append("no proved bounds: they need means that don't change, and there is a season")
        return None, [None] * len(recorded.names)
    totals = recorded.total / reward_max
    least, most = float(np.nanmin(totals)), float(np.nanmax(totals))
    if least < 0 or most > window * (1 + ROUNDING):
        notes.append(
            f"totals from {least * reward_max:,.4g} to {most * reward_max:,.4g} are not within 0 and "
            f"window x reward_max = {window * reward_max:,.4g}; no proved bounds"
        )
        return None, [None] * len(recorded.names)
    bounds_, starts = BoundsWithGaps(len(recorded.names), window, confidence), 1
    steps = zip(recorded.arm.tolist(), totals.tolist(), strict=True)
    for (arm, lost), stretch in groupby(steps, key=lambda step: (step[0], math.isnan(step[1]))):
        seen = [total for _, total in stretch]
        if arm < 0:
            starts += bounds_.current >= 0
            bounds_.interrupt()
        elif lost:
            for _ in seen:
                bounds_.lose(arm)
        else:
            bounds_.record_all(arm, seen)
    found = estimates.read(bounds_, recorded.names, window, reward_max, confidence, starts)
    return found.alarm, [None if one.contradiction else (one.low, one.high) for one in found]
