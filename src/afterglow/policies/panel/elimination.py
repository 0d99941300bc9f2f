r"""Panel elimination: several units at once, arms dropped one by one.

Model: in step $t$ unit $u$ of level $\ell_u$ shows the total
$\ell_u (\sum_s \mu_{a(u, t-s)} k_s + c_t + \alpha_u) + \text{noise}$. What all units share, $c_t$, may be anything: a
season, a promotion, a drift. The law $k$ of delays has a window of $d$ steps and is the same everywhere.

Time is cut into slots of $b$ steps. In a stage every unit stays on one arm, for $W$ slots of washout, which are not
counted, and $L = \lceil 1.5^{\text{stage}} \rceil$ more. In the next stage each unit moves on to the next arm, so that
its own level $\alpha_u$ cancels too. Counted slots enter the weighted regression

$$y_{us} = \text{slot}_s + \text{arm}_{a(u,s)} + \text{unit}_u + \text{noise}/\sqrt{w_u},$$

with a small prior on the units' effects (a deviation of 5 % where levels are told, else 50 %) and none on the others.
At the end of a stage arm $a$ is dropped if it is behind the leader $l$ by more than
$\sqrt{2 \cdot 0.45\, v\, q_a \log^+(H M q_a/K)}$, where $v q_a$ is the estimated variance of the difference and $H$
the number of slots left: the less time there is to use an answer, the less is spent on it.

The prior is in units of $v$, so a fit has two rounds: the first begins with a quarter of the level. With more than 40
units the first round is fitted one slot before the end of a stage, so that no slot takes long; where many totals are
missing, `sets.py` says what is taken together.

What all units share changes no decision: everything above is a function of differences within slots.
docs/theory/units.md proves it, and the regret of a plainer version. The constants (0.45, 1.5, one slot, the priors)
were chosen by simulation. Ours, after the successive elimination of Even-Dar, Mannor & Mansour (2006).
"""

import math
from collections.abc import Sequence

from afterglow.addition import added
from afterglow.checks import whole
from afterglow.errors import TOO_SHORT, BadValue, argument
from afterglow.policies.panel.alarm import too_short
from afterglow.policies.panel.counting import count_slot
from afterglow.policies.panel.report import compared, difference, statistic
from afterglow.policies.panel.solve import Solved, inverse_rows
from afterglow.policies.panel.state import FEW, Settings, State, Sums, Watched, start
from afterglow.policies.panel.variance import first_variance, fitted, fitted_wholly, fitted_with
from afterglow.policies.rounds import LEAST_ARMS, LEAST_UNITS, MOST_ARMS, MOST_UNITS, RoundPolicy

WIDTH = 0.45  # c
GROWTH = 1.5
LIGHTEST, HEAVIEST = 0.25, 4.0  # weights of units


