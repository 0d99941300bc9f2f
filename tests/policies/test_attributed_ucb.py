"""The privileged reference: every reward with its arm, once its window has closed."""

from random import Random

import pytest

from afterglow.errors import BadValue
from afterglow.policies.attributed_ucb import State, policy
from afterglow.policies.ucb1 import policy as ucb1


def told(window: int, steps: int, rewards: list[list[float]]) -> tuple[list[int], State]:
    """The arms played when step t brings the whole reward of the pull made window - 1 steps before."""
    settings = policy.settings(len(rewards[0]), window)
    state, arms, drawn = policy.start(settings), [], []
    for t in range(steps):
        arm, length, split = policy.next_hold(settings, state, [])
        assert (length, split) == (1, 0)
        arms.append(arm)
        drawn.append(rewards[t][arm])
        policy.learn(settings, state, arm, 1, 0, 0.0, drawn[t - window + 1] if t >= window - 1 else 0.0)
    return arms, state


@pytest.mark.parametrize("seed", range(5))
def test_with_a_window_of_one_it_is_ucb1_decision_by_decision(seed: int) -> None:
    random = Random(seed)
    rewards = [[float(random.random() < mean) for mean in (0.4, 0.6, 0.5)] for _ in range(2000)]
    settings = ucb1.settings(3, 1)
    state, arms = ucb1.start(settings), []
    for t in range(2000):
        arm, _, _ = ucb1.next_hold(settings, state, [])
        ucb1.learn(settings, state, arm, 1, 0, 0.0, rewards[t][arm])
        arms.append(arm)
    assert told(1, 2000, rewards)[0] == arms


@pytest.mark.parametrize("window", [1, 2, 3, 7, 50])
def test_each_closed_pull_is_credited_to_the_arm_that_made_it(window: int) -> None:
    random = Random(window)
    rewards = [[random.random() for _ in range(4)] for _ in range(300)]
    arms, state = told(window, 300, rewards)
    closed = arms[: 300 - window + 1]
    assert state.closed == [closed.count(arm) for arm in range(4)]
    for arm in range(4):
        total = sum(rewards[t][arm] for t, played in enumerate(closed) if played == arm)
        assert state.sums[arm] == pytest.approx(total)


def test_every_arm_is_pulled_once_and_then_the_lowest_that_has_not_closed() -> None:
    rewards = [[0.0, 1.0, 0.0]] * 12
    # window 5: pulls 0, 1, 2 of arms 0, 1, 2 close at the end of steps 4, 5, 6
    assert told(5, 8, rewards)[0] == [0, 1, 2, 0, 0, 1, 2, 1]


def test_it_is_marked_as_a_reference_that_cannot_run_live() -> None:
    assert policy.privileged
    assert policy.every_step
    with pytest.raises(BadValue, match="window must be a whole number of at least 1"):
        policy.settings(2, 0)
