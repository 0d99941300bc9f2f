"""Exact tests of schedules, against counts over every order."""

import math
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterglow import Agent
from afterglow.errors import BadValue, OutOfTurn
from afterglow.estimation.randomisation import DRAWS, Test, compare_orders, ends, kept_sums, randomisation_test
from afterglow.policies.block_means import BlockMeans
from afterglow.rng import TEST, key

Rows = tuple[tuple[float, ...], ...]


def result_of(rows: Rows, arms: list[str], confidence: float = 0.95) -> Test:
    found = randomisation_test(BlockMeans(rows, len(rows), 0, True, 0), arms, key(1, 0, TEST), confidence)
    assert found is not None
    return found


def drawn(seed: int, blocks: int, arms: int, effect: float = 0.0) -> Rows:
    values = np.random.default_rng(seed).normal(10, 1, (blocks, arms))
    values[:, 0] += effect
    return tuple(tuple(float(value) for value in row) for row in values)


def by_counting(rows: Rows) -> float:
    """p over every order, with the statistic written down again."""
    table = np.array(rows)
    centred = table - table.mean(axis=1, keepdims=True)
    orders = [list(permutations(row)) for row in centred]
    found = [np.square(np.mean(np.array(chosen), axis=0)).sum() for chosen in product(*orders)]
    seen = np.square(centred.mean(axis=0)).sum()
    return float(np.mean(np.array(found) >= seen * (1 - 1e-12)))


@pytest.mark.parametrize(("blocks", "arms"), [(2, 2), (7, 2), (12, 2), (3, 3), (5, 3), (2, 4), (2, 5)])
def test_p_is_the_share_of_all_orders(blocks: int, arms: int) -> None:
    rows = drawn(blocks + arms, blocks, arms, 0.5)
    found = result_of(rows, list("ABCDE"[:arms]))
    assert found.every_order
    assert found.orders == math.factorial(arms) ** blocks
    assert found.p == pytest.approx(by_counting(rows), abs=1e-12)


def test_pairs_swap_two_labels_and_leave_the_others() -> None:
    rows = drawn(3, 6, 3, 1.0)
    found = result_of(rows, ["A", "B", "C"])
    for one, other in (("A", "B"), ("A", "C"), ("B", "C")):
        differences = np.array([row["ABC".index(one)] - row["ABC".index(other)] for row in rows])
        sums = np.array([abs(np.dot(signs, differences)) for signs in product((1, -1), repeat=6)])
        pair = found.pair(one, other)
        assert pair.p == pytest.approx(np.mean(sums >= abs(differences.sum()) - 1e-9))
        assert pair.difference == pytest.approx(differences.mean())
    assert found.pair("C", "A").difference == -found.pair("A", "C").difference
    assert found.pair("C", "A").low == -(found.pair("A", "C").high or math.nan)
    ordered = sorted(found.pairs, key=lambda pair: pair.p)
    assert [pair.holm for pair in ordered] == sorted(pair.holm for pair in ordered)
    assert ordered[0].holm == min(1.0, 3 * ordered[0].p)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), blocks=st.integers(6, 12), effect=st.floats(-2, 2))
def test_the_interval_holds_exactly_what_the_test_does_not_reject(seed: int, blocks: int, effect: float) -> None:
    rows = drawn(seed, blocks, 2, effect)
    pair = result_of(rows, ["A", "B"]).pairs[0]
    assert pair.low is not None
    assert pair.high is not None
    for delta, inside in (
        (pair.low - 1e-6, False), (pair.low + 1e-6, True), (pair.high - 1e-6, True), (pair.high + 1e-6, False),
    ):  # fmt: skip
        shifted = tuple((row[0] - delta, row[1]) for row in rows)
        assert (result_of(shifted, ["A", "B"]).p > 0.05) is inside


def test_too_few_blocks_have_no_interval_and_no_p_below_the_least() -> None:
    found = result_of(((5.0, 1.0),) * 5, ["A", "B"])
    assert found.p == 2 / 2**5
    assert (found.pairs[0].low, found.pairs[0].high) == (None, None)
    assert found.better("A") is None
    assert result_of(((5.0, 1.0),), ["A", "B"]).p == 1.0
    assert result_of(((5.0, 1.0),), ["A", "B"]).pairs[0].t_low is None
    assert randomisation_test(BlockMeans((), 3, 3, True, 0), ["A", "B"], 1, 0.95) is None


def test_equal_totals_are_never_rejected_whatever_rounding_does() -> None:
    for arms, blocks in ((2, 9), (2, 30), (3, 4), (3, 9), (7, 8)):
        level = 0.1 + 0.2
        found = result_of(((level,) * arms,) * blocks, list("ABCDEFG"[:arms]))
        assert found.p == 1.0
        assert {pair.p for pair in found.pairs} == {1.0}


