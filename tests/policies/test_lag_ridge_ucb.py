"""lag-ridge-ucb: ridge regression on the last arms, its stays, and the kernels it shows."""

import copy
import math
from typing import Any

import numpy as np
import pytest

from afterglow.errors import BadValue
from afterglow.policies import named
from afterglow.policies.lag_kernels import ENOUGH, Kernel, kernels
from afterglow.policies.lag_ridge_ucb import Settings, State, best_index, estimate, policy
from afterglow.policies.registry import version_of
from support.worlds.stationary import World, play, runs


def features(settings: Settings, arms: list[int]) -> np.ndarray:
    """The share of every (arm, bin) at every step, counted from scratch."""
    steps = len(arms)
    rows = np.zeros((steps, settings.arms, settings.bins))
    for k in range(settings.bins):
        lags = range(settings.edges[k], settings.edges[k + 1])
        for lag in lags:
            for t in range(lag, steps):
                rows[t, arms[t - lag], k] += 1 / len(lags)
    return rows.reshape(steps, -1)


def told(settings: Settings, arms: list[int], totals: list[float]) -> State:
    """The state after these arms and totals."""
    state = policy.start(settings)
    for arm, total in zip(arms, totals, strict=True):
        policy.learn(settings, state, arm, 1, 0, 0.0, total)
    return state


def exact_inverse(rows: np.ndarray) -> np.ndarray:
    inverse: np.ndarray = np.linalg.inv(np.eye(rows.shape[1]) + rows.T @ rows)
    return inverse


def test_it_is_registered_under_its_name() -> None:
    assert named("lag-ridge-ucb") is policy
    assert (policy.every_step, policy.needs(), policy.options()) == (True, ["window"], ["C"])


@pytest.mark.parametrize(
    ("window", "edges"),
    [(1, [0, 1]), (2, [0, 1, 2]), (3, [0, 1, 2, 3]), (4, [0, 1, 2, 4]), (5, [0, 1, 2, 4, 5]), (8, [0, 1, 2, 4, 8]),
     (24, [0, 1, 2, 4, 8, 16, 24])],
)  # fmt: skip
def test_bins_double_and_are_cut_at_the_window(window: int, edges: list[int]) -> None:
    settings = policy.settings(2, window)
    assert (settings.edges, settings.bins) == (edges, len(edges) - 1)


def test_two_steps_by_hand() -> None:
    """Window 2, arms 0 then 1: f = e_00, then e_10 + e_01 (arm 1 at lag 0, arm 0 at lag 1)."""
    settings = policy.settings(2, 2)
    state = told(settings, [0, 1], [0.5, 0.75])
    assert state.filled == [0, 1, 1, 0]
    assert state.weights == pytest.approx([0.25, 0.25, 0.25, 0.0])
    third = 1 / 3
    expected = [0.5, 0, 0, 0, 0, 2 * third, -third, 0, 0, -third, 2 * third, 0, 0, 0, 0, 1]
    assert state.inverse == pytest.approx(expected, abs=1e-15)
    mean, variance = estimate(settings, state, 0)
    assert mean == pytest.approx(0.25 + 0.25)
    assert variance == pytest.approx(0.5 + 2 * third)


def test_window_one_shrinks_means_as_if_a_zero_had_been_seen() -> None:
    settings = policy.settings(2, 1, options={"C": 0.3})
    state = told(settings, [0, 0, 1], [1.0, 0.5, 0.25])
    assert estimate(settings, state, 0) == pytest.approx((1.5 / 3, 1 / 3))
    assert estimate(settings, state, 1) == pytest.approx((0.25 / 2, 1 / 2))
    second = 0.125 + math.sqrt(0.3 * math.log(3) / 2)
    first = 0.5 + math.sqrt(0.3 * math.log(3) / 3)
    assert best_index(settings, state) == (0 if first >= second else 1)


def test_running_shares_and_inverse_equal_those_from_scratch() -> None:
    rng = np.random.default_rng(5)
    for arms, window in ((2, 1), (2, 2), (3, 5), (4, 11), (2, 24)):
        settings = policy.settings(arms, window)
        played = np.repeat(rng.integers(arms, size=60), rng.integers(1, 9, size=60)).tolist()
        totals = rng.random(len(played)).tolist()
        state = told(settings, played, totals)
        rows = features(settings, played)
        widths = [settings.edges[k + 1] - settings.edges[k] for k in range(settings.bins)] * arms
        assert state.filled == pytest.approx(rows[-1] * widths)
        assert np.array(state.inverse) == pytest.approx(exact_inverse(rows).ravel(), abs=1e-12)
        theta = exact_inverse(rows) @ rows.T @ np.array(totals)
        assert np.array(state.weights) == pytest.approx(theta, abs=1e-12)


