"""The compiled loop of rounds: every unit plays its arm with `play_part`, the common income is drawn once for all."""

from functools import cache
from typing import Any

import numpy as np
from numba import carray, types
from numpy.typing import NDArray

from afterglow.engine.compiling import digest, jitted, keep, source_of
from afterglow.engine.driver import BLOCKS, FILL, INCOME, LEAK, SCATTER, TOTAL, add_income, still_owed
from afterglow.engine.income import NONE
from afterglow.engine.random import child, key_of
from afterglow.engine.rounds.verbs import LEARN, NEXT, RECOMMEND, first_count
from afterglow.engine.tiers import CHUNK, MANY, play_part
from afterglow.engine.view import first_cell
from afterglow.rng import BASELINE, BLOCK, COMMON, REWARD, SPREAD

Numbers = NDArray[np.float64]
Counts = NDArray[np.int64]
SIZE, LOADING, SHIFT, EXTRA = 0, 1, 2, 3  # columns of a unit's draws; from EXTRA on one for each arm
ARM, AGE, AT, BEFORE, LASTED, PLACE = 0, 1, 2, 3, 4, 5  # columns of a unit's place in time, and their number


def allowed(arms: Counts, steps: int, split: int, kinds: int, left: int) -> tuple[int, int]:
    """Steps and split of a round, cut to the steps left; what no round can be is refused."""
    for unit in range(arms.size):
        if arms[unit] < 0 or arms[unit] >= kinds:
            raise ValueError("next_round named an arm that does not exist")
    if steps < 1 or split < 0 or split > steps:
        raise ValueError("next_round must ask for at least 1 step and a split between 0 and the steps")
    steps = min(steps, left)
    return steps, min(split, steps)


def play_stretch(
    fill: Any, total: Any, block: Any, scatter: Any, leak: Any, income: Any, law: Any, cuts: Any, base: Any,
    scratch: Any, tier: int, window: int, seed: Any, run: int, unit: int, turn: int, clock: int, steps: int,
    rewards: Any, future: Any, place: Counts, owed: Numbers, draws: Numbers, shared: float, stop: Any,
) -> tuple[float, float, float]:  # fmt: skip
    """Play one part of a round of one unit: (total, generated, income), all times its size."""
    if steps == 0:
        return 0.0, 0.0, 0.0
    arm = place[ARM]
    seen, made, at, left_over = play_part(
        fill, total, block, scatter, leak, law, cuts, scratch, tier, arm, window, place[AGE], place[BEFORE],
        place[LASTED],        child(key_of(seed, run, REWARD), unit), child(key_of(seed, run, SPREAD), unit),
        child(key_of(seed, run, BLOCK), unit), turn, clock, steps, rewards, future, place[AT], owed[unit], stop,
    )  # fmt: skip
    place[AT] = at
    place[AGE] += steps
    place[BEFORE] = arm
    place[LASTED] = place[AGE]
    owed[unit] = left_over
    earned = draws[LOADING] * shared + draws[EXTRA + arm] * steps
    if carray(base, 1)[0] != NONE:
        key = child(key_of(seed, run, BASELINE), unit)
        earned += add_income(income, base, key, clock + int(draws[SHIFT]), steps, stop)
    return draws[SIZE] * (seen + earned), draws[SIZE] * made, draws[SIZE] * earned


def change(place: Counts, arm: int, gather: int, future: Any, owed: Numbers, unit: int, window: int) -> int:
    """Put a unit on an arm; 1 if it was on another."""
    place[BEFORE] = place[ARM]
    place[LASTED] = place[AGE]
    if arm == place[ARM]:
        return 0
    if gather == 1:
        due = still_owed(future, place[AT], owed[unit], window)
        place[AT] = max(place[AT], 0)
        carray(future, MANY)[place[AT]] = due
        owed[unit] = due
    changed = 1 if place[ARM] >= 0 else 0
    place[ARM] = arm
    place[AGE] = 0
    return changed


