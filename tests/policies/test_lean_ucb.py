"""lean-ucb: decides as its description reads and notices a short window."""

import copy
import math
import warnings
from typing import Any

import pytest

from afterglow.engine.simulate import simulate
from afterglow.errors import AfterglowWarning, BadValue
from afterglow.policies import named
from afterglow.policies.lean.state import BLOCK, KEPT, degrees, scatter
from afterglow.policies.lean_ucb import Settings, State, configure, index, policy, recommend, variance
from afterglow.worlds import world
from support.oracles.lean_ucb import Text
from support.worlds.stationary import Played, World, play, runs


def uniform(window: int) -> list[float]:
    return [1 / window] * window


def played(means: list[float], window: int, horizon: int, seed: int, **world: Any) -> tuple[Settings, Played]:
    settings = policy.settings(len(means), window, horizon)
    kernel = world.pop("kernel", uniform(window))
    return settings, play(policy, settings, World(means, kernel, horizon, seed, **world), horizon)


def test_it_is_registered_under_its_name() -> None:
    assert named("lean-ucb") is policy
    assert policy.needs() == ["window", "horizon"]
    assert policy.options() == ["season", "noise"]


def test_lengths_follow_from_window_horizon_and_season() -> None:
    plain = policy.settings(2, 10, 1000)  # h = 5, b = 8, m1 = 35 - 9
    assert (plain.least, plain.first, plain.sizes) == (5, 26, [8, 8, 10])
    weekly = policy.settings(2, 10, 1000, {"season": 7})  # 26 is nearest to 28
    assert (weekly.least, weekly.first, weekly.sizes) == (7, 28, [14, 14, 14])
    long = policy.settings(2, 41, 164)  # T = 2 K d: 6 - 40 < 1, so h
    assert (long.least, long.first, long.sizes) == (21, 21, [21, 21, 41])
    at_once = policy.settings(3, 1, 6)
    assert (at_once.least, at_once.first, at_once.sizes) == (1, 1, [1, 1, 1])


def test_pieces_end_at_batches_the_young_steps_and_the_hold() -> None:
    """Window 10: 9 discarded, then kept steps with ends at 8, 16, 24 (b), 10, 20 (blocks, young), 18, 26 (old)."""
    _, run = played([0.6, 0.4], 10, 1000, seed=1)
    assert run.holds[:8] == [
        (0, 17, 9), (0, 2, 0), (0, 6, 0), (0, 2, 0), (0, 2, 0), (0, 4, 0), (0, 2, 0), (1, 17, 9),
    ]  # fmt: skip


def test_asking_twice_changes_nothing() -> None:
    settings = policy.settings(3, 5, 200)
    state = policy.start(settings)
    before = copy.deepcopy(state)
    assert policy.next_hold(settings, state, []) == policy.next_hold(settings, state, [])
    assert state == before


@pytest.mark.parametrize(
    ("arms", "window", "told", "horizon", "season", "noise"),
    [
        (2, 8, 8, 400, 1, 0.0),
        (3, 16, 16, 2000, 1, 0.0),
        (4, 1, 1, 300, 1, 0.0),
        (3, 4, 4, 600, 1, 0.3),
        (2, 8, 8, 900, 6, 0.0),
        (3, 16, 16, 3000, 24, 0.1),
        (2, 64, 64, 256, 1, 0.0),
        (2, 32, 8, 2000, 1, 0.0),  # the window is longer than told
        (3, 16, 3, 2500, 1, 0.0),
    ],
)
def test_sums_and_pieces_decide_as_the_text_step_by_step(
    arms: int, window: int, told: int, horizon: int, season: int, noise: float
) -> None:
    settings = policy.settings(arms, told, horizon, {"season": season, "noise": noise})
    means = [0.5, 0.42, 0.58, 0.45][:arms]
    alarms = 0
    for seed in range(12):
        spread = -1.0 if seed % 2 else 0.0625
        text = Text(arms, told, horizon, season, noise)
        expected = text.play(World(means, uniform(window), horizon, seed, spread))
        run = play(policy, settings, World(means, uniform(window), horizon, seed, spread), horizon)
        assert run.arms == expected
        assert text.summary() == {"alarms": run.state.alarms, "w": run.state.washout, "n": run.state.kept}
        alarms += text.alarms
    assert alarms == 0 or told < window


