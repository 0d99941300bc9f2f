"""trim-ucb: it decides as described, to the end of the horizon or without one, and can use what is known of noise."""

import json
import math
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterglow.errors import BadValue
from afterglow.policies import named
from afterglow.policies.terms import kldown, klup
from afterglow.policies.trim.bounds import State, pooled_variance
from afterglow.policies.trim.report import intervals, recommend
from afterglow.policies.trim_ucb import policy
from support.oracles.trim_ucb import Text
from support.worlds.payments import SPREADS, PaymentWorld, play

DUST = 1e-9
worlds = {
    "means": st.lists(st.floats(0, 1), min_size=2, max_size=4),
    "window": st.integers(1, 9),
    "spread": st.sampled_from(sorted(SPREADS)),
    "seed": st.integers(0, 2**32),
}
searching = settings(max_examples=50)


def test_it_is_registered_and_needs_the_window_alone() -> None:
    assert named("trim-ucb") is policy
    assert policy.needs() == ["window"]
    assert policy.options() == ["level", "endgame", "variance"]


# ---- how it decides


@searching
@given(**worlds, level=st.sampled_from(["plain", "strict", "plus"]), horizon=st.sampled_from([None, 400, 1_500]))
def test_it_decides_as_its_description_reads(
    means: list[float], window: int, spread: str, seed: int, level: str, horizon: int | None
) -> None:
    books = PaymentWorld(means, window, spread, seed)
    text = Text(len(means), window, horizon, min(16 * window, (horizon or 0) / 2), level)
    plan = policy.settings(len(means), window, horizon, {"level": level})
    state, left = policy.start(plan), horizon or 1_500
    while left:
        arm, steps, split = policy.next_hold(plan, state, [])
        steps = min(steps, left)
        totals = []
        for _ in range(steps):
            assert text.arm == arm
            totals.append(books.step(arm))
            text.tell(totals[-1])
        policy.learn(plan, state, arm, steps, min(split, steps), sum(totals[:split]), sum(totals[split:]))
        left -= steps


def test_the_first_holds_worked_out_by_hand() -> None:
    """Window 4: w = 3, 19 steps an arm. Arm 0 pays 1 a step at once, arm 1 nothing."""
    plan = policy.settings(2, 4, 10_000)
    state = policy.start(plan)
    assert policy.next_hold(plan, state, []) == (0, 19, 3)
    policy.learn(plan, state, 0, 19, 3, 3.0, 16.0)
    f = math.log(10_000)
    assert state.highs == [1.0, 2.0]
    assert state.means[0] == 1.0
    assert intervals(plan, state)[0][0] == pytest.approx(kldown(16, 19, f))
    assert policy.next_hold(plan, state, []) == (1, 19, 3)  # never played: 2 beats 1
    policy.learn(plan, state, 1, 19, 3, 0.0, 0.0)
    assert state.highs[1] == pytest.approx(1 - math.exp(-f / 16))  # 16 log(1/(1-q)) = f
    assert (state.faded, state.arm, state.age) == (0, 0, 0)  # below the mean of arm 0 already: back
    assert (state.closed_sums[0], state.closed_pulls[0], state.run_pulls[0]) == (19.0, 19, 0)  # it owed nothing
    assert policy.next_hold(plan, state, []) == (0, 3 + 19, 3)  # a head and as many as ever
    policy.learn(plan, state, 0, 22, 3, 3.0, 19.0)
    assert policy.next_hold(plan, state, []) == (0, 2, 0)  # ceil(1.05 * 22) = 24


def test_a_fading_arm_is_played_on_until_it_falls_below_the_other() -> None:
    plan = policy.settings(2, 1, 10_000)
    state = policy.start(plan)
    policy.learn(plan, state, 0, 16, 0, 0.0, 13.0)
    policy.learn(plan, state, 1, 16, 0, 0.0, 6.0)
    assert state.highs[0] > state.highs[1] > state.means[0]  # not the leader, but not yet rejected either
    assert (state.arm, state.faded, state.until) == (1, 16, 17)
    total = 6.0
    while state.arm == 1:
        assert state.age < 6 * 16
        _, steps, _ = policy.next_hold(plan, state, [])
        total += 0.375 * steps
        policy.learn(plan, state, 1, steps, 0, 0.0, 0.375 * steps)
    assert klup(total, state.pulls[1], math.log(10_000)) < state.means[0]