def follow(
    checkpoints: Counts, c: int, clock: int, steps: int, arms: Counts, best: int, gaps: Numbers, draws: Numbers,
    lost: float, good: int, curve: Numbers, share: Numbers,
) -> int:  # fmt: skip
    """Fill the checkpoints that this round passes."""
    while c < checkpoints.size and checkpoints[c] <= clock + steps:
        inside = checkpoints[c] - clock
        value = lost
        plays = good
        for unit in range(arms.size):
            value += draws[unit, SIZE] * gaps[arms[unit]] * inside
            plays += inside if arms[unit] == best else 0
        curve[c] = value
        share[c] = plays / (checkpoints[c] * arms.size)
        c += 1
    return c


def note(line: Numbers, steps: int, split: int, arms: Counts, heads: Numbers, bodies: Numbers) -> None:
    """Write down one round."""
    units = arms.size
    line[0] = steps
    line[1] = split
    for unit in range(units):
        line[2 + unit] = arms[unit]
        line[2 + units + unit] = heads[unit]
        line[2 + 2 * units + unit] = bodies[unit]


def play_run(
    next_round: Any, learn: Any, recommend: Any, fill: Any, total: Any, block: Any, scatter: Any, leak: Any,
    income: Any, seed: Any, run: int, horizon: int, shape: tuple[int, int, int, int], gaps: Numbers,
    fixed: tuple[Any, Any, Any, Any], tables: tuple[Any, Any, Any], sums: tuple[Any, Any, Any],
    counts: tuple[Any, Any, Any], places: Counts, draws: Numbers, settings: Any, state: Any, checkpoints: Counts,
    curve: Numbers, share: Numbers, pulls: Counts, facts: Numbers, chosen: Counts, trace: Numbers, stop: Any,
) -> None:  # fmt: skip
    """Play one run: ask for a round, play every unit's part of it, teach the policy, until the horizon."""
    tier, window, gather, best = shape
    law, cuts, common, rewards = fixed
    bases, scratch, futures = tables
    owed, heads, bodies = sums
    arms, known, now = counts
    units = arms.size
    common_key, flows = key_of(seed, run, COMMON), carray(common, 1)[0] != NONE
    clock = count = switches = c = good = 0
    lost = seen = generated = earned = 0.0
    while clock < horizon and carray(stop, 1)[0] == 0.0:
        steps, split = next_round(settings, state)
        for unit in range(units):
            arms[unit] = now[unit]
        steps, split = allowed(arms, steps, split, gaps.size, horizon - clock)
        early = late = 0.0
        if flows:
            early = add_income(income, common, common_key, clock, split, stop)
            late = add_income(income, common, common_key, clock + split, steps - split, stop)
        if c < checkpoints.size:
            c = follow(checkpoints, c, clock, steps, arms, best, gaps, draws, lost, good, curve, share)
        for unit in range(units):
            future = first_cell(futures[unit])
            switches += change(places[unit], arms[unit], gather, future, owed, unit, window)
            head, made, extra = play_stretch(
                fill, total, block, scatter, leak, income, law, cuts, first_cell(bases[unit]),
                first_cell(scratch[unit]), tier, window, seed, run, unit, 2 * count, clock, split, rewards, future,
                places[unit], owed, draws[unit], early, stop,
            )  # fmt: skip
            body, more, also = play_stretch(
                fill, total, block, scatter, leak, income, law, cuts, first_cell(bases[unit]),
                first_cell(scratch[unit]), tier, window, seed, run, unit, 2 * count + 1, clock + split, steps - split,
                rewards, future, places[unit], owed, draws[unit], late, stop,
            )  # fmt: skip
            heads[unit] = head
            bodies[unit] = body
            generated += made + more
            earned += extra + also
            seen += head + body
            pulls[arms[unit]] += steps
            good += steps if arms[unit] == best else 0
            lost += draws[unit, SIZE] * gaps[arms[unit]] * steps
        for unit in range(units):
            known[unit] = steps - split
        if count < trace.shape[0]:
            note(trace[count], steps, split, arms, heads, bodies)
        clock += steps
        count += 1
        learn(settings, state, steps, split, first_count(known), first_cell(heads), first_cell(bodies))
    due = 0.0
    for unit in range(units):
        due += draws[unit, SIZE] * still_owed(first_cell(futures[unit]), places[unit, AT], owed[unit], window)
    facts[0] = lost
    facts[1] = seen
    facts[2] = due
    facts[3] = generated
    facts[4] = earned
    facts[5] = count
    facts[6] = switches
    if chosen.size > 0:
        chosen[0] = recommend(settings, state)