def test_batches_never_span_two_runs() -> None:
    settings, run = played([0.5, 0.48, 0.46], 16, 2000, seed=3)
    assert run.state.alarms == 0
    assert len(runs(run.arms)) > 4
    for kind in (KEPT, BLOCK):
        size = settings.sizes[kind]
        means: list[list[float]] = [[], [], []]
        for arm, begin, end in runs(run.arms):
            for first in range(begin + 15, end - size + 1, size):
                means[arm].append(sum(run.totals[first : first + size]) / size)
        place = slice(kind * 3, kind * 3 + 3)
        assert run.state.batches[place] == [len(batches) for batches in means]
        assert run.state.batch_sums[place] == pytest.approx([sum(batches) for batches in means])
        squares = [sum((mean - sum(batches) / len(batches)) ** 2 for mean in batches) for batches in means]
        assert scatter(settings, run.state, kind) == pytest.approx(size * sum(squares))
        assert degrees(settings, run.state, kind) == sum(len(batches) - 1 for batches in means)


def crafted() -> tuple[Settings, State]:
    """Two arms after 300 of 1,000 steps: means 0.5 and 0.4, batches of 8 steps 0.4, 0.6 and 0.3, 0.5."""
    settings = policy.settings(2, 10, 1000)
    state = policy.start(settings)
    state.clock, state.arm = 300, 1
    state.kept[:], state.sums[:] = [100, 50], [50.0, 20.0]
    state.batches[:2], state.batch_sums[:2], state.batch_squares[:2] = [2, 2], [1.0, 0.8], [0.52, 0.34]
    return settings, state


def test_index_and_variance_by_hand() -> None:
    settings, state = crafted()
    # q = 70/150, SS = 8 * (0.02 + 0.02), df = 2
    v = (2 * (70 / 150 / 4) ** 2 + 0.32) / 4
    assert variance(settings, state) == pytest.approx(v, rel=1e-12)
    bonus = math.sqrt(0.6 * v * math.log(700 / (2 * 50)) / 50)
    assert index(settings, state, 1, 0.6 * v) == pytest.approx(0.4 + bonus, rel=1e-12)


def test_noise_known_from_history_replaces_the_prior() -> None:
    settings = policy.settings(2, 10, 1000, {"noise": 0.2})
    assert variance(settings, crafted()[1]) == pytest.approx((2 * 0.04 + 0.32) / 4, rel=1e-12)


def test_variance_stays_between_its_limits() -> None:
    settings, state = crafted()
    state.batch_squares[0] = 9.0
    assert variance(settings, state) == pytest.approx(70 / 150 * 80 / 150)
    state.sums[:] = [0.0, 0.0]
    assert variance(settings, state) == 1e-6


def test_a_tie_goes_to_the_arm_in_play_then_to_the_lowest() -> None:
    settings = policy.settings(3, 2, 1000)
    for current, expected in ((2, 2), (0, 0)):
        state = policy.start(settings)
        state.kept[:], state.sums[:] = [50, 50, 50], [25.0, 25.0, 25.0]
        state.clock, state.arm, state.age, state.left = 300, current, 10, 1
        policy.learn(settings, state, current, 1, 1, 0.0, 0.0)
        assert state.arm == expected
    state = policy.start(settings)
    state.kept[:], state.sums[:] = [50, 50, 50], [20.0, 25.0, 25.0]
    state.clock, state.arm, state.age, state.left = 300, 0, 10, 1
    policy.learn(settings, state, 0, 1, 1, 0.0, 0.0)
    assert (state.arm, state.age, state.left) == (1, 0, 20 + 1)