def test_a_hundred_thousand_steps_leave_inverse_and_weights_exact_to_1e_8() -> None:
    horizon = 100_000
    settings = policy.settings(2, 4)
    run = play(policy, settings, World([0.5, 0.45], [0.25] * 4, horizon, 3), horizon)
    rows = features(settings, run.arms)
    exact = exact_inverse(rows)
    assert np.abs(np.array(run.state.inverse) - exact.ravel()).max() < 1e-10
    assert np.abs(np.array(run.state.weights) - exact @ rows.T @ np.array(run.totals)).max() < 1e-8
    for arm in range(2):
        bins = slice(3 * arm, 3 * arm + 3)
        assert estimate(settings, run.state, arm)[1] == pytest.approx(exact[bins, bins].sum(), rel=1e-6)


def test_each_arm_has_one_stay_first_then_stays_grow_with_a_tenth_of_the_pulls() -> None:
    settings = policy.settings(3, 10)
    run = play(policy, settings, World([0.8, 0.3, 0.5], [0.1] * 10, 4000, 1), 4000)
    assert run.arms[:9] == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    pulls = [0, 0, 0]
    asked = []
    clock = 0
    while clock < 4000:  # every arm changes only where a stay may end
        arm = run.arms[clock]
        stay = max(3, -(-pulls[arm] // 10))
        assert set(run.arms[clock : clock + stay]) == {arm}
        pulls[arm] += stay
        clock += stay
        asked.append(stay)
    assert max(asked) > 200


def test_holds_last_one_step_until_an_arm_fills_the_window_and_then_the_rest_of_the_stay() -> None:
    run = play(policy, policy.settings(3, 10), World([0.8, 0.3, 0.5], [0.1] * 10, 4000, 1), 4000)
    arms = [arm for arm, steps, _ in run.holds for _ in range(steps)]
    assert arms[: len(run.arms)] == run.arms
    clock = 0
    for _, steps, split in run.holds:
        assert split == 0
        level = clock >= 9 and len(set(arms[clock - 9 : clock + 1])) == 1
        assert level or steps == 1
        clock += steps
    assert max(steps for _, steps, _ in run.holds) > 200


@pytest.mark.parametrize(("arms", "window"), [(2, 1), (2, 2), (3, 10), (5, 7), (2, 60)])
def test_it_plays_as_version_1_which_learned_every_step_by_itself(arms: int, window: int) -> None:
    former = version_of("lag-ridge-ucb", 1)
    means = [0.6 - 0.05 * arm for arm in range(arms)]
    for seed in range(2):
        one, two = (
            play(each, each.settings(arms, window), World(means, [1 / window] * window, 1500, seed), 1500)
            for each in (former, policy)
        )
        assert two.arms == one.arms
        assert len(two.holds) < len(one.holds) / (1.2 if window == 60 else 2)
        assert two.state.weights == pytest.approx(one.state.weights, abs=1e-9)
        assert two.state.inverse == pytest.approx(one.state.inverse, abs=1e-9)


def test_the_index_picks_the_largest_of_mean_plus_radius() -> None:
    settings = policy.settings(3, 6)
    rng = np.random.default_rng(8)
    for _ in range(20):
        arms = np.repeat(rng.permutation(3), rng.integers(3, 12, size=3)).tolist()
        totals = rng.random(len(arms)).tolist()
        rows = features(settings, arms)
        inverse = exact_inverse(rows)
        theta = (inverse @ rows.T @ np.array(totals)).reshape(3, -1).sum(1)
        bins = np.kron(np.eye(3), np.ones(settings.bins))
        radius = np.sqrt(0.5 * math.log(len(arms)) * np.diag(bins @ inverse @ bins.T))
        assert best_index(settings, told(settings, arms, totals)) == int(np.argmax(theta + radius))


def test_an_arm_never_played_comes_first_and_a_tie_goes_to_the_lowest() -> None:
    settings = policy.settings(3, 1)
    assert best_index(settings, told(settings, [0, 2], [1.0, 1.0])) == 1
    assert best_index(settings, told(settings, [2, 1, 0], [0.5, 0.5, 0.5])) == 0


def test_asking_twice_changes_nothing() -> None:
    settings = policy.settings(3, 5)
    state = policy.start(settings)
    before = copy.deepcopy(state)
    assert policy.next_hold(settings, state, []) == policy.next_hold(settings, state, []) == (0, 1, 0)
    assert state == before


TRUE = np.array([[0.2, 0.1, 0.05, 0.05], [0.0, 0.0, 0.15, 0.15]])  # level within bins


def shown(steps: int, seed: int) -> list[Kernel]:
    """Kernels after arms at random in short stays, each arm with a kernel of its own."""
    rng = np.random.default_rng(seed)
    arms = np.repeat(rng.integers(2, size=steps), rng.integers(1, 6, size=steps))[:steps]
    means = TRUE.sum(1)
    rewards = rng.random(steps) < means[arms]
    totals = np.zeros(steps + 4)
    for lag in range(4):
        totals[lag : lag + steps] += np.where(rewards, TRUE[arms, lag] / means[arms], 0.0)
    settings = policy.settings(2, 4)
    return kernels(settings, told(settings, arms.tolist(), totals[:steps].tolist()))


@pytest.mark.parametrize("steps", [2_000, 20_000])
def test_means_and_the_excess_over_the_average_arm_converge(steps: int) -> None:
    for kernel, weights in zip(shown(steps, 6), TRUE, strict=True):
        assert kernel.error < 2.5 / math.sqrt(steps)
        assert abs(kernel.mean - weights.sum()) < 5 * kernel.error
        for lags in kernel.lags:
            assert lags.excess_error < 2.5 / math.sqrt(steps)
            assert abs(lags.excess - (weights - TRUE.mean(0))[lags.first]) < 5 * lags.excess_error


def test_the_shape_common_to_all_arms_stays_unknown_and_the_errors_say_so() -> None:
    """Some arm is always played: a part moved from one lag to another in every arm changes no total."""
    for steps in (2_000, 20_000):
        for kernel, weights in zip(shown(steps, 7), TRUE, strict=True):
            for lags in kernel.lags:
                assert lags.error > 0.2 / (lags.last - lags.first + 1)
                assert abs(lags.weight - weights[lags.first]) < 2 * lags.error


def test_errors_of_means_are_about_right_in_its_own_play() -> None:
    """Standardised deviations of 40 runs x 2 arms: their mean square is 1 within a factor 2."""
    means = [0.5, 0.4]
    settings = policy.settings(2, 4)
    squares = []
    for seed in range(40):
        state = play(policy, settings, World(means, [0.25] * 4, 1500, seed), 1500).state
        for mean, kernel in zip(means, kernels(settings, state), strict=True):
            squares.append(((kernel.mean - mean) / kernel.error) ** 2)
    assert 0.4 < sum(squares) / len(squares) < 2.0


def test_kernels_of_arms_never_played_are_unknown() -> None:
    settings = policy.settings(2, 4)
    fresh, _ = kernels(settings, policy.start(settings))
    assert fresh.mean == 0.0
    assert fresh.error == pytest.approx(math.sqrt(3))
    assert [(lags.first, lags.last, lags.weight, lags.error) for lags in fresh.lags] == [
        (0, 0, 0.0, 1.0), (1, 1, 0.0, 1.0), (2, 3, 0.0, 0.5),
    ]  # fmt: skip


def test_noise_is_the_long_run_variance_of_forecast_errors() -> None:
    """A reward of variance 1/4 that is paid in four parts has step errors of 1/16, but sums of variance 1/4."""
    settings = policy.settings(2, 4)
    state = play(policy, settings, World([0.5, 0.5], [0.25] * 4, 8000, 2), 8000).state
    assert 8000 // 16 > state.batches > 5 * ENOUGH  # a long hold is one of them
    assert state.batch_squares / (16 * state.batches) == pytest.approx(0.25, rel=0.35)


def test_regret_is_well_below_uniform_play() -> None:
    means = [0.4, 0.6, 0.5]
    regrets = []
    for kernel in ([1 / 6] * 6, [0, 0, 0, 0, 0, 1.0], [1.0, 0, 0, 0, 0, 0]):
        for seed in range(4):
            settings = policy.settings(3, 6)
            regrets.append(play(policy, settings, World(means, kernel, 2000, seed), 2000).regret(means))
    assert sum(regrets) / len(regrets) < 0.45 * 2000 * 0.1


def test_few_runs_even_over_many_steps() -> None:
    settings = policy.settings(2, 4)
    run = play(policy, settings, World([0.6, 0.4], [0.25] * 4, 5000, 1), 5000)
    assert len(runs(run.arms)) < 150


def test_the_state_survives_json_before_every_step() -> None:
    settings = policy.settings(3, 6)
    straight, stored = (
        play(policy, settings, World([0.5, 0.4, 0.6], [0.3, 0.2, 0.1, 0.1, 0.2, 0.1], 400, 4), 400, stored)
        for stored in (False, True)
    )
    assert straight == stored


@pytest.mark.parametrize(
    ("arms", "window", "options", "message"),
    [
        (1, 3, {}, "arms must be a whole number of at least 2, got 1"),
        (2, 0, {}, r"window must be a whole number of at least 1 \(1 = paid at once\), got 0"),
        (2, 3, {"C": 0}, "C must be a number above 0, got 0"),
        (200, 100, {}, "lag-ridge-ucb must not have more than 1,000 unknowns, 200 arms x 8 lag bins are 1,600; "
         "take at most 125 arms or use washout-ucb"),
    ],
)  # fmt: skip
def test_what_it_cannot_use_is_refused_with_the_way_out(
    arms: int, window: int, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadValue, match=f"^{message}$"):
        policy.settings(arms, window, options=options)
