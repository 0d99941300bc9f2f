"""How a hold is played: every step, every draw, or one draw for all that settles inside.

A hold is one or two *parts* (its head and its body), and all that a policy sees of a part of m steps on one
arm is the sum of its totals. A pull made at least window - 1 steps before the part ends pays inside it,
however it is spread. So `step` cuts every pull over time; `hold` adds up the rewards of those that settle
and cuts only the last window - 1; `skip` draws the settled sum at once. `future[at:at + window - 1]` is what
earlier pulls still owe; everything outside is zero.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterglow.engine.view import first_cell

Numbers = NDArray[np.float64]
STEP, HOLD, SKIP = 0, 1, 2
STRETCH = 65_536  # steps between two looks at the stop flag


def cut_steps(
    fill: Any, scatter: Any, law: Any, cuts: Any, scratch: Any, arm: int, window: int, age: int,
    reward_key: Any, spread_key: Any, t: int, m: int, rewards: Numbers, future: Numbers, at: int, stop: Any,
) -> tuple[float, float, int]:  # fmt: skip
    """Play m steps one by one: (seen, generated, at)."""
    seen = 0.0
    generated = 0.0
    done = 0
    while done < m and stop[0] == 0.0:
        if at == rewards.size:
            for i in range(window - 1):
                future[i] = future[at + i]
                future[at + i] = 0.0
            at = 0
        n = min(m - done, rewards.size - at)
        fill(law, arm, reward_key, t + done, n, first_cell(rewards))
        scatter(cuts, scratch, arm, window, age + done, spread_key, t + done, first_cell(rewards), n,
                first_cell(future), at)  # fmt: skip
        for i in range(n):
            seen += future[at + i]
            future[at + i] = 0.0
            generated += rewards[i]
        at += n
        done += n
    return seen, generated, at


def settle(
    total: Any, block: Any, law: Any, tier: int, arm: int, reward_key: Any, block_key: Any,
    t: int, m: int, stop: Any,
) -> float:  # fmt: skip
    """The sum of the rewards of m pulls."""
    if tier == SKIP:
        return float(block(law, arm, block_key, m))
    whole = 0.0
    done = 0
    while done < m and stop[0] == 0.0:
        n = min(m - done, STRETCH)
        whole += total(law, arm, reward_key, t + done, n)
        done += n
    return whole


def play_part(
    fill: Any, total: Any, block: Any, scatter: Any, law: Any, cuts: Any, scratch: Any, tier: int, arm: int,
    window: int, age: int, reward_key: Any, spread_key: Any, block_key: Any, t: int, m: int, rewards: Numbers,
    future: Numbers, at: int, stop: Any,
) -> tuple[float, float, int]:  # fmt: skip
    """Play m steps of one arm: (seen, generated, at)."""
    settled = 0.0
    owed = 0.0
    first = 0
    tail = window - 1
    if tier != STEP and m > tail:
        first = m - tail
        settled = settle(total, block, law, tier, arm, reward_key, block_key, t, first, stop)
        for i in range(tail):
            owed += future[at + i]
            future[at + i] = 0.0
        at = 0
    seen, generated, at = cut_steps(
        fill, scatter, law, cuts, scratch, arm, window, age + first, reward_key, spread_key, t + first, m - first,
        rewards, future, at, stop,
    )  # fmt: skip
    return owed + settled + seen, settled + generated, at