def test_a_hold_lasts_two_fifths_of_the_kept_steps_in_whole_seasons() -> None:
    for season, expected in ((1, 21), (7, 21), (10, 30)):
        settings = policy.settings(2, 2, 1000, {"season": season})
        state = policy.start(settings)
        state.kept[:], state.sums[:] = [51, 51], [40.0, 10.0]
        state.clock, state.age, state.left = 300, 10, 1
        policy.learn(settings, state, 0, 1, 1, 0.0, 0.0)
        assert (state.arm, state.left) == (0, expected)


def test_recommended_is_the_largest_washed_mean() -> None:
    settings, state = crafted()
    assert recommend(settings, state) == 0
    state.sums[1] = 30.0
    assert recommend(settings, state) == 1
    state.sums[1] = 25.0
    assert recommend(settings, state) == 0
    state.kept[0], state.sums[0] = 0, 0.0
    assert recommend(settings, state) == 1


def test_the_alarm_sounds_when_the_window_is_too_short() -> None:
    for seed in range(40):
        _, run = played([0.5, 0.35], 12, 2000, seed, kernel=uniform(24), noise=0.08)
        assert run.state.alarms >= 1
        assert run.state.washout >= 23


def test_the_alarm_is_silent_when_the_window_is_long_enough() -> None:
    """About one run in 200; 12 of 300 would be the one chance in a million."""
    false = 0
    for seed in range(300):
        _, run = played([0.5, 0.45], 8, 600, seed)
        false += run.state.alarms > 0
    assert false <= 6


def test_rewards_without_noise_raise_no_alarm() -> None:
    for window in (3, 7, 10, 23):
        _, run = played([0.3, 0.1, 0.2], window, 1500, 1, noise=0.0)
        assert run.state.alarms == 0
        assert run.arms[-1] == 0


def test_the_alarm_keeps_the_old_steps_alone() -> None:
    settings = policy.settings(2, 4, 400)
    state = policy.start(settings)
    state.clock, state.age, state.left = 100, 60, 1
    state.kept[:], state.sums[:] = [50, 50], [30.0, 20.0]
    state.young[:], state.young_sums[:] = [20, 20], [2.0, 6.0]
    state.old[:], state.old_sums[:] = [30, 30], [28.0, 14.0]
    state.batches[:] = [12, 12, 7, 6, 12, 12]
    state.batch_sums[:] = [6.0, 6.0, 3.5, 3.0, 6.0, 6.0]
    state.batch_squares[:] = [3.1, 3.1, 1.76, 1.51, 3.1, 3.1]
    state.open_steps[:], state.open_sums[:] = [1, 2, 3], [0.5, 0.5, 0.5]
    policy.learn(settings, state, 0, 1, 1, 0.0, 0.0)
    assert (state.alarms, state.washout) == (1, 7)
    assert (state.kept, state.sums) == ([30, 30], [28.0, 14.0])
    assert state.young == state.old == [0, 0]
    assert state.young_sums == state.old_sums == [0.0, 0.0]
    assert state.batches == [7, 6, 0, 0, 0, 0]
    assert state.batch_sums == [3.5, 3.0, 0.0, 0.0, 0.0, 0.0]
    assert state.batch_squares == [1.76, 1.51, 0.0, 0.0, 0.0, 0.0]
    assert state.open_steps == [0, 0, 0]


