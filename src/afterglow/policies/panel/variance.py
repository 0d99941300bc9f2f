"""The fitted regression of `panel-elimination`: effects of arms, and the variance of one unit-slot of weight 1."""

from afterglow.policies.panel.solve import Solved, inverse, solve, solve_wholly
from afterglow.policies.panel.state import Settings, Sums

PRIOR_TOLD, PRIOR = 0.05, 0.5  # deviation of a unit's level from what it is divided by


def starting_variance(settings: Settings) -> float:
    """v0: a quarter of the level, in every step anew."""
    return 0.0625 / settings.slot


def degrees(settings: Settings, state: Sums, columns: int) -> int:
    """Counted unit-slots less what is fitted."""
    return max(0, state.cells - state.slots - settings.units - columns + 2)


def fitted(settings: Settings, state: Sums) -> tuple[list[float], list[float], float]:
    """Effects of arms, their inverse matrix, and v: the second of two rounds, as the prior is in units of v."""
    solved, variance = fitted_wholly(settings, state)
    return solved[0], inverse(solved[1], settings.arms, 0), variance


def fitted_wholly(settings: Settings, state: Sums) -> tuple[Solved, float]:
    """All that the second round has solved, and v."""
    prior = PRIOR_TOLD if settings.told > 0 else PRIOR
    start = starting_variance(settings)
    freedom = degrees(settings, state, settings.arms)
    _, _, squares = solve(settings, state, settings.arms, start / (prior * prior))
    variance = (2.0 * start + squares) / (2.0 + freedom)
    solved = solve_wholly(settings, state, settings.arms, variance / (prior * prior))
    return solved, (2.0 * start + solved[2]) / (2.0 + freedom)