def run_all(
    next_round: Any, learn: Any, recommend: Any, fill: Any, total: Any, block: Any, scatter: Any, leak: Any,
    income: Any, seed: Any, first: int, horizon: int, tier: int, window: int, gather: int, best: int, gaps: Numbers,
    law: Numbers, cuts: Numbers, common: Numbers, own: Numbers, room: int, arms_at: int, draws: NDArray[np.float64],
    settings: Numbers, states: Numbers, checkpoints: Counts, curves: Numbers, shares: Numbers, pulls: Counts,
    facts: Numbers, recommended: Counts, trace: Numbers, stop: Numbers,
) -> None:  # fmt: skip
    """Play runs first, first + 1, …, one per row of `states`; the first is written down round by round in `trace`."""
    units = draws.shape[1]
    rewards = np.zeros(CHUNK)
    futures = np.zeros((units, CHUNK + window))
    scratch = np.zeros((units, room))
    places = np.zeros((units, PLACE), np.int64)
    owed, heads, bodies = np.zeros(units), np.zeros(units), np.zeros(units)
    arms, known = np.zeros(units, np.int64), np.zeros(units, np.int64)
    bases = np.zeros((units, own.size))
    shared = np.zeros(common.size)  # made once: a pointer does not keep it alive
    for row in range(states.shape[0]):
        futures[:] = 0.0
        scratch[:] = 0.0
        places[:] = 0
        places[:, ARM] = -1
        owed[:] = 0.0
        for unit in range(units):
            bases[unit] = own
        shared[:] = common
        written = trace if row == 0 else trace[:0]
        now = states[row].view(np.int64)[arms_at : arms_at + units]
        play_run(
            next_round, learn, recommend, fill, total, block, scatter, leak, income, seed, first + row, horizon,
            (tier, window, gather, best), gaps,
            (first_cell(law), first_cell(cuts), first_cell(shared), first_cell(rewards)), (bases, scratch, futures),
            (owed, heads, bodies), (arms, known, now), places, draws[row], first_cell(settings[row]),
            first_cell(states[row]), checkpoints, curves[row], shares[row], pulls[row], facts[row],
            recommended[row : row + 1], written, first_cell(stop),
        )  # fmt: skip


i8, f8, u8 = types.int64, types.float64, types.uint64
ROW, TABLE, COUNTS = f8[::1], f8[:, ::1], i8[::1]
SIGNATURE = types.none(
    *(types.FunctionType(kind) for kind in (NEXT, LEARN, RECOMMEND, FILL, TOTAL, BLOCKS, SCATTER, LEAK, INCOME)),
    u8, i8, i8, i8, i8, i8, i8, ROW, ROW, ROW, ROW, ROW, i8, i8, f8[:, :, ::1], TABLE, TABLE, COUNTS, TABLE, TABLE,
    i8[:, ::1], TABLE, COUNTS, TABLE, ROW,
)  # fmt: skip


@cache
def machine() -> Any:
    """The driver as machine code."""
    mark = digest(run_all, str(SIGNATURE), source_of("afterglow.engine.view"))
    return keep(run_all, SIGNATURE, lambda: {"play_run": jitted(play_run, {}, False, mark)}, mark)