def test_a_close_arm_is_not_played_on() -> None:
    plan = policy.settings(2, 1, 10_000)
    state = policy.start(plan)
    policy.learn(plan, state, 0, 16, 0, 0.0, 13.0)
    policy.learn(plan, state, 1, 16, 0, 0.0, 12.0)  # 96 pulls of this kind would not reject it
    assert (state.arm, state.last) == (0, 1)


def test_a_tie_keeps_the_arm_in_play_and_then_the_lowest() -> None:
    plan = policy.settings(3, 1, 10_000)
    state = policy.start(plan)
    for arm in range(3):
        assert policy.next_hold(plan, state, [])[0] == arm
        policy.learn(plan, state, arm, 16, 0, 0.0, 8.0)
    assert (state.arm, state.age) == (2, 16)
    policy.learn(plan, state, 2, 1, 0, 0.0, 0.0)
    assert (state.arm, state.last) == (0, 2)


# ---- the end, the horizon, the options


def test_in_the_endgame_it_plays_the_highest_mean() -> None:
    plan = policy.settings(2, 1, 40, {"endgame": 10})
    state = policy.start(plan)
    policy.learn(plan, state, 0, 16, 0, 0.0, 8.0)
    policy.learn(plan, state, 1, 16, 0, 0.0, 9.0)
    assert (state.arm, state.clock) == (1, 32)
    for _ in range(2):
        policy.learn(plan, state, 1, 1, 0, 0.0, 0.0)  # 9/17, then 9/18
    assert state.highs[0] > state.highs[1]
    assert (state.arm, state.age) == (1, 18)  # a tie of the means: it stays
    policy.learn(plan, state, 1, 1, 0, 0.0, 0.0)
    assert state.arm == 0


def test_the_endgame_is_sixteen_windows_or_half_the_horizon_unless_set() -> None:
    assert policy.settings(2, 5, 1_000).endgame == 80
    assert policy.settings(2, 5, 101).endgame == 51  # fewer than 50.5 steps left
    assert policy.settings(2, 5, 1_000, {"endgame": 0}).endgame == 0
    assert policy.settings(2, 5).endgame == 0


def test_without_a_horizon_the_guess_grows_sixteenfold_and_all_bounds_with_it() -> None:
    plan = policy.settings(3, 5)
    assert policy.start(plan).reach == 4 * 3 * (4 + 16)
    books = PaymentWorld([0.8, 0.4, 0.3], 5, "dice", seed=4)
    reaches = []

    def look(state: State) -> None:
        if state.reach not in reaches:
            reaches.append(state.reach)
            tried = [arm for arm in range(3) if state.run_pulls[arm] and arm != state.arm]
            assert [state.highs[arm] for arm in tried] == [intervals(plan, state)[2][arm] for arm in tried]
        assert state.clock < state.reach

    state, _ = play(policy, plan, books, 20_000, look)
    assert reaches == [240, 240 * 16, 240 * 256]
    assert books.regret() < 400  # uniform play loses 6,000
    assert recommend(plan, state) == 0


@pytest.mark.parametrize("variance", ["none", "estimated"])
@pytest.mark.parametrize("horizon", [None, 3_000])
def test_its_state_survives_json_at_every_hold(variance: str, horizon: int | None) -> None:
    plan = policy.settings(3, 6, horizon, {"variance": variance})
    kept, stored = (
        play(policy, plan, PaymentWorld([0.7, 0.6, 0.2], 6, "dice", seed=9), 3_000, stored=stored)
        for stored in (False, True)
    )
    assert kept == stored


