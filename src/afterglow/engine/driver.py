"""The compiled simulation loop, the same for all policies, rewards and spreads."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numba import carray, types
from numpy.typing import NDArray

from afterglow.engine.addresses import address_of, at_address
from afterglow.engine.compiling import digest, jitted, keep, source_of
from afterglow.engine.income import NONE
from afterglow.engine.policies import LEARN, NEXT
from afterglow.engine.random import key_of, uniform
from afterglow.engine.tiers import CHUNK, LOOSE, MANY, STRETCH, collect_owed, play_part
from afterglow.engine.view import CELLS, first_cell
from afterglow.rng import BASELINE, BLOCK, POLICY, REWARD, SPREAD

Numbers = NDArray[np.float64]
FACTS = ("regrets", "seen", "pending", "generated", "income", "holds", "switches")  # columns that `conclude` writes

i8, f8, u8 = types.int64, types.float64, types.uint64
FILL = types.none(CELLS, i8, u8, i8, i8, CELLS)
TOTAL = f8(CELLS, i8, u8, i8, i8)
BLOCKS = f8(CELLS, i8, u8, i8)
SCATTER = types.none(CELLS, CELLS, i8, i8, i8, u8, i8, CELLS, i8, i8, CELLS, i8)
LEAK = f8(CELLS, CELLS, i8, i8, i8, u8, i8, CELLS, i8, i8)
INCOME = f8(CELLS, u8, i8, i8)
KINDS = (NEXT, LEARN, FILL, TOTAL, BLOCKS, SCATTER, LEAK, INCOME)
next_at, learn_at, fill_at, total_at, block_at, scatter_at, leak_at, income_at = (at_address(kind) for kind in KINDS)


def follow(
    checkpoints: NDArray[np.int64], c: int, clock: int, steps: int, arm: int, best: int, gaps: Numbers,
    pulls: NDArray[np.int64], curve: Numbers, share: Numbers,
) -> int:  # fmt: skip
    """Fill the checkpoints that this hold passes: regret and plays of the best arm grow linearly inside it."""
    while c < checkpoints.size and checkpoints[c] <= clock + steps:
        inside = checkpoints[c] - clock
        lost = gaps[arm] * inside
        for i in range(pulls.size):
            lost += gaps[i] * pulls[i]
        curve[c] = lost
        share[c] = (pulls[best] + (inside if arm == best else 0)) / checkpoints[c]
        c += 1
    return c


def allowed(arm: int, steps: int, split: int, arms: int, left: int) -> tuple[int, int]:
    """Steps and split of a hold, cut to the steps left; what no hold can be is refused."""
    if arm < 0 or arm >= arms:
        raise ValueError("next_hold named an arm that does not exist")
    if steps < 1 or split < 0 or split > steps:
        raise ValueError("next_hold must ask for at least 1 step and a split between 0 and the steps")
    steps = min(steps, left)
    return steps, min(split, steps)


def still_owed(future: Any, at: int, owed: float, window: int) -> float:
    """All that earlier pulls still owe, taken out of the future if it is there."""
    if at != LOOSE:
        owed = collect_owed(future, at, window)
    return owed


def add_income(income: Any, base: Any, key: Any, t: int, m: int, stop: Any) -> float:
    """What the baseline brings in m steps."""
    whole = 0.0
    done = 0
    while done < m and carray(stop, 1)[0] == 0.0:
        n = min(m - done, STRETCH)
        whole += income(base, key, t + done, n)
        done += n
    return whole


def keys_of(seed: Any, run: int) -> tuple[Any, Any, Any, Any]:
    """The keys of a run's streams: rewards, spread, block sums, policy."""
    return key_of(seed, run, REWARD), key_of(seed, run, SPREAD), key_of(seed, run, BLOCK), key_of(seed, run, POLICY)


def note(line: Numbers, arm: int, steps: int, split: int, head: float, body: float) -> None:
    """Write down one hold."""
    line[0] = arm
    line[1] = steps
    line[2] = split
    line[3] = head
    line[4] = body