def test_drawn_orders_agree_with_all_of_them() -> None:
    rows = drawn(8, 16, 2, 0.4)
    differences = np.array([row[0] - row[1] for row in rows])
    signs = 1 - 2 * (np.arange(2**16)[:, None] >> np.arange(16) & 1)
    exact = np.mean(abs(signs @ differences) >= abs(differences.sum()) - 1e-9)
    found = result_of(rows, ["A", "B"])
    assert (found.every_order, found.orders) == (False, DRAWS + 1)
    assert abs(found.p - exact) < 5 * math.sqrt(exact * (1 - exact) / DRAWS) + 1e-4
    three = drawn(9, 5, 3, 0.6)
    many = (*three, (1.0, 1.0, 1.0))  # a block that no order changes, but 6 times as many orders
    assert not result_of(many, ["A", "B", "C"]).every_order
    share = by_counting(three)
    assert abs(result_of(many, ["A", "B", "C"]).p - share) < 5 * math.sqrt(share * (1 - share) / DRAWS) + 1e-4


def test_seven_arms_are_shuffled_fairly() -> None:
    rows = drawn(5, 3, 7, 1.5)
    rng = np.random.default_rng(1)
    centred = np.array(rows) - np.mean(rows, axis=1, keepdims=True)
    shuffled = rng.permuted(np.repeat(centred[None], 20_000, axis=0), axis=2)
    share = np.mean(np.square(shuffled.mean(axis=1)).sum(axis=1) >= np.square(centred.mean(axis=0)).sum())
    assert abs(result_of(rows, list("ABCDEFG")).p - share) < 5 * math.sqrt(share * (1 - share) / 6_000)


@pytest.mark.parametrize(("arms", "blocks"), [(2, 8), (3, 4)])
def test_the_size_is_exact_for_heavy_tails_and_lingering_noise(arms: int, blocks: int) -> None:
    """Cauchy noise that lingers, a trend, and the level of each turn fixed before the order is drawn."""
    rng = np.random.default_rng(4)
    rejected, runs = 0, 1_500
    for _ in range(runs):
        noise = np.cumsum(rng.standard_cauchy(blocks * arms)) + np.arange(blocks * arms)
        turns = noise.reshape(blocks, arms)
        rows = tuple(tuple(float(x) for x in rng.permutation(row)) for row in turns)
        p, _, _, _ = compare_orders(rows, 1, 0.95)
        rejected += p <= 0.05
    assert rejected / runs < 0.05 + 4.9 * math.sqrt(0.05 * 0.95 / runs)
    assert rejected / runs > 0.05 - 0.02 - 4.9 * math.sqrt(0.05 * 0.95 / runs)


def test_the_ends_of_an_interval_are_order_statistics() -> None:
    differences = [1.0, 2.0, 4.0]
    kept = kept_sums(differences, [[7], [3], [5], [6]])
    assert kept == [(7.0, 3), (3.0, 2), (5.0, 2), (6.0, 2)]
    assert ends(kept, 7.0, 3, 0.5) == (1.5, 3.0)  # pairs of means: (1.5, 4), (2.5, 2), (3, 1); 2 of 4 may be beyond


def schedule(horizon: int = 2_000, effect: float = 0.05, **options: object) -> Agent:
    """An agent whose second arm is better by `effect`."""
    agent = Agent([49, 59, 69], 8, horizon, "switchback", seed=2, reward_max=5.0, options=options)
    rng = np.random.default_rng(3)
    while not agent.finished:
        arm = agent.select()
        agent.update(max(0.0, 2 + float(rng.normal(0, 0.1)) + effect * (arm == 59)))
    return agent


def test_an_agent_tests_once_the_schedule_has_ended() -> None:
    agent = Agent([49, 59, 69], 8, 700, "switchback", until=500, seed=2)
    for step in range(495):
        agent.select()
        assert agent.step == step
        with pytest.raises(OutOfTurn, match=f"when the schedule has ended: at step 495, this is {step}$"):
            agent.test()
        agent.update(0.5)
    found = agent.test()
    assert (found.blocks, found.left_out, found.p) == (11, 0, 1.0)
    copy = Agent.from_json(agent.to_json())
    assert copy.test() == found
    with pytest.raises(BadValue, match="needs a schedule that was drawn at random, thrift-ucb decides") as refusal:
        Agent(2, 8).test()
    assert refusal.value.kind == "no-test"


def test_the_verdict_of_a_schedule_that_tells_is_tested() -> None:
    agent = schedule()
    verdict, found = agent.verdict(), agent.test()
    p = max(found.pair(59, 49).holm, found.pair(59, 69).holm)
    assert (verdict.grade, verdict.recommended, verdict.p) == ("tested", 59, p)
    assert verdict.assumes == ("the schedule was followed",)
    assert verdict.sentence == f"59 is better than 49 and 69: p = {p:.2g}, by re-drawing the schedule."
    assert found.pair(59, 49).difference == pytest.approx(0.05, abs=0.02)  # in the unit of totals
    level = schedule(effect=0.0).verdict()
    assert (level.grade, level.p) != ("tested", None)
    assert level.grade in ("inconclusive", "leading")
