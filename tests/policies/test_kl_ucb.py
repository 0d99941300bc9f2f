"""kl-ucb: the reference without delay."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterglow import World, simulate
from afterglow.errors import BadValue
from afterglow.policies.kl_ucb import State, level, policy
from afterglow.policies.terms import kl, klup
from support.worlds.steady import steady


def test_each_arm_comes_once_then_the_largest_index() -> None:
    holds, _ = steady(policy, policy.settings(3, 1), [0.2, 0.9, 0.5], 4)
    assert holds == [(0, 1, 0), (1, 1, 0), (2, 1, 0), (1, 1, 0)]


def test_the_index_solves_its_equation() -> None:
    index = klup(30.0, 100, math.log(1000))
    assert 100 * kl(0.3, index) == pytest.approx(math.log(1000), rel=1e-9)
    assert level(3.0, 1000) == pytest.approx(math.log(1000) + 3 * math.log(math.log(1000)))
    assert level(3.0, 2) == pytest.approx(math.log(2))


@given(
    st.lists(st.tuples(st.integers(1, 500), st.floats(-0.1, 1.2)), min_size=2, max_size=6),
    st.sampled_from([0.0, 3.0]),
)
def test_arms_left_out_of_the_search_would_not_have_won(seen: list[tuple[int, float]], c: float) -> None:
    pulls, sums = [n for n, _ in seen], [n * mean for n, mean in seen]
    state = State(pulls, sums, sum(pulls))
    indices = [klup(total, n, level(c, state.clock)) for total, n in zip(sums, pulls, strict=True)]
    chosen, steps, split = policy.next_hold(policy.settings(len(seen), 1, None, {"c": c}), state, [])
    assert (steps, split) == (1, 0)
    assert indices[chosen] == pytest.approx(max(indices), abs=1e-11)


def test_without_delay_it_loses_less_than_half_of_what_ucb1_does() -> None:
    world = World.of([0.9, 0.8, 0.7], 1)
    ours, other = (simulate(name, world, 2e4, 40, seed=3).regret.mean for name in ("kl-ucb", "ucb1"))
    assert ours < 0.5 * other
    asymptote = sum((0.9 - mean) / kl(mean, 0.9) for mean in (0.8, 0.7)) * math.log(2e4)
    assert 0.3 * asymptote < ours < 1.5 * asymptote


def test_a_negative_constant_is_refused() -> None:
    with pytest.raises(BadValue, match=r"^c must be a number of at least 0 \(3 in the theorem\), got -1$"):
        policy.settings(2, 1, None, {"c": -1})