def conclude(
    facts: Numbers, gaps: Numbers, pulls: NDArray[np.int64], seen: float, generated: float, owed: float, earned: float,
    count: int, switches: int,
) -> None:  # fmt: skip
    """Write down what a whole run came to."""
    lost = 0.0
    for i in range(gaps.size):
        lost += gaps[i] * pulls[i]
    facts[0] = lost
    facts[1] = seen
    facts[2] = owed
    facts[3] = generated
    facts[4] = earned
    facts[5] = count
    facts[6] = switches


def play_run(
    next_hold: Any, learn: Any, fill: Any, total: Any, block: Any, scatter: Any, leak: Any, income: Any, seed: Any,
    run: int, horizon: int, shape: tuple[int, int, int, int, int], gaps: Numbers, law: Any, cuts: Any, base: Any,
    scratch: Any, rewards: Any, future: Any, uniforms: Any, settings: Any, state: Any, checkpoints: NDArray[np.int64],
    curve: Numbers, share: Numbers, pulls: NDArray[np.int64], facts: Numbers, trace: NDArray[np.float64], stop: Any,
) -> None:  # fmt: skip
    """Play one run: ask for a hold, play its two parts, teach the policy, until the horizon."""
    tier, draws, window, gather, best = shape
    reward_key, spread_key, block_key, policy_key = keys_of(seed, run)
    base_key, flows = key_of(seed, run, BASELINE), carray(base, 1)[0] != NONE
    at = clock = count = switches = c = age = 0
    last = -1
    owed = 0.0
    seen = 0.0
    generated = 0.0
    earned = 0.0
    while clock < horizon and carray(stop, 1)[0] == 0.0:
        for j in range(draws):
            carray(uniforms, MANY)[j] = uniform(policy_key, count * draws + j)
        arm, steps, split = next_hold(settings, state, uniforms)
        steps, split = allowed(arm, steps, split, gaps.size, horizon - clock)
        before, lasted = last, age
        if arm != last:
            if gather == 1:
                owed = still_owed(future, at, owed, window)
                at = max(at, 0)
                carray(future, MANY)[at] = owed
            switches += last >= 0
            age = 0
            last = arm
        head = 0.0
        body = 0.0
        if split > 0:
            head, made, at, owed = play_part(
                fill, total, block, scatter, leak, law, cuts, scratch, tier, arm, window, age, before, lasted,
                reward_key, spread_key, block_key, 2 * count, clock, split, rewards, future, at, owed, stop,
            )  # fmt: skip
            generated += made
            before, lasted = arm, age + split
        if split < steps:
            body, made, at, owed = play_part(
                fill, total, block, scatter, leak, law, cuts, scratch, tier, arm, window, age + split, before, lasted,
                reward_key, spread_key, block_key, 2 * count + 1, clock + split, steps - split, rewards,
                future, at, owed, stop,
            )  # fmt: skip
            generated += made
        if flows:
            early = add_income(income, base, base_key, clock, split, stop)
            late = add_income(income, base, base_key, clock + split, steps - split, stop)
            head += early
            body += late
            earned += early + late
        if count < trace.shape[0]:
            note(trace[count], arm, steps, split, head, body)
        if c < checkpoints.size:
            c = follow(checkpoints, c, clock, steps, arm, best, gaps, pulls, curve, share)
        seen += head + body
        pulls[arm] += steps
        age += steps
        clock += steps
        count += 1
        learn(settings, state, arm, steps, split, head, body)
    owed = still_owed(future, at, owed, window)
    conclude(facts, gaps, pulls, seen, generated, owed, earned, count, switches)


