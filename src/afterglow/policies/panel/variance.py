"""The fitted regression of `panel-elimination`: effects of arms, and the variance of one unit-slot of weight 1."""

from afterglow.policies.panel.solve import Solved, inverse, solve, solve_wholly
from afterglow.policies.panel.state import Settings, Sums, starting_variance

PRIOR_TOLD, PRIOR = 0.05, 0.5  # deviation of a unit's level from what it is divided by


def degrees(settings: Settings, state: Sums, columns: int) -> int:
    """Counted unit-slots less what is fitted."""
    return max(0, state.cells - state.slots - settings.units - columns + 2)


def fitted(settings: Settings, state: Sums) -> tuple[list[float], list[float], float]:
    """Effects of arms, their inverse matrix, and v: the second of two rounds, as the prior is in units of v."""
    solved, variance = fitted_wholly(settings, state)
    return solved[0], inverse(solved[1], settings.arms, 0), variance


def fitted_wholly(settings: Settings, state: Sums) -> tuple[Solved, float]:
    """All that the second round has solved, and v."""
    return fitted_with(settings, state, first_variance(settings, state))


def first_variance(settings: Settings, state: Sums) -> float:
    """v of the first round."""
    start = starting_variance(settings)
    _, _, squares = solve(settings, state, settings.arms, start / prior_squared(settings))
    return (2.0 * start + squares) / (2.0 + degrees(settings, state, settings.arms))


def fitted_with(settings: Settings, state: Sums, variance: float) -> tuple[Solved, float]:
    """All that a round has solved whose prior is in units of `variance`, and v."""
    solved = solve_wholly(settings, state, settings.arms, variance / prior_squared(settings))
    freedom = degrees(settings, state, settings.arms)
    return solved, (2.0 * starting_variance(settings) + solved[2]) / (2.0 + freedom)


def prior_squared(settings: Settings) -> float:
    prior = PRIOR_TOLD if settings.told > 0 else PRIOR
    return prior * prior
