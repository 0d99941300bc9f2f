"""Version 1 of panel elimination: the same decisions, with a window alarm that looked at every arm's first slots.

The alarm fitted one more effect for each arm, that of its first counted slots after a change, and compared all pairs
of them. It took half of the time at the end of a stage, and noticed less than the present one.
"""

import math
from collections.abc import Sequence

from afterglow.policies.former._panel_state_1 import count_slot, start
from afterglow.policies.panel.elimination import alarmed, configure, next_round, next_stage, quiet, recommend
from afterglow.policies.panel.report import compared, difference, statistic
from afterglow.policies.panel.solve import inverse, solve
from afterglow.policies.panel.state import Settings, Sums, starting_variance
from afterglow.policies.panel.variance import PRIOR, PRIOR_TOLD, degrees, fitted
from afterglow.policies.rounds import RoundPolicy

ALARM = 4.0  # standard errors
UNKNOWN = 1e6  # a spread above it belongs to an arm without counted slots


def learn(
    settings: Settings,
    state: Sums,
    steps: int,
    split: int,
    known: Sequence[int],
    heads: Sequence[float],
    bodies: Sequence[float],
) -> None:
    state.clock += steps
    if steps < settings.slot:
        return  # cut short by the horizon
    count_slot(settings, state, known, bodies)
    for unit in range(settings.units):
        state.age[unit] += 1
    state.slots_left -= 1
    left = (settings.horizon - state.clock) // settings.slot
    if state.slots_left <= 0 and left > 0 and state.arms_left > 1:
        end_stage(settings, state, left)


def end_stage(settings: Settings, state: Sums, left: int) -> None:
    """Drop what is behind, and move every unit to its next arm."""
    effects, spreads, variance = fitted(settings, state)
    if state.alarms == 0 and too_short(settings, state, variance):
        state.alarms = 1
    next_stage(settings, state, effects, spreads, variance, left)


def too_short(settings: Settings, state: Sums, variance: float) -> bool:
    """Whether first slots after a change compare arms otherwise than later slots do."""
    arms = settings.arms
    if settings.washout == 0 or degrees(settings, state, 2 * arms) < 4:
        return False
    prior = PRIOR_TOLD if settings.told > 0 else PRIOR
    effects, factor, squares = solve(settings, state, 2 * arms, variance / (prior * prior))
    spreads = inverse(factor, 2 * arms, arms)
    noise = (2.0 * starting_variance(settings) + squares) / (2.0 + degrees(settings, state, 2 * arms))
    for one in range(arms):
        for other in range(one):
            spread = spreads[one * arms + one] + spreads[other * arms + other] - 2.0 * spreads[one * arms + other]
            apart = abs(effects[arms + one] - effects[arms + other])
            if 0.0 < spread < UNKNOWN and apart > ALARM * math.sqrt(noise * spread):
                return True
    return False


policy = RoundPolicy(
    "panel-elimination", Settings, Sums, start, next_round, learn, configure, recommend, difference, statistic,
    alarmed,
    summary="several units at once: compared within the same steps, arms rotated, those that fall behind dropped",
    guarantee="what units share changes no decision; regret as of one unit without shocks, plus each unit's washout",
    source="ours, after successive elimination (Even-Dar, Mannor & Mansour 2006)",
    compared=compared,
    quiet=quiet,
    version=1,
)  # fmt: skip