def run_all(
    code: Any, seed: Any, first: int, horizon: int, tier: int, draws: int, window: int, gather: int, best: int,
    gaps: Numbers, law: Numbers, cuts: Numbers, base: Numbers, room: int, settings: Numbers,
    states: NDArray[np.float64], checkpoints: NDArray[np.int64], curves: NDArray[np.float64],
    shares: NDArray[np.float64], pulls: NDArray[np.int64], facts: NDArray[np.float64], trace: NDArray[np.float64],
    stop: Numbers,
) -> None:  # fmt: skip
    """Play runs first, first + 1, …, one per row of `states`; the first is written down hold by hold in `trace`.

    `code` has the addresses of the functions of `KINDS`.
    """
    rewards = np.zeros(CHUNK)
    future = np.zeros(CHUNK + window)
    uniforms = np.zeros(max(draws, 1))
    scratch = np.zeros(room)
    own = base.copy()
    for row in range(states.shape[0]):
        future[:] = 0.0
        scratch[:] = 0.0
        written = trace if row == 0 else trace[:0]
        play_run(
            next_at(code[0]), learn_at(code[1]), fill_at(code[2]), total_at(code[3]), block_at(code[4]),
            scatter_at(code[5]), leak_at(code[6]), income_at(code[7]), seed, first + row, horizon,
            (tier, draws, window, gather, best), gaps, first_cell(law), first_cell(cuts), first_cell(own),
            first_cell(scratch), first_cell(rewards), first_cell(future), first_cell(uniforms),
            first_cell(settings), first_cell(states[row]), checkpoints, curves[row], shares[row], pulls[row],
            facts[row], written, first_cell(stop),
        )  # fmt: skip


ROW, TABLE, COUNTS = f8[::1], f8[:, ::1], i8[::1]
SIGNATURE = types.none(
    u8[::1], u8, i8, i8, i8, i8, i8, i8, i8, ROW, ROW, ROW, ROW, i8, ROW, TABLE, COUNTS, TABLE, TABLE, i8[:, ::1],
    TABLE, TABLE, ROW,
)  # fmt: skip


@cache
def machine() -> Any:
    """The driver as machine code."""
    mark = digest(run_all, str(SIGNATURE), source_of("afterglow.engine.view", "afterglow.engine.addresses"))
    return keep(run_all, SIGNATURE, lambda: {"play_run": jitted(play_run, {}, False, mark, merge=True)}, mark)


def addresses(functions: Sequence[Any]) -> NDArray[np.uint64]:
    """Where functions of `KINDS` begin; the caller keeps them."""
    return np.array([address_of(one, kind) for one, kind in zip(functions, KINDS, strict=True)], np.uint64)


def by_pointer(
    over: Callable[..., Any], signature: Any, plain: Any, swap: dict[Any, Any] | None = None, merge: bool = False
) -> Any:
    """A function over arrays as one over bare pointers, compiled; `swap` puts other functions in its place."""
    mark = digest(over, plain, list((swap or {}).values()), str(signature))

    def scope() -> dict[str, Any]:
        done: dict[Any, Any] = {old: jitted(new, {}, tag=mark) for old, new in (swap or {}).items()}
        done[over] = None  # so that `plain` isn't the outermost, and is merged into it
        return {"plain": jitted(plain, done, checked=False, tag=mark, merge=merge)}

    return keep(over, signature, scope, mark)


plain: Any = None  # put in by `by_pointer`


def fill_over(law: Any, arm: int, key: Any, t0: int, n: int, out: Any) -> None:
    plain(carray(law, MANY), arm, key, t0, n, carray(out, MANY))


def total_over(law: Any, arm: int, key: Any, t0: int, n: int) -> Any:
    return plain(carray(law, MANY), arm, key, t0, n)


def block_over(law: Any, arm: int, key: Any, n: int) -> Any:
    return plain(carray(law, MANY), arm, key, n)


def scatter_over(
    table: Any, scratch: Any, arm: int, window: int, age: int, key: Any, t0: int, rewards: Any, n: int,
    left: int, future: Any, at: int,
) -> None:  # fmt: skip
    plain(carray(table, MANY), carray(scratch, MANY), arm, window, age, key, t0, carray(rewards, MANY), n, left,
          carray(future, MANY), at)  # fmt: skip


def leak_over(
    table: Any, scratch: Any, arm: int, window: int, age: int, key: Any, t0: int, rewards: Any, n: int, left: int,
) -> Any:  # fmt: skip
    return plain(
        carray(table, MANY), carray(scratch, MANY), arm, window, age, key, t0, carray(rewards, MANY), n, left
    )  # fmt: skip


def income_over(table: Any, key: Any, t0: int, n: int) -> Any:
    return plain(carray(table, MANY), key, t0, n)
