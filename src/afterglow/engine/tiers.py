"""The three tiers of simulating a hold: every step, every draw, or one draw for all pulls that settle inside.

A hold is one or two *parts* (its head and its body), and all that a policy sees of a part of m steps on one
arm is the sum of its totals. A pull made at least window - 1 steps before the part ends pays inside it,
however it is spread. So `step` cuts every pull over time; `hold` adds up the rewards of those that settle;
`skip` draws their sum at once. Of the last window - 1 pulls both ask only how much they owe when the part ends,
and when it arrives only if the next part is too short to take it all in.

`future[at:at + window - 1]` is what earlier pulls still owe; everything outside is zero. While `at` is `LOOSE`
all of it is zero, and what is owed is known in sum alone. Buffers travel as bare pointers, which costs nothing.
"""

from typing import Any

from numba import carray

from afterglow.engine.random import child

STEP, HOLD, SKIP = 0, 1, 2
CHUNK = 1024  # steps cut at a time: two buffers of 8 KiB stay in the nearest cache
STRETCH = 1 << 20  # steps added up between two looks at the stop flag
MANY = 1 << 40  # "as long as needed": a pointer carries no length
LOOSE = -1


def cut_steps(
    fill: Any, scatter: Any, law: Any, cuts: Any, scratch: Any, arm: int, window: int, age: int,
    reward_key: Any, spread_key: Any, t: int, m: int, left: int, rewards: Any, future: Any, at: int, stop: Any,
) -> tuple[float, float, int]:  # fmt: skip
    """Play m steps one by one: (seen, generated, at). What they owe after `left` steps is as `leak` told it."""
    made, ahead, stopped = carray(rewards, MANY), carray(future, MANY), carray(stop, 1)
    seen = 0.0
    generated = 0.0
    done = 0
    while done < m and stopped[0] == 0.0:
        if at == CHUNK:
            for i in range(window - 1):
                ahead[i] = ahead[CHUNK + i]
                ahead[CHUNK + i] = 0.0
            at = 0
        n = min(m - done, CHUNK - at)
        fill(law, arm, reward_key, t + done, n, rewards)
        scatter(cuts, scratch, arm, window, age + done, spread_key, t + done, rewards, n, left - done, future, at)
        for i in range(n):
            seen += ahead[at + i]
            ahead[at + i] = 0.0
            generated += made[i]
        at += n
        done += n
    return seen, generated, at


def add_up(total: Any, law: Any, arm: int, reward_key: Any, t: int, m: int, stop: Any) -> float:
    """The sum of the rewards of m pulls, one by one."""
    stopped = carray(stop, 1)
    whole = 0.0
    done = 0
    while done < m and stopped[0] == 0.0:
        n = min(m - done, STRETCH)
        whole += total(law, arm, reward_key, t + done, n)
        done += n
    return whole


def collect_owed(future: Any, at: int, window: int) -> float:
    """Take out all that earlier pulls still owe."""
    ahead = carray(future, MANY)
    owed = 0.0
    for i in range(window - 1):
        owed += ahead[at + i]
        ahead[at + i] = 0.0
    return owed


def play_tail(
    fill: Any, leak: Any, law: Any, cuts: Any, scratch: Any, arm: int, window: int, age: int, reward_key: Any,
    spread_key: Any, t: int, rewards: Any,
) -> tuple[float, float]:  # fmt: skip
    """Play the last window - 1 steps of a part: (generated, owed when it ends)."""
    made = carray(rewards, MANY)
    generated = 0.0
    owed = 0.0
    left = window - 1
    while left > 0:
        n = min(left, CHUNK)
        fill(law, arm, reward_key, t, n, rewards)
        owed += leak(cuts, scratch, arm, window, age, spread_key, t, rewards, n, left)
        for i in range(n):
            generated += made[i]
        t += n
        age += n
        left -= n
    return generated, owed


def play_part(
    fill: Any, total: Any, block: Any, scatter: Any, leak: Any, law: Any, cuts: Any, scratch: Any, tier: int, arm: int,
    window: int, age: int, before: int, lasted: int, reward_key: Any, spread_key: Any, block_key: Any, number: int,
    t: int, m: int, rewards: Any, future: Any, at: int, owed: float, stop: Any,
) -> tuple[float, float, int, float]:  # fmt: skip
    """Play m steps of one arm, after `lasted` steps of the arm `before`: (seen, generated, at, owed).

    Sums of blocks come from stream `number` of `block_key`.
    """
    tail = window - 1
    if tier == STEP or m < window:
        if at == LOOSE:  # play the last pulls again to see when they pay
            _, _, at = cut_steps(
                fill, scatter, law, cuts, scratch, before, window, lasted - tail, reward_key, spread_key, t - tail,
                tail, tail, rewards, future, 0, stop,
            )  # fmt: skip
        seen, generated, at = cut_steps(
            fill, scatter, law, cuts, scratch, arm, window, age, reward_key, spread_key, t, m, MANY, rewards, future,
            at, stop,
        )  # fmt: skip
        return seen, generated, at, 0.0
    if tier == SKIP:
        settled = block(law, arm, child(block_key, number), m - tail)
    else:
        settled = add_up(total, law, arm, reward_key, t, m - tail, stop)
    if at != LOOSE:
        owed = collect_owed(future, at, window)
    generated, left_over = play_tail(
        fill, leak, law, cuts, scratch, arm, window, age + m - tail, reward_key, spread_key, t + m - tail, rewards
    )  # fmt: skip
    return owed + settled + (generated - left_over), settled + generated, LOOSE, left_over