def configure(
    arms: int,
    units: int,
    window: int,
    horizon: int,
    levels: Sequence[float] = (),
    order: Sequence[int] = (),
    labels: Sequence[int] = (),
    season: int = 1,
    commit: int = 0,
) -> Settings:
    """`commit` is the number of steps after which the best arm so far is kept, 0: arms are dropped one by one."""
    arms = limited("arms", arms, LEAST_ARMS, MOST_ARMS)
    units = limited("units", units, LEAST_UNITS, MOST_UNITS)
    window = whole("window", window, 1, "1 = paid at once")
    horizon = whole("horizon", horizon, 1)
    season = whole("season", season, 1, "1 = none")
    commit = whole("commit", commit, 0, "0 = arms are dropped one by one")
    slot = season * -(-max(-(-window // 2), min(window, 8)) // season)
    washout = -(-(window - 1) // slot)
    need = slot * (washout + 1)
    if horizon < need:
        raise BadValue(
            f"panel-elimination needs {washout + 1:,} slots of {slot:,} steps = {need:,} to count anything, the "
            f"horizon is {horizon:,}; lengthen it",
            kind=TOO_SHORT,
            field="horizon",
        )
    told = [float(level) for level in levels]
    mean = added(told) / units
    weights = [max(LIGHTEST, min(HEAVIEST, level / mean)) for level in told] if told else [1.0] * units
    dealt = list(order) or list(range(units))
    named = list(labels) or list(range(arms))
    return Settings(
        arms, units, window, horizon, slot, washout, commit, int(bool(told)), told or [0.0] * units, weights, dealt,
        named,
    )  # fmt: skip


def limited(name: str, value: object, least: int, most: int) -> int:
    """A whole number within the limits of a round."""
    number = whole(name, value, least)
    if number > most:
        raise BadValue(f"{argument(name)} must be at most {most:,} where units are compared, got {number:,}")
    return number


def next_round(settings: Settings, state: Sums) -> tuple[int, int]:
    return settings.slot, 0


def learn(
    settings: Settings,
    state: State,
    steps: int,
    split: int,
    known: Sequence[int],
    heads: Sequence[float],
    bodies: Sequence[float],
) -> None:
    """A slot has ended, or several of which no total is known."""
    if steps < settings.slot:
        state.clock += steps
        return  # cut short by the horizon
    count_slot(settings, state, known, bodies)
    slots = steps // settings.slot
    while slots > 0:
        part = slots
        if state.slots_left > 0:
            part = min(slots, state.slots_left)
        pass_slots(settings, state, part)
        slots -= part


def pass_slots(settings: Settings, state: State, slots: int) -> None:
    """Slots have ended, at most those that the stage has left."""
    state.clock += slots * settings.slot
    for unit in range(settings.units):
        state.age[unit] += slots
    before = state.slots_left
    state.slots_left -= slots
    left = (settings.horizon - state.clock) // settings.slot
    if settings.units > FEW and before > 1 >= state.slots_left and state.arms_left + (state.alarms == 0) > 1:
        state.variance = first_variance(settings, state)
    if state.slots_left == 0 and state.arms_left == 1:
        watch(settings, state)
    elif state.slots_left <= 0 and left > 0 and state.arms_left > 1:
        end_stage(settings, state, left)


def unchanged(settings: Settings, state: Sums) -> int:
    """Steps for which all units stay on their arms, whatever is learned meanwhile."""
    if state.arms_left == 1:
        return settings.horizon
    return settings.slot * max(1, state.slots_left)


def fitted_now(settings: Settings, state: State) -> tuple[Solved, float]:
    """The fit at the end of a stage; with many units half of its work was done a slot before."""
    if settings.units > FEW:
        return fitted_with(settings, state, state.variance)
    return fitted_wholly(settings, state)


def watch(settings: Settings, state: State) -> None:
    """The last change is over: it may still show that the window is too short."""
    if state.alarms == 0:
        solved, _ = fitted_now(settings, state)
        if too_short(settings, state, solved):
            state.alarms = 1


def end_stage(settings: Settings, state: State, left: int) -> None:
    """Drop what is behind, and move every unit to its next arm."""
    solved, variance = fitted_now(settings, state)
    decide(settings, state, solved, variance, left)


def decide(settings: Settings, state: Watched, solved: Solved, variance: float, left: int) -> None:
    """What a stage's fit means."""
    if state.alarms == 0 and too_short(settings, state, solved):
        state.alarms = 1
    was = [arm for arm in state.arms]  # noqa: C416  a copy in plain and compiled code
    spreads = inverse_rows(solved[1], settings.arms, 0, state.alive[: state.arms_left])
    next_stage(settings, state, solved[0], spreads, variance, left)
    for unit in range(settings.units):
        if state.arms[unit] != was[unit]:
            state.before[unit] = was[unit]


def next_stage(
    settings: Settings, state: Sums, effects: Sequence[float], spreads: Sequence[float], variance: float, left: int
) -> None:
    """Drop what is behind, and deal what is left."""
    lead = leader(state, effects)
    if settings.commit > 0:
        if state.clock >= settings.commit:
            state.alive[0] = lead
            state.arms_left = 1
    else:
        drop(settings, state, effects, spreads, variance, lead, left)
    state.stage += 1
    changed = deal(settings, state)
    state.slots_left = max(1, int(math.ceil(GROWTH**state.stage)))
    if changed:
        state.slots_left += settings.washout
    if 0 < state.clock < settings.commit:
        state.slots_left = min(state.slots_left, -((state.clock - settings.commit) // settings.slot))


def leader(state: Sums, effects: Sequence[float]) -> int:
    """The arm in play of largest effect; a tie goes to the first."""
    lead = state.alive[0]
    for place in range(1, state.arms_left):
        if effects[state.alive[place]] > effects[lead]:
            lead = state.alive[place]
    return lead


def drop(
    settings: Settings, state: Sums, effects: Sequence[float], spreads: Sequence[float], variance: float, lead: int,
    left: int,
) -> None:  # fmt: skip
    """Keep the arms that are not behind the leader by more than the radius."""
    arms = settings.arms
    kept = 0
    for place in range(state.arms_left):
        arm = state.alive[place]
        spread = spreads[lead * arms + lead] + spreads[arm * arms + arm] - 2.0 * spreads[arm * arms + lead]
        radius = 0.0
        if arm != lead and spread > 0.0:
            use = left * settings.units * spread / arms  # H M q / K
            radius = math.sqrt(2.0 * WIDTH * variance * spread * max(0.0, math.log(use)))
        if arm == lead or effects[lead] - effects[arm] <= radius:
            state.alive[kept] = arm
            kept += 1
    state.arms_left = kept


def deal(settings: Settings, state: Sums) -> bool:
    """Move every unit to its next arm; whether any changed."""
    changed = False
    for place in range(settings.units):
        unit = settings.order[place]
        arm = state.alive[(place + state.stage) % state.arms_left]
        if arm != state.arms[unit]:
            state.arms[unit] = arm
            state.age[unit] = 0
            state.arm_runs[arm] += 1
            changed = True
    return changed


def recommend(settings: Settings, state: Sums) -> int:
    """The arm of largest effect among those in play."""
    return leader(state, fitted(settings, state)[0])


def alarmed(settings: Settings, state: Sums) -> bool:
    return state.alarms > 0


def quiet(state: Sums) -> None:
    """As if it had alarmed already: a replay has no use for it."""
    state.alarms = 1


policy = RoundPolicy(
    "panel-elimination", Settings, State, start, next_round, learn, configure, recommend, difference, statistic,
    alarmed,
    summary="several units at once: compared within the same steps, arms rotated, those that fall behind dropped",
    guarantee="what units share changes no decision; regret as of one unit without shocks, plus each unit's washout",
    source="ours, after successive elimination (Even-Dar, Mannor & Mansour 2006)",
    compared=compared,
    quiet=quiet,
    unchanged=unchanged,
    rounding=1e-6,  # it was up to 2e-7 in replays: the ridge of arms is small
    version=3,
)  # fmt: skip