def test_it_recommends_the_best_mean_in_a_short_experiment_and_else_the_best_lower_bound() -> None:
    short, long, open_end = policy.settings(2, 5, 999), policy.settings(2, 5, 1_000), policy.settings(2, 5)
    state = policy.start(long)
    state.pulls, state.means, state.clock = [600, 30], [0.5, 0.6], 630
    state.run_pulls, state.run_sums = [600, 30], [300.0, 18.0]
    state.kept_steps, state.kept_sums = [596, 26], [298.0, 15.6]
    assert (recommend(short, state), recommend(long, state), recommend(open_end, state)) == (1, 0, 1)
    state.pulls[1] = 0
    assert recommend(short, state) == 0  # arms never played don't count


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"arms": 1}, "arms must be a whole number of at least 2, got 1"),
        ({"window": 0}, "window must be a whole number of at least 1 (1 = paid at once), got 0"),
        ({"horizon": 0}, "horizon must be a whole number of at least 1, got 0"),
        ({"level": "plian"}, "no level named 'plian'; did you mean 'plain'? it is one of plain, strict, plus"),
        ({"endgame": -1}, "endgame must be a whole number of at least 0 (0 = none), got -1"),
        (
            {"endgame": 9, "horizon": None},
            "endgame counts back from the horizon and there is none, got 9; give horizon or leave endgame out",
        ),
        *(
            (
                {"variance": wrong},
                "variance must be none, estimated or a number above 0 and up to 0.25 "
                f"(the most a reward in [0, 1] can have), got {wrong!r}",
            )
            for wrong in ("much", "0", "0.3", "nan", -1)
        ),
    ],
)
def test_values_it_cannot_use_are_refused_with_the_rule(wrong: dict[str, Any], sentence: str) -> None:
    assert policy.configure is not None
    with pytest.raises(BadValue) as refused:
        policy.configure(**({"arms": 2, "window": 5, "horizon": 100} | wrong))
    assert str(refused.value) == sentence


# ---- the noise


def test_estimating_asks_for_batches_of_one_window_and_decides_at_the_same_ages() -> None:
    plan = policy.settings(2, 6, 5_000, {"variance": "estimated"})
    state, holds = play(policy, plan, PaymentWorld([0.7, 0.3], 6, "uniform", seed=2), 5_000)
    assert holds[:4] == [(0, 11, 5), (0, 6, 0), (0, 4, 0), (1, 11, 5)]  # 5 + 16 steps; the open batch is dropped
    assert all(steps - split <= 6 for _, steps, split in holds)
    assert sum(state.batch_counts) >= 0.9 * 5_000 / 6
    assert state.variance == pooled_variance(
        state.batch_counts, state.batch_steps, state.batch_sums, state.batch_squares
    )


@pytest.mark.parametrize(("variance", "most"), [("none", 1.2), ("0.0025", 0.35), ("estimated", 0.25)])
def test_knowing_the_noise_saves_most_of_the_regret(variance: str, most: float) -> None:
    """Gap 4 %, noise of standard deviation 0.05: shares of the regret of uniform play."""
    books = PaymentWorld([0.5, 0.48, 0.46], 5, "uniform", 3, noise=0.05)
    play(policy, policy.settings(3, 5, 6_000, {"variance": variance}), books, 6_000)
    assert books.regret() < most * 6_000 * 0.02
    if variance == "none":
        assert books.regret() > 0.3 * 6_000 * 0.02


def test_plus_asks_for_less_evidence_and_reports_plain_intervals() -> None:
    plain, plus = policy.settings(2, 5, 2_000), policy.settings(2, 5, 2_000, {"level": "plus"})
    state, _ = play(policy, plus, PaymentWorld([0.7, 0.4], 5, "dice", seed=6), 2_000)
    twin = State(**json.loads(json.dumps(asdict(state))))
    assert intervals(plus, state) == intervals(plain, twin)
    assert max(state.highs) < max(intervals(plus, state)[2])
