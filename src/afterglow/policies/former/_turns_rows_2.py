r"""How a slot becomes a row of the regression of `random_turns`.

*Exposure.* Lags are in two *bins*, the first and the second half of the window. A slot after others fills them with
shares of their arms, as `Settings.reach` says. Effects mostly scale with demand, so a slot counts for half by its usual
demand, relative to the mean, and for half as any other.

*Level and slot.* With $y_j$ any column of row $j$, $\ell_{j+1} = \ell_j + (1 - m)(y_j - \ell_j)$ is a level that moves,
and what the slot of the season adds to it moves by exponential smoothing too. Both are linear, so the same is done to
totals and exposures (Frisch & Waugh 1933), and what is left of them is a row.

*Weights.* Hours differ in noise: nights are quiet. A row has the weight $\bar v / v_p$, with $v_p$ the variance of what
was left before in its slot, shrunk towards the mean of all slots, $\bar v$. They are known before the row is seen. A
total further than two deviations from what was expected is taken as two deviations away (Huber 1964): it was a
promotion, an outage, a holiday. What was expected is with or without what the arms are estimated to earn, whichever is
nearer, so that large effects of arms aren't taken for outliers.
"""

import math

from afterglow.policies.former._turns_state_2 import State
from afterglow.policies.turns.state import KINDS, MEMORY, Settings, columns, slot_at, slot_begin, slot_end

GAIN = 0.15  # how fast the season itself changes, from season to season
FAR = 2.0  # deviations
PRIOR = 2.0  # rows of a slot that the common variance counts for
FLOOR = 0.1  # of the common variance, that a slot has at least
FAST = 0.1  # how fast variances change, from season to season
SCALED = 0.5  # how much of an effect scales with demand
BUSIEST = 4.0  # demand of a slot at most, relative to the mean


def take_slot(settings: Settings, state: State, arm: int, steps: int, total: float) -> None:
    """Count steps on one arm; they make a row if they are a whole slot and the arms of the slots before are known."""
    begin = state.clock
    state.clock += steps
    state.pulls[arm] += steps
    state.total += total
    if begin != slot_begin(settings, begin) or state.clock != slot_end(settings, begin):
        state.known = 0
        return
    slot = slot_at(settings, begin)
    for ago in range(settings.back - 1, 0, -1):
        state.last[ago] = state.last[ago - 1]
        state.demand[ago] = state.demand[ago - 1]
    state.last[0] = arm
    state.demand[0] = usual_demand(state, slot)
    state.known = min(settings.back, state.known + 1)
    if state.known == settings.back:
        fill_row(settings, state, total / steps)
        for kind in range(KINDS):
            add_row(settings, state, kind, slot)
        if state.counts[slot] > 0:
            state.repeats += 1
        state.counts[slot] += 1
        state.usual[slot] += (total / steps - state.usual[slot]) / state.counts[slot]
        state.rows += 1


def usual_demand(state: State, slot: int) -> float:
    """What a pull in this slot counts for; 1 while its usual total is unknown or totals aren't above 0."""
    count = state.counts[slot]
    if count == 0 or state.total <= 0.0:
        return 1.0
    ratio = min(BUSIEST, max(0.0, state.usual[slot] * state.clock / state.total))
    return 1.0 + SCALED * (ratio - 1.0) * count / (count + 1)


def fill_row(settings: Settings, state: State, mean: float) -> None:
    m = columns(settings)
    for column in range(m):
        state.row[column] = 0.0
    for side in range(settings.bins):
        for ago in range(settings.back):
            if state.last[ago] > 0:
                place = side * (settings.arms - 1) + state.last[ago]
                state.row[place] += settings.reach[side * settings.back + ago] * state.demand[ago]
    state.row[m - 1] = mean
    if state.rows == 0:
        for kind in range(KINDS):
            state.level[kind * m + m - 1] = mean


def add_row(settings: Settings, state: State, kind: int, slot: int) -> None:
    """Take out of a row what level and slot explain, and add up the squares of what is left.

    The rest of a slot that was met $c$ times before has the variance of the noise times $1 + 1/c$, or $1/(1 - g/2)$
    with the gain $g$ once it was met often.
    """
    m = columns(settings)
    first = kind * m
    mean = (kind * settings.slots + slot) * m
    count = state.counts[slot]
    for i in range(m):
        state.work[i] = state.row[i] - state.level[first + i] - state.means[mean + i]
    share = min(count / (count + 1), 1.0 - 0.5 * GAIN)
    variance = spread(settings, state, kind, slot) if count > 0 else 0.0
    rest = surprise(settings, state, kind)
    excess = 0.0
    if variance > 0.0:
        far = FAR * math.sqrt(variance / share)
        excess = rest - min(far, max(-far, rest))
    state.work[m - 1] -= excess
    gain = max(GAIN, 1.0 / (count + 1))
    for i in range(m):
        seen = state.row[i] - (excess if i == m - 1 else 0.0)
        state.level[first + i] += (1.0 - MEMORY[kind]) * (seen - state.level[first + i])
        state.means[mean + i] += gain * state.work[i]
    if variance > 0.0:
        add_squares(settings, state, kind, share, variance / state.common[kind])
        add_to_run(settings, state, kind, (rest - excess) * math.sqrt(share / variance))
    if count > 0:
        left = share * (rest - excess) * (rest - excess)
        place = kind * settings.slots + slot
        state.own[place] += (left - state.own[place]) * max(FAST, 1.0 / count)
        state.common[kind] += (left - state.common[kind]) * max(FAST / settings.slots, 1.0 / (state.repeats + 1))


def spread(settings: Settings, state: State, kind: int, slot: int) -> float:
    """The variance of what is left in a slot; 0 while nothing is known."""
    count = state.counts[slot] - 1
    common = state.common[kind]
    own = (count * state.own[kind * settings.slots + slot] + PRIOR * common) / (count + PRIOR)
    return max(FLOOR * common, own)


def surprise(settings: Settings, state: State, kind: int) -> float:
    """How far the total is from what was expected, with or without the arms' part, whichever is nearer."""
    m = columns(settings)
    plain = state.work[m - 1]
    rest = plain
    for i in range(m - 1):
        rest -= state.slopes[kind * m + i] * state.work[i]
    return plain if abs(plain) < abs(rest) else rest


def add_squares(settings: Settings, state: State, kind: int, share: float, relative: float) -> None:
    m = columns(settings)
    square = kind * m * m
    weight = share / relative
    state.logs[kind] += math.log(relative / share)
    state.weight[kind] += 1.0 / relative
    for i in range(m):
        for j in range(m):
            state.squares[square + i * m + j] += state.work[i] * state.work[j] * weight


def add_to_run(settings: Settings, state: State, kind: int, value: float) -> None:
    """Add up surprises over as many rows as a turn has: the sums say how much noise outlasts a row."""
    state.row_squares[kind] += value * value
    state.run[kind] += value
    if state.rows % settings.turn == 0:
        state.run_squares[kind] += state.run[kind] * state.run[kind]
        state.run[kind] = 0.0
