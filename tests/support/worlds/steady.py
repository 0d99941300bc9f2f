"""A world without chance, for policy tests: each arm always pays the same, at once."""

from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Any

from afterglow.policies import Policy

Hold = tuple[int, int, int]


def steady(
    policy: Policy[Any, Any],
    settings: Any,
    pays: Sequence[float],
    horizon: int,
    draws: Iterator[Sequence[float]] | None = None,
) -> tuple[list[Hold], Any]:
    """The holds as they were played, the last cut at the horizon, and the final state."""
    state, holds, clock = policy.start(settings), [], 0
    uniforms = draws or repeat(())
    while clock < horizon:
        arm, steps, split = policy.next_hold(settings, state, next(uniforms))
        steps = min(steps, horizon - clock)
        split = min(split, steps)
        policy.learn(settings, state, arm, steps, split, pays[arm] * split, pays[arm] * (steps - split))
        holds.append((arm, steps, split))
        clock += steps
    return holds, state
