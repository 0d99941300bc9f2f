"""thrift-ucb: it decides as described, spends no more on proof than its budget, and says what a decision rests on."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterglow.engine.simulate import simulate
from afterglow.errors import AfterglowError, AfterglowWarning
from afterglow.policies import named
from afterglow.policies.season import seasonal
from afterglow.policies.terms import klup
from afterglow.policies.thrift.bounds import EXACT, affordable, ceiling, noise, too_few, too_short, upper
from afterglow.policies.thrift.state import State, capped_mean, kept_steps, lengthen, washed_mean
from afterglow.policies.thrift_ucb import (
    EVIDENCE,
    PRICE,
    PROOF,
    decide,
    evidence,
    follow_doubt,
    index,
    policy,
    recommend,
)
from afterglow.worlds.world import World
from support.oracles.thrift_ucb import Text
from support.worlds.payments import SPREADS, PaymentWorld, play

KINDS = {
    "proved bounds": "proved",
    "bounds with estimated noise": "estimated",
    "ordinary statistics": "ordinary",
    "a comparison of arms": "compared",
}


def test_it_is_registered_and_needs_the_window_alone() -> None:
    assert named("thrift-ucb") is policy
    assert policy.needs() == ["window"]
    assert policy.options() == ["noise", "proof", "aim"]


# ---- how it decides


@settings(max_examples=40)
@given(
    means=st.lists(st.floats(0, 1), min_size=2, max_size=4),
    window=st.integers(1, 12),
    spread=st.sampled_from(sorted(SPREADS)),
    seed=st.integers(0, 2**32),
    horizon=st.sampled_from([None, 60, 400, 2_000]),
    longer=st.sampled_from([1, 1, 2]),
    deviation=st.sampled_from([-1.0, 0.1]),
    told=st.sampled_from([0.0, 0.1]),
    proof=st.sampled_from(["cheap", "cheap", "never"]),
    aim=st.sampled_from(["earning", "knowing"]),
)
def test_it_decides_as_its_description_reads(
    means: list[float],
    window: int,
    spread: str,
    seed: int,
    horizon: int | None,
    longer: int,
    deviation: float,
    told: float,
    proof: str,
    aim: str,
) -> None:
    books = PaymentWorld(means, longer * window, spread, seed, deviation)
    text = Text(len(means), window, horizon, told, proof == "cheap", aim == "knowing")
    plan = policy.settings(len(means), window, horizon, {"noise": told, "proof": proof, "aim": aim})
    state, left = policy.start(plan), horizon or 2_000
    while left:
        arm, steps, split = policy.next_hold(plan, state, [])
        steps = min(steps, left)
        totals = []
        for step in range(1, steps + 1):
            assert text.arm == arm
            totals.append(books.step(arm))
            if step < left:
                text.tell(totals[-1])
        policy.learn(plan, state, arm, steps, min(split, steps), sum(totals[:split]), sum(totals[split:]))
        left -= steps
        assert not left or text.evidence == KINDS[evidence(plan, state)]


def test_the_first_holds_worked_out_by_hand() -> None:
    """Window 12: w = 11, first runs of 8 washed steps, batches of 8. Arm 0 pays 0.5 a step, arm 1 pays 0.1."""
    plan = policy.settings(2, 12, 790)
    assert (plan.first, plan.batch) == (8, 8)
    state = policy.start(plan)
    assert policy.next_hold(plan, state, []) == (0, 19, 11)
    policy.learn(plan, state, 0, 19, 11, 5.5, 4.0)
    assert policy.next_hold(plan, state, []) == (0, 8, 0)  # a second batch: 8 steps are less than 7 % of 395, less 12
    policy.learn(plan, state, 0, 8, 0, 0.0, 4.0)
    assert (state.kept, state.batches, state.sums) == ([16, 0, 0, 0], [2, 0, 0, 0], [8.0, 0.0, 0.0, 0.0])
    assert policy.next_hold(plan, state, []) == (1, 19, 11)  # never played: above all bounds
    policy.learn(plan, state, 1, 19, 11, 2.0, 0.8)
    assert policy.next_hold(plan, state, []) == (1, 8, 0)
    policy.learn(plan, state, 1, 8, 0, 0.0, 0.8)
    # Arm 1 trails by 0.4. It cost 27 x 0.4 = 10.8. Random play costs 790/2 x 0.4 = 158; 0.2 % of that are less, 7 % are
    # more.
    assert evidence(plan, state) == "bounds with estimated noise"
    assert (state.arm, state.age, state.until) == (0, 0, 11 + 32)  # 27 pulls before, in whole batches
    assert (state.run_pulls, state.run_sums, state.owed[0]) == ([0, 27], [0.0, 2.0 + 0.8 + 0.8], -1.0)
    assert policy.next_hold(plan, state, []) == (0, 19, 11)


def test_an_arm_that_trails_within_the_prior_noise_gets_a_second_batch() -> None:
    plan = policy.settings(2, 12, 400)  # 7 % of 200 are 14, less 12: a batch is enough for the horizon
    state = policy.start(plan)
    state.arm, state.batches[:], state.kept[:] = 1, [2, 1, 0, 0], [16, 8, 0, 0]
    state.pulls, state.run_pulls = [27, 19], [27, 19]
    state.run_sums = [13.5, 19.0]  # far from capping a mean
    for trailing, expected in ((0.0, True), (0.09, True), (0.12, False)):
        state.sums[:] = [16 * 0.5, 8 * (0.5 - trailing), 0.0, 0.0]
        assert too_few(plan, state, 400.0) is expected
    known = policy.settings(2, 12, 400, {"noise": 0.2})  # the prior is 0.2 in place of q/4, about 0.12
    assert too_few(known, state, 400.0)
    state.batches[1] = 2
    assert not too_few(known, state, 400.0)


def test_an_arm_is_left_only_when_its_noise_is_known() -> None:
    """7 % of its share of the horizon, less a window, at most five windows or 48 steps; however far it trails."""
    plan = policy.settings(2, 12, 1_500)
    state = policy.start(plan)
    state.arm, state.batches[:], state.sums[:] = 1, [5, 5, 0, 0], [40 * 0.9, 40 * 0.1, 0.0, 0.0]
    for kept, reach, expected in ((40, 1_500.0, True), (41, 1_500.0, False), (47, 1e6, True), (48, 1e6, False)):
        state.kept[:] = [kept, kept, 0, 0]
        assert too_few(plan, state, reach) is expected


def test_a_small_experiment_uses_ordinary_statistics_and_a_long_one_never_does() -> None:
    def stages(horizon: int) -> set[str]:
        seen = set()
        plan = policy.settings(3, 8, horizon)
        books = PaymentWorld([0.6, 0.5, 0.4], 8, "uniform", 5)
        play(policy, plan, books, min(horizon, 20_000), lambda state: seen.add(evidence(plan, state)))
        return seen

    assert "ordinary statistics" in stages(600)
    assert "ordinary statistics" not in stages(10**7)
    assert "bounds with estimated noise" not in stages(10**9)


def test_with_the_aim_to_know_it_compares_until_arms_are_told_apart_or_its_price_is_paid() -> None:
    """5 % against noise of 25 % a step: where earning leaves the worse arm, knowing goes on, within its price."""
    world = World.of(["normal:0.4,0.1", "normal:0.42,0.1"], 6)
    random_play = 2_000 * 0.02 / 2
    found = {aim: simulate(policy, world, 2_000, 200, options={"aim": aim}) for aim in ("earning", "knowing")}
    share = {aim: outcome.regret.mean / random_play for aim, outcome in found.items()}
    assert 0.09 < share["earning"] < 0.16
    assert 0.24 < share["knowing"] < 0.3
    doubling = World.of(["normal:0.3,0.1", "normal:0.6,0.1"], 6)
    cheap = simulate(policy, doubling, 2_000, 50, options={"aim": "knowing"})
    assert cheap.regret.mean < 0.1 * 2_000 * 0.3 / 2  # told apart at once


def test_comparing_alternates_between_the_leader_and_the_closest_arm() -> None:
    plan = policy.settings(2, 3, 10_000, {"aim": "knowing"})
    _, state = arrange(arm=0, last=1, squares=[1.08, 0.48, 40.0, 12.0])
    assert follow_doubt(plan, state, 1e4, 0.15)  # 0.2 is less than sqrt(10 (1 + 8 3/48) 0.15 (1/98 + 1/48))
    assert (state.arm, state.until) == (1, 2 + 24)  # half of 48 washed steps, behind the head
    state.age = state.until
    assert follow_doubt(plan, state, 1e4, 0.15)
    assert state.arm == 0
    _, state = arrange(arm=0, last=1)
    assert not follow_doubt(plan, state, 1e4, 0.01)  # told apart
    assert not follow_doubt(plan, state, 390.0, 0.15)  # 30 % of 195 steps, 50 of which are spent, less a head


def test_a_comparison_is_explained_as_one() -> None:
    plan = policy.settings(2, 3, 10_000, {"aim": "knowing"})
    _, state = arrange(arm=0, last=1, stage=3)
    assert evidence(plan, state) == "a comparison of arms"
    told = index(plan, state, []).sentence(["49", "59"], 1, 100.0, "EUR")
    assert (
        told == "59 is compared until the best is told apart from every other (washed means: 49 60.0 EUR, 59 40.0 EUR)"
    )


# ---- its formulas


def arrange(**fields: Any) -> tuple[Any, State]:
    """Two arms, window 3, 10,000 steps: arm 0 has a run of 100 pulls that earned 60, arm 1 one of 50 that earned 20."""
    plan = policy.settings(2, 3, 10_000)
    state = policy.start(plan)
    state.clock, state.arm, state.last, state.age, state.until = 150, 1, 0, 50, 50
    state.pulls, state.run_pulls, state.run_sums, state.owed = [100, 50], [100, 50], [60.0, 20.0], [1.5, -1.0]
    state.kept[:], state.sums[:] = [3, 3, 95, 45], [1.8, 1.2, 57.0, 18.0]
    state.batches[:], state.squares[:] = [1, 1, 20, 10], [1.08, 0.48, 36.0, 8.0]
    for name, value in fields.items():
        setattr(state, name, value)
    return plan, state


def test_proved_bounds_are_the_lesser_of_trimmed_and_with_what_is_owed() -> None:
    plan, state = arrange()
    f = math.log(10_000)
    assert upper(plan, state, 0, 1e4, EXACT) == min(klup(60, 98, f), klup(61.5, 100, f))
    assert upper(plan, state, 1, 1e4, EXACT) == klup(20, 48, f)  # the next head is not seen yet
    radius = math.sqrt(2 * 0.04 * math.log(1e4 / (2 * 48)) / 48)
    assert upper(plan, state, 1, 1e4, 0.04) == pytest.approx(20 / 48 + radius)
    assert ceiling(plan, 5.0, 0, 1e4, EXACT) == 1.0
    assert ceiling(plan, 12.0, 10, 1e4, EXACT) == 1.2  # more than can be: the window is too short
    assert ceiling(plan, 20.0, 20_000, 1e4, 0.04) == 20 / 20_000  # log+ is never negative


def test_the_mean_is_not_above_what_pulls_can_have_earned() -> None:
    plan, state = arrange()
    assert washed_mean(plan, state, 0) == 58.8 / 98
    assert capped_mean(plan, state, 0) == min(58.8 / 98, 60 / 98, 61.5 / 100)
    state.run_sums[0] = 40.0
    assert capped_mean(plan, state, 0) == 40 / 98
    state.owed[0] = 0.0
    assert capped_mean(plan, state, 0) == 40 / 100
    assert capped_mean(plan, policy.start(plan), 0) == -1.0


def test_noise_is_pooled_over_batches_with_a_prior_worth_two() -> None:
    plan, state = arrange()
    q = 78 / 146
    square = 36 - 57**2 / 95 + 8 - 18**2 / 45
    assert noise(plan, state) == pytest.approx((2 * (q / 4) ** 2 + square) / (2 + 19 + 9))
    known = policy.settings(2, 3, 10_000, {"noise": 0.3})
    assert noise(known, state) == pytest.approx((2 * 0.09 + square) / 30)
    state.squares[2] = 1e6
    assert noise(plan, state) == pytest.approx(q * (1 - q))  # no reward in [0, 1] has more
    assert noise(plan, policy.start(plan)) == 1e-6


def test_the_budget_is_a_share_of_what_random_play_would_lose() -> None:
    plan, state = arrange()
    gap = capped_mean(plan, state, 0) - capped_mean(plan, state, 1)
    assert affordable(plan, state, 1e4, PRICE, 1) == pytest.approx(0.07 * 1e4 / 2 - 50)
    assert gap > 0
    assert affordable(plan, state, 1e4, PROOF, 1) == -1.0  # 0.002 x 10,000 / 2 = 10 pulls are less than 50
    assert affordable(plan, state, 1e4, PRICE, 0) == 1e4  # the best costs nothing
    assert affordable(plan, policy.start(plan), 1e4, PROOF, 0) == 1e4  # and so does what nothing is known of


@pytest.mark.parametrize(("horizon", "begun"), [(2_900, False), (2_930, True)])
def test_a_run_that_the_budget_does_not_cover_is_not_begun(horizon: int, begun: bool) -> None:
    """Arm 1 has the larger bound. Its run of 2 + 50 steps is covered if 0.07 T/2 - 50 is as much."""
    plan = policy.settings(2, 3, horizon)
    _, state = arrange(clock=1_050, arm=0, last=1, age=1_000, until=1_000, owed=[-1.0, 1.0])
    state.pulls, state.run_pulls, state.run_sums = [1_000, 50], [1_000, 50], [600.0, 25.0]
    state.kept[:], state.sums[:], state.squares[2] = [3, 3, 995, 45], [1.8, 1.5, 597.0, 22.5], 1e6
    decide(plan, state)
    assert state.values[1] > state.values[0]
    assert (evidence(plan, state), state.age) == (EVIDENCE[1], 0) if begun else (EVIDENCE[2], 1_000)


# ---- the alarm, the horizon, the season


def test_the_alarm_sounds_when_young_and_old_steps_differ() -> None:
    plan, state = arrange()
    assert not too_short(plan, state, 1e4)
    scatter = 36 - 57**2 / 95 + 8 - 18**2 / 45
    radius = math.sqrt(2 * math.log(1e4) * scatter / 28 * (1 / 3 + 1 / 95)) * (1 + 6 / 28)
    for factor, expected in ((0.99, False), (1.01, True)):
        state.sums[0] = 3 * (57 / 95 - factor * radius)
        assert too_short(plan, state, 1e4) is expected
    assert not too_short(plan, state, 31.0)  # 8 x 2 arms x 2 steps of washout
    state.washout = 12
    assert not too_short(plan, state, 1e4)  # four windows: no more


def test_an_alarm_doubles_the_washout_and_keeps_old_steps_only() -> None:
    plan, state = arrange()
    lengthen(plan, state)
    assert state.washout == 5
    assert (state.kept, state.sums) == ([95, 45, 0, 0], [57.0, 18.0, 0.0, 0.0])
    assert (state.batches, state.squares) == ([20, 10, 0, 0], [36.0, 8.0, 0.0, 0.0])
    state.age = 0
    assert policy.next_hold(plan, state, []) == (1, 2, 2)  # the head alone, for what the run before was owed
    state.age = 2
    assert policy.next_hold(plan, state, [])[2] == 3  # then the rest of the washout, and a batch


def test_told_half_of_the_window_it_sounds_the_alarm_and_finds_the_best() -> None:
    books = PaymentWorld([0.7, 0.4], 12, "last", 0)
    plan = policy.settings(2, 6, 6_000)
    state, _ = play(policy, plan, books, 6_000)
    assert state.washout > 5
    assert recommend(plan, state) == 0


def test_the_washout_doubles_three_times_at_most() -> None:
    plan = policy.settings(2, 4, 10_000)
    found = {play(policy, plan, PaymentWorld([0.9, 0.3], 60, "last", seed), 10_000)[0].washout for seed in range(3)}
    assert found <= {3, 7, 15, 31}
    assert max(found) > 3


def test_without_a_horizon_as_many_steps_are_expected_as_were_played() -> None:
    books = PaymentWorld([0.8, 0.4, 0.3], 5, "dice", seed=4)
    plan = policy.settings(3, 5)
    state, _ = play(policy, plan, books, 20_000)
    assert books.regret() < 300  # uniform play loses 6,000
    assert recommend(plan, state) == 0
    _, state = arrange()
    decide(policy.settings(2, 3), state)
    same_horizon = policy.settings(2, 3, 300)
    _, other = arrange()
    decide(same_horizon, other)
    assert state == other  # at step 150


def test_it_takes_whole_seasons() -> None:
    daily = seasonal(policy, 24)
    plan = daily.settings(3, 6, 4_000)
    world = World.of(
        ["normal:0.5,0.1", "normal:0.4,0.1", "normal:0.3,0.1"],
        6,
        "uniform",
        "seasonal:" + ",".join(["0", "0.3", "0.9"] * 8),
    ).divided(1.9)
    _, holds = play(daily, plan, PaymentWorld([0.5, 0.4, 0.3], 6, "uniform", 1), 4_000)
    assert all((steps - split) % 24 == 0 for _, steps, split in holds[:-1])
    outcome = simulate(policy, world, 4_000, 40, season=24, recommend=True)
    assert outcome.recommended is not None
    assert (outcome.recommended == 0).all()


def test_batches_grow_so_that_a_long_run_has_few_holds() -> None:
    plan = policy.settings(2, 4, 10**9)
    state, holds, clock = policy.start(plan), 0, 0
    while clock < 10**9:
        arm, steps, split = policy.next_hold(plan, state, [])
        steps = min(steps, 10**9 - clock)
        policy.learn(plan, state, arm, steps, split, (0.8, 0.2)[arm] * split, (0.8, 0.2)[arm] * (steps - split))
        clock, holds = clock + steps, holds + 1
    assert holds < 1_000


def test_every_arm_is_tried_also_where_totals_are_larger_than_told() -> None:
    """Income that no arm causes, five times the largest reward: bounds are far above 1, and still below the untried."""
    world = World.of(["normal:0.33,0.1", "normal:0.36,0.1", "normal:0.30,0.1"], 12, "uniform", "constant:5")
    with pytest.warns(AfterglowWarning, match="relies on at most 1"):
        outcome = simulate(policy, world, 20_000, 40, recommend=True)
    assert outcome.recommended is not None
    assert (outcome.recommended == 1).all()


# ---- what it says


def test_it_recommends_the_best_washed_mean_early_and_later_the_arm_of_most_washed_steps() -> None:
    plan, state = arrange()
    state.sums[:] = [1.2, 1.8, 30.0, 40.0]
    assert recommend(plan, state) == 1
    state.clock = 600  # 100 windows an arm
    assert recommend(plan, state) == 0
    assert kept_steps(plan, state, 0) > kept_steps(plan, state, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"noise": 0.6}, "noise must be a number of at least 0 and at most 0.5"),
        ({"level": "plain"}, "no setting of"),
        ({"proof": "no"}, "it is one of cheap, never"),
        ({"aim": "both"}, "it is one of earning, knowing"),
    ],
)
def test_wrong_settings_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(AfterglowError, match=message):
        policy.settings(3, 4, 1_000, options)
