r"""Random turns: for totals with a season and demand that lingers.

A total is what arms earn and what they don't cause: demand, which has a season of $P$ steps, a level that moves, and
noise that lasts. Holds of whole seasons would compare arms fairly, but be few: ten in twelve weeks. Here turns are
short, in random order, and the season is estimated together with the arms.

*Rows.* A season is cut into slots of about half a window (`_turns_state`). With $y_j$ the mean total of slot number
$j$ since the start,

$$y_j = c_{p(j)} + L_j + \sum_i \sum_{b=1}^{2} e_{ijb}\,\beta_{ib} + \text{noise},$$

where $c_p$ belongs to the slot of the season, $L$ is a level that moves, and $e_{ijb}$ is the share that arm $i$ fills
of the first or second half of the lags that a window has. An arm's mean is $\mu_i = \beta_{i1} + \beta_{i2}$, up to a
constant that all arms share. Lags within a half count alike. That is exact where a pull pays evenly within either half
of its window, and elsewhere biases differences by a few percent of themselves. What an arm before left behind is in
the equation, so no step is discarded.

*Noise.* A filter that doesn't change with time turns a season into a season, so rows may be whitened first and centred
by slot afterwards (Frisch & Waugh 1933). The filter is $x_j = (y_j - \ell_j) - \phi (y_{j-1} - \ell_{j-1})$ with
$\ell_{j+1} = \ell_j + (1 - \theta)(y_j - \ell_j)$, and slots stay or move by exponential smoothing. Six kinds of noise
are tried, and the one that predicts best is used. All of them forget a level within some twenty slots, so slow demand
can't pass for the merit of an arm that was played while it was high.

*Turns.* A turn lasts one and a half windows. Arms have turns in random order, in proportion to their shares. The best
arm $l$ so far has the weight 1, any other $q/(1 - q)$, where $q = \Phi(-(\hat\mu_l - \hat\mu_i)/\text{s.e.})$ is the
chance that it is better: probability matching (Thompson 1933), for two arms exactly. So an arm fades out as evidence
grows, and while the best two are close both stay in play. When 60 % of a known horizon are over, weights are raised to
their 4th power, because what is learned so late is hardly used.

A profile, if there is one, is taken out of the totals before (`afterglow.expected`). A known horizon must be long
enough for a first comparison and as much again. No theorem: slots, filters, 60 % and the power were chosen by
simulation on real demand. Ours.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from afterglow.checks import whole
from afterglow.errors import TOO_SHORT, BadValue, argument
from afterglow.policies.former._turns_fit_1 import FEWEST, contrasts, error, estimate
from afterglow.policies.former._turns_state_1 import BACK, Settings, State, slot_end, start, take_slot
from afterglow.policies.index import DRAWN, Index
from afterglow.policies.policy import Policy
from afterglow.policies.random_turns import reach

MOST_SLOTS = 168  # of a season
TURN = 1.5  # windows
LATE = 0.6  # share of the horizon from which on the best arm is preferred more
POWER = 4.0  # of weights, then
JITTER = 0.3  # of a turn: how far chance may change the order of arms that are not equally far behind their shares
REFIT = 64  # arms are estimated anew when a 64th more rows are there
EVIDENCE = ("equal shares until slots can be compared", "chances to be best", "chances to be best, sharpened")


def configure(arms: int, window: int, horizon: int | None = None, season: int = 1) -> Settings:
    """`season` is the length of the longest cycle in steps, such as 168 for hours of a week; 1 = none."""
    arms = whole("arms", arms, 2)
    window = whole("window", window, 1, "1 = paid at once")
    season = whole("season", season, 1, "1 = none")
    steps = 0 if horizon is None else whole("horizon", horizon, 1)
    half = max(-(-window // 2), -(-season // MOST_SLOTS))
    cycle = season * -(-half // season)
    slots = max(1, cycle // half)
    bins = 1 if window == 1 else 2
    need = 2 * (slots + 1 + bins * (arms - 1) + FEWEST + BACK) * cycle // slots
    if 0 < steps < need:
        raise BadValue(
            f"random-turns needs {need:,} steps to compare {arms:,} arms with a window of {window:,} and a season of "
            f"{season:,}, the horizon is {steps:,}; lengthen it, take fewer arms, or set {argument('season')} to a "
            "shorter cycle",
            kind=TOO_SHORT,
            field="horizon",
        )
    turn = max(1, math.ceil(TURN * window * slots / cycle))
    return Settings(arms, window, steps, cycle, slots, turn, bins, reach(half, round(cycle / slots), bins, BACK))


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
        state.shares[arm] = weight**POWER if late else weight
        total += state.shares[arm]
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
    summary="short turns in random order, compared by a regression that knows the season and a moving level",
    guarantee="no theorem; measured on real demand with a season",
    source="ours, with probability matching (Thompson 1933)",
    evidence=evidence,
    contrasts=contrasts,
    index=index,
    extend=extend,
)  # fmt: skip
