"""Proved bounds on the means of arms from recorded steps, valid for any spread within the window if an arm's
expected reward, given all that happened before, is its mean."""

import math

import numpy as np

from afterglow.checks import ROUNDING, number
from afterglow.errors import Sentence, argument
from afterglow.estimation import estimates
from afterglow.estimation.bounds_with_gaps import BoundsWithGaps
from afterglow.lab.fit.recorded import Recorded


def most_of_a_pull(recorded: Recorded, reward_max: float | None, notes: list[str]) -> float:
    """The maximum reward of a pull; by default the largest total, with a note."""
    if reward_max is not None:
        return number("reward_max", reward_max, above=0.0)
    largest = float(np.nanmax(recorded.total))
    if largest <= 0:
        return 1.0
    if recorded.season == 1:
        notes.append(
            Sentence(
                f"{argument('reward_max')}, the maximum reward of one pull, is not given; {largest:,.4g}, the "
                "largest total, is used, and the proved bounds depend on it"
            )
        )
    return largest


def proved(
    recorded: Recorded, window: int, reward_max: float, confidence: float, notes: list[str]
) -> tuple[str | None, list[tuple[float, float] | None]]:
    """(contradiction, bounds on the means) by bounds that allow for what may have come in unseen."""
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
    for arm, total in zip(recorded.arm.tolist(), totals.tolist(), strict=True):
        if arm < 0:
            starts += bounds_.current >= 0
            bounds_.interrupt()
        elif math.isnan(total):
            bounds_.lose(arm)
        else:
            bounds_.record(arm, total)
    found = estimates.read(bounds_, recorded.names, window, reward_max, confidence, starts)
    return found.alarm, [None if one.contradiction else (one.low, one.high) for one in found]
