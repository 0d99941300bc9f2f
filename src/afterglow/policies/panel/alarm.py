r"""The window alarm of `panel-elimination`: what is left of the arm before, once the washout is over.

If the window is told too short, a unit's first counted slot after a change still shows a share $\lambda$ of the arm
that it has left. With the fitted effects $\hat\beta$, add one column to the regression,

$$x_{us} = \hat\beta_{\text{before}(u)} - \hat\beta_{a(u,s)} \text{ in first counted slots, 0 elsewhere,}$$

whose coefficient is $\lambda$. Residuals are independent of the effects if noise is Gaussian, so $\lambda$ over its
standard error has a standard normal law as long as the window is long enough. The column is a sum of the columns of
remains (`state.py`), so it is formed when effects are known, and takes one row more. The variance is that of the
residuals alone: decisions are made with one that begins at a quarter of the level, which would hide small remains.
"""

import math

from afterglow.policies.panel.rows import dot, dot_eights, products
from afterglow.policies.panel.solve import Solved, forward, whiten
from afterglow.policies.panel.state import Settings, Watched
from afterglow.policies.panel.variance import degrees

ALARM = 3.0  # standard errors
FEWEST = 10  # degrees of freedom
QUIET = 1e-12  # variance of totals that follow the plan exactly: less is rounding
HARDLY = 1e-6  # of a column's squares: with less that other columns don't explain, nothing is compared


def too_short(settings: Settings, state: Watched, solved: Solved) -> bool:
    """Whether first slots after a change show what is left of the arm before."""
    freedom = degrees(settings, state, settings.arms + 1)
    if settings.washout == 0 or freedom < FEWEST:
        return False
    return remains(settings, state, solved, max(QUIET, solved[2] / freedom)) > ALARM


def remains(settings: Settings, state: Watched, solved: Solved, variance: float) -> float:
    """The share that is left of the arm before, in standard errors; 0 if nothing is known of it."""
    effects, system, _, levels, wide, roots, scaled, factor = solved
    arms, units = settings.arms, settings.units
    columns = 2 * arms
    over_arms = [0.0] * arms
    over_units = [0.0] * units
    value = 0.0
    square = 0.0
    for arm in range(arms):
        times, row = effects[arm], arms + arm
        begin = row * columns
        value += times * state.arm_value[row]
        square += times * dot(effects, state.arm_arm[begin + arms : begin + columns])
        over_arms = [x + times * y for x, y in zip(over_arms, state.arm_arm[begin : begin + arms])]  # noqa: B905
        line = state.arm_unit[row * units : (row + 1) * units]
        over_units = [x + times * y for x, y in zip(over_units, line)]  # noqa: B905
    value -= dot(over_arms, effects) + dot(over_units, levels)
    whitened = whiten(settings, state, over_units, roots, scaled, factor)
    found = products(whitened, wide, arms)
    rest = [over_arms[arm] - found[arm] for arm in range(arms)]
    forward(system, arms, rest)
    own = square - dot_eights(whitened, whitened) - dot(rest, rest)
    if own <= HARDLY * square or square <= 0.0:
        return 0.0
    return value / math.sqrt(variance * own)
