"""switchback: the schedule, what it learns, and what it refuses."""

import warnings

import pytest

from afterglow.errors import TOO_SHORT, AfterglowWarning, BadValue
from afterglow.policies import named
from afterglow.policies.season import seasonal
from afterglow.policies.switchback import Settings, State, best, blocks_of, least_p, policy


def play(settings: Settings, means: list[list[float]], draw: float = 0.0) -> State:
    """Play the schedule with the given mean of each arm in each block."""
    state = policy.start(settings)
    for row in means:
        for _ in row:
            arm, steps, split = policy.next_hold(settings, state, [draw])
            policy.learn(settings, state, arm, steps, split, 99.0, row[arm] * (steps - split))
    return state


def test_every_turn_is_a_washout_and_the_counted_steps_also_if_the_arm_stays() -> None:
    assert named("switchback") is policy
    assert (policy.needs(), policy.options()) == (["window", "horizon"], ["hold", "until", "season"])
    settings = policy.settings(2, 24, 1_000)
    assert (settings.blocks, settings.washout, settings.counted) == (10, 23, 24)
    state = policy.start(settings)
    played = []
    for draw in (0.9, 0.9, 0.0, 0.0):  # the second arm, then the only one left; the first, then the other
        arm, steps, split = policy.next_hold(settings, state, [draw])
        assert (steps, split) == (47, 23)
        policy.learn(settings, state, arm, steps, split, 500.0, 24.0 * (arm + 1))
        played.append(arm)
    assert played == [1, 0, 0, 1]
    assert state.means[:4] == [1.0, 2.0, 1.0, 2.0]  # heads are not counted
    assert state.places[:4] == [2, 1, 1, 2]
    assert (state.block, state.turn, state.clock) == (2, 0, 188)


def test_each_order_of_a_block_is_equally_probable() -> None:
    settings = policy.settings(4, 1, 100)
    counts: dict[tuple[int, ...], int] = {}
    for first in range(4):
        for second in range(3):
            for third in range(2):
                state, order = policy.start(settings), []
                for draw in ((first + 0.5) / 4, (second + 0.5) / 3, (third + 0.5) / 2, 0.3):
                    arm, steps, split = policy.next_hold(settings, state, [draw])
                    policy.learn(settings, state, arm, steps, split, 0.0, 1.0)
                    order.append(arm)
                counts[tuple(order)] = counts.get(tuple(order), 0) + 1
    assert len(counts) == 24
    assert set(counts.values()) == {1}


def test_after_the_last_block_the_best_arm_is_kept_to_the_horizon() -> None:
    settings = policy.settings(2, 3, 120, {"until": 89})
    assert settings.blocks == 89 // 10
    state = play(
        settings, [[2.0, 1.0], [1.0, 3.0], [1.0, 2.0], [0.0, 1.0], [4.0, 1.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0]]
    )
    assert policy.next_hold(settings, state, [0.0]) == (1, 40, 0)
    policy.learn(settings, state, 1, 40, 0, 0.0, 1e9)
    assert best(settings, state) == 1
    blocks = blocks_of(settings, state)
    assert (blocks.ended, blocks.ends, blocks.left_out, len(blocks.rows)) == (True, 80, 0, 8)


def test_before_a_block_is_whole_the_arm_of_largest_mean_so_far_is_recommended() -> None:
    settings = policy.settings(3, 2, 200)
    state = policy.start(settings)
    for draw, mean in ((0.4, 1.0), (0.9, 2.0)):
        arm, steps, split = policy.next_hold(settings, state, [draw])
        policy.learn(settings, state, arm, steps, split, 0.0, mean * (steps - split))
    assert best(settings, state) == 2
    assert not blocks_of(settings, state).ended


def test_a_turn_that_was_cut_short_leaves_its_block_out() -> None:
    settings = policy.settings(2, 4, 210)
    state = play(settings, [[1.0, 2.0]] * 3)
    policy.learn(settings, state, 0, 5, 3, 0.0, 1e6)
    assert (state.block, state.turn) == (3, 1)
    arm, steps, split = policy.next_hold(settings, state, [0.0])
    assert arm == 1  # the rest of the block is played
    policy.learn(settings, state, arm, steps, split, 0.0, 1e6)
    arm, steps, split = policy.next_hold(settings, state, [0.0])
    policy.learn(settings, state, arm, steps, split, 0.0, 1.0)
    arm, steps, split = policy.next_hold(settings, state, [0.0])
    policy.learn(settings, state, arm, steps - 1, split, 0.0, 1e6)  # one step less: the block is broken
    state_rows = blocks_of(settings, state)
    assert state_rows.rows == ((1.0, 2.0),) * 3
    assert state_rows.left_out == settings.blocks - 3
    assert best(settings, state) == 1


def test_counted_steps_are_whole_seasons() -> None:
    assert policy.settings(2, 24, 2_000, {"hold": 30, "season": 24}).counted == 48
    aligned = seasonal(policy, 7)
    assert aligned.settings(2, 5, 500).counted == 7


def test_an_unset_hold_keeps_blocks_few() -> None:
    settings = policy.settings(2, 1, 1_000_000)
    assert settings.blocks == 500
    with pytest.raises(BadValue, match="hold must leave at most 10,000 blocks, got 500,000"):
        policy.settings(2, 1, 1_000_000, {"hold": 1})


def test_too_few_blocks_are_refused_and_few_are_warned_of() -> None:
    with pytest.raises(BadValue, match=r"2 blocks of 2 turns of 23 \+ 24 steps = 188, there are 187") as refusal:
        policy.settings(2, 24, 187)
    assert (refusal.value.kind, refusal.value.field) == (TOO_SHORT, "horizon")
    with pytest.raises(BadValue, match="until must be at most the horizon, 500, got 501"):
        policy.settings(2, 24, 500, {"until": 501})
    with pytest.warns(AfterglowWarning, match=r"below 1.6 %; 8 blocks, 752 steps, reach 1 %"):
        policy.settings(2, 24, 7 * 94)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        policy.settings(2, 24, 8 * 94)


def test_the_least_p_is_that_of_one_order_up_to_names() -> None:
    assert [least_p(2, blocks) for blocks in (5, 6, 8)] == [2 / 2**5, 2 / 2**6, 2 / 2**8]
    assert least_p(3, 3) == 1 / 36
    assert least_p(300, 900) == 0.0
