"""The fitted regression of `panel-elimination`: effects of arms, and the variance of one unit-slot of weight 1."""

from afterglow.policies.panel.solve import inverse, solve
from afterglow.policies.panel.state import Settings, State

PRIOR_TOLD, PRIOR = 0.05, 0.5  # deviation of a unit's level from what it is divided by


def starting_variance(settings: Settings) -> float:
    """v0: a quarter of the level, in every step anew."""
    return 0.0625 / settings.slot


def degrees(settings: Settings, state: State, columns: int) -> int:
    """Counted unit-slots less what is fitted."""
    return max(0, state.cells - state.slots - settings.units - columns + 2)


def fitted(settings: Settings, state: State) -> tuple[list[float], list[float], float]:
    """Effects of arms, their inverse matrix, and v: the second of two rounds, as the prior is in units of v."""
    prior = PRIOR_TOLD if settings.told > 0 else PRIOR
    start = starting_variance(settings)
    freedom = degrees(settings, state, settings.arms)
    variance = start
    effects, factor, squares = solve(settings, state, settings.arms, variance / (prior * prior))
    variance = (2.0 * start + squares) / (2.0 + freedom)
    effects, factor, squares = solve(settings, state, settings.arms, variance / (prior * prior))
    variance = (2.0 * start + squares) / (2.0 + freedom)
    return effects, inverse(factor, settings.arms, 0), variance
