"""What `panel-elimination` says of arms: differences with ordinary intervals, and the statistic of the exact test."""

import math

from afterglow.policies.panel.state import Settings, Sums
from afterglow.policies.panel.variance import degrees, fitted
from afterglow.policies.rounds import Compared, PanelDifference
from afterglow.student_t import student_quantile


def compared(settings: Settings, state: Sums) -> Compared:
    """How much better one arm is than another, as a share of a unit's level.

    The counted slots of a run are correlated where rewards of one pull are spread over them. `shown` is the part of
    that noise which a slot shows: the interval is divided by its root, so it is too wide rather than too narrow.
    """
    effects, inverse, variance = fitted(settings, state)
    slot, window = settings.slot, settings.window
    shown = 1 - (window - 1) / (2 * slot) if slot >= window else 0.5
    freedom = max(1, degrees(settings, state, settings.arms))

    def difference(one: int, other: int, confidence: float) -> PanelDifference:
        if state.arm_cells[one] == 0 or state.arm_cells[other] == 0:
            return PanelDifference(math.nan, -math.inf, math.inf)
        spread = between(settings, inverse, one, other)
        half = student_quantile(confidence, freedom) * math.sqrt(variance * spread / shown)
        mean = effects[one] - effects[other]
        return PanelDifference(mean, mean - half, mean + half)

    return difference


def difference(settings: Settings, state: Sums, one: int, other: int, confidence: float) -> PanelDifference:
    return compared(settings, state)(one, other, confidence)


def between(settings: Settings, inverse: list[float], one: int, other: int) -> float:
    """q: the variance of the difference of two arms, over v."""
    arms = settings.arms
    return max(0.0, inverse[one * arms + one] + inverse[other * arms + other] - 2.0 * inverse[one * arms + other])


def statistic(settings: Settings, state: Sums) -> float:
    """The largest difference of two arms in standard errors."""
    effects, inverse, variance = fitted(settings, state)
    largest = 0.0
    for one in range(settings.arms):
        for other in range(one):
            spread = between(settings, inverse, one, other)
            if spread > 0.0:
                largest = max(largest, abs(effects[one] - effects[other]) / math.sqrt(variance * spread))
    return largest