def test_regret_is_well_below_uniform_play() -> None:
    """Over mixed small settings; uniform play is 1."""
    shares = []
    for seed, (window, horizon, gap, noise) in enumerate(
        [(4, 300, 0.15, 0.1), (12, 800, 0.1, 0.1), (24, 1500, 0.08, 0.1), (6, 1000, 0.2, -1), (48, 4000, 0.15, -1)]
    ):
        means = [0.5, 0.5 * (1 - gap), 0.5 * (1 - gap / 2)]
        uniform_play = horizon * (0.5 - sum(means) / 3)
        for again in range(20):
            _, run = played(means, window, horizon, 100 * seed + again, noise=noise)
            shares.append(run.regret(means) / uniform_play)
    assert sum(shares) / len(shares) < 0.55


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((3, 24, 100), "lean-ucb needs 2 x 3 arms x 24 steps = 144, the horizon is 100; "
         "lengthen it or shorten the window to 16"),
        ((30, 2, 50), "lean-ucb needs 2 x 30 arms x 2 steps = 120, the horizon is 50; lengthen it or take fewer arms"),
        ((2, 2, 3), "lean-ucb needs 2 x 2 arms x 2 steps = 8, the horizon is 3; lengthen it"),
        ((1, 2, 50), "arms must be a whole number of at least 2, got 1"),
        ((2, 0, 50), r"window must be a whole number of at least 1 \(1 = paid at once\), got 0"),
        ((2, 1, None), "lean-ucb needs horizon; give it"),
        ((2, 2, 100, 0), r"season must be a whole number of at least 1 \(1 = none\), got 0"),
        ((2, 2, 100, 60), "season must be short enough to try 2 arms for 60 steps after 1 discarded ones within the "
         "horizon of 100, got 60; lengthen the horizon to 122 or set season to 1"),
        ((2, 2, 100, 1, 0.6), "noise must be a number of at least 0 and at most 0.5 "
         r"\(standard deviation of one pull as a share of reward_max, 0 = unknown\), got 0.6"),
    ],
)  # fmt: skip
def test_what_it_cannot_use_is_refused_with_the_way_out(given: tuple[Any, ...], message: str) -> None:
    arms, window, horizon, *rest = given
    options = dict(zip(("season", "noise"), rest, strict=False))
    with pytest.raises(BadValue, match=f"^{message}$"):
        policy.settings(arms, window, horizon, options)


@pytest.mark.parametrize(("window", "told"), [(8, 8), (32, 8)])
def test_the_state_survives_json_before_every_hold(window: int, told: int) -> None:
    settings = policy.settings(3, told, 1500)
    means = [0.5, 0.4, 0.45]
    straight, stored = (
        play(policy, settings, World(means, uniform(window), 1500, 4, 0.05), 1500, stored) for stored in (False, True)
    )
    assert straight == stored
    assert (straight.state.alarms > 0) == (told < window)


def test_a_hold_that_ends_early_goes_on_where_it_was() -> None:
    settings = policy.settings(2, 10, 1000)
    state = policy.start(settings)
    policy.learn(settings, state, 0, 4, 4, 2.0, 0.0)
    assert policy.next_hold(settings, state, []) == (0, 5 + 8, 5)
    policy.learn(settings, state, 0, 8, 5, 2.0, 1.5)
    assert policy.next_hold(settings, state, []) == (0, 5, 0)
    assert (state.kept, state.sums, state.left) == ([3, 0], [1.5, 0.0], 23)


def test_a_horizon_far_too_long_for_it_is_warned_of() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        policy.settings(5, 10, 100_000)
    with pytest.warns(AfterglowWarning, match=r"in proportion to a horizon of 100,001; use thrift-ucb above 100,000$"):
        policy.settings(5, 10, 100_001)


def test_beyond_its_range_batches_are_longer_and_as_many() -> None:
    with pytest.warns(AfterglowWarning, match="lean-ucb is for short experiments"):
        long = configure(5, 10, 1_000_000)
    assert configure(5, 10, 100_000).sizes == [8, 8, 10]
    assert long.sizes == [80, 80, 100]
    with pytest.warns(AfterglowWarning, match="lean-ucb is for short experiments"):
        played = simulate("lean-ucb", world.World.of([0.9, 0.8, 0.7], 10), 1e9, runs=1)
    assert played.holds[0] < 60_000
