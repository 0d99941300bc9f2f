r"""Random turns: for totals with a season and demand that lingers.

A total is what arms earn and what they don't cause: demand, which has a season of $P$ steps, a level that moves, quiet
and busy hours, promotions and outages. Holds of whole seasons would compare arms fairly, but be few: ten in twelve
weeks. Here turns are short, in random order, and the season is estimated together with the arms.

*Rows.* A season is cut into slots of about a sixth of a window. With $y_j$ the mean total of slot number $j$,

$$y_j = c_{p(j)} + L_j + \sum_i \sum_{b=1}^{2} e_{ijb}\,\beta_{ib} + \text{noise},$$

where $c_p$ belongs to the slot of the season, $L$ is a level that moves, and $e_{ijb}$ is the share that arm $i$ fills
of the first or second half of the lags that a window has. An arm's mean is $\mu_i = \beta_{i1} + \beta_{i2}$, up to a
constant that all arms share. Lags within a half count alike. That is exact where a pull pays evenly within either half
of its window, and elsewhere biases differences, those of all arms in the same proportion. What an arm before left
behind is in the equation, so no step is discarded.

*Noise.* Level and season are taken out by exponential smoothing, with three speeds of the level; the one that predicts
best is used. Rows are weighted by how noisy their slot was before, and totals far from what was expected are pulled in
(`_turns_rows`). On real demand this is worth several times the data: nights are quiet, and a promotion is not the
merit of the arm that was played.

*Turns.* A turn lasts one and a half windows. Arms have turns in random order, in proportion to their shares. The best
arm $l$ so far has the weight 1, any other $q/(1 - q)$, where $q = \Phi(-(\hat\mu_l - \hat\mu_i)/\text{s.e.})$ is the
chance that it is better: probability matching (Thompson 1933), for two arms exactly. An arm less than 3.5 errors
behind has the weight 0.1 at least, so that the verdict gets sure. When 60 % of a known horizon are over, weights are
squared without a least one, because what is learned so late is hardly used.

A profile, if there is one, is taken out of the totals before (`afterglow.expected`). A known horizon must be long
enough for a first comparison and as much again. No theorem: all constants were chosen by simulation on real demand,
and others of other kinds were held out (docs/real-demand.md). Ours.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from afterglow.policies.former._turns_fit_2 import contrasts, error, estimate
from afterglow.policies.former._turns_rows_2 import take_slot
from afterglow.policies.former._turns_state_2 import State, start
from afterglow.policies.index import DRAWN, Index
from afterglow.policies.policy import Policy
from afterglow.policies.random_turns import configure
from afterglow.policies.turns.state import Settings, slot_end

LEAST = 0.1  # weight of an arm that is
SURE = 3.5  # errors behind, or less
LATE = 0.6  # share of the horizon from which on the best arm is preferred more
POWER = 2.0  # of weights, then
JITTER = 0.3  # of a turn: how far chance may change the order of arms that are not equally far behind their shares
REFIT = 64  # arms are estimated anew when a 64th more rows are there
EVIDENCE = ("equal shares until slots can be compared", "chances to be best", "chances to be best, sharpened")


def next_hold(settings: Settings, state: State, draws: Sequence[float]) -> tuple[int, int, int]:
    """The rest of a slot, on the arm in play or, between turns, on the one that is furthest behind its share."""
    steps = slot_end(settings, state.clock) - state.clock
    if state.left > 0:
        return state.arm, steps, 0
    best = 0
    top = -math.inf
    draw = draws[0]
    for arm in range(settings.arms):
        draw = (7919.0 * draw + 0.6180339887498949) % 1.0  # other digits of the same number
        value = state.credit[arm] + state.shares[arm] + JITTER * draw
        if state.shares[arm] > 0.0 and value > top:
            top = value
            best = arm
    return best, steps, 0


def learn(settings: Settings, state: State, arm: int, steps: int, split: int, head: float, body: float) -> None:
    if state.left == 0:
        for other in range(settings.arms):
            state.credit[other] += state.shares[other]
        state.credit[arm] -= 1.0
        state.left = settings.turn
    state.arm = arm
    take_slot(settings, state, arm, steps, head + body)
    state.left -= 1
    if state.left == 0 and state.rows >= state.due:
        estimate(settings, state)
        state.due = state.rows + 1 + state.rows // REFIT
        if state.freedom > 0:
            share_out(settings, state)


def share_out(settings: Settings, state: State) -> None:
    """Weigh every arm by the odds that it is better than the best so far."""
    best = leader(settings, state)
    late = settings.horizon > 0 and state.clock >= LATE * settings.horizon
    total = 0.0
    for arm in range(settings.arms):
        weight = 1.0
        width = error(settings, state, best, arm)
        if arm != best and width > 0.0:
            behind = (state.effects[best] - state.effects[arm]) / width
            chance = 0.5 * math.erfc(behind * math.sqrt(0.5))
            weight = chance / (1.0 - chance)
            if late:
                weight = weight**POWER
            elif behind < SURE:
                weight = max(LEAST, weight)
        state.shares[arm] = weight
        total += weight
    for arm in range(settings.arms):
        state.shares[arm] /= total


def leader(settings: Settings, state: State) -> int:
    """The arm of largest estimated mean; the one played most while there is no estimate."""
    best = 0
    for arm in range(settings.arms):
        if state.freedom > 0:
            better = state.effects[arm] > state.effects[best]
        else:
            better = state.pulls[arm] > state.pulls[best]
        if better:
            best = arm
    return best


def evidence(settings: Settings, state: State) -> str:
    """What turns are shared out by: one of `EVIDENCE`."""
    if state.freedom == 0:
        return EVIDENCE[0]
    return EVIDENCE[2 if 0 < settings.horizon * LATE <= state.clock else 1]


def index(settings: Settings, state: State, draws: Sequence[float]) -> Index:
    return Index(state.shares[:], DRAWN, "share of the turns")


def extend(settings: Settings, state: State, horizon: int) -> Settings:
    """The settings for a longer horizon."""
    return replace(settings, horizon=horizon)


policy = Policy(
    "random-turns", Settings, State, start, next_hold, learn, configure, leader,
    draws=1,
    adjustable=True,
    version=2,
    summary="short turns in random order, compared by a regression that knows the season and a moving level",
    guarantee="no theorem; measured on real demand with a season",
    source="ours, with probability matching (Thompson 1933)",
    evidence=evidence,
    contrasts=contrasts,
    index=index,
    extend=extend,
)  # fmt: skip
