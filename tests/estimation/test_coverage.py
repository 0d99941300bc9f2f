"""Intervals hold and grades are right in the hardest of the worlds that `bench/answers/interval_coverage.py` measures.

Fixed seeds: these are regression tests of 30 runs and few looks. docs/coverage.md has the measurement.
"""

from dataclasses import replace
from random import Random

import pytest

from testbed.coverage import CoverageWorld, play
from testbed.coverage_worlds import DOUBLING, FIVE_PERCENT, OUTSIDE, WORLDS
from testbed.quick_agent import follow, open_hold

RUNS, EVERY = 30, 30
NAMED = {world.name: world for world in [*WORLDS, *OUTSIDE]}


def shortened(name: str, steps: int = 600) -> CoverageWorld:
    return replace(NAMED[name], steps=steps)


CELLS = [
    (NAMED["2 arms: calm .40 (sd .05), best .42 (sd .2)"], "lean-ucb"),
    (NAMED["leader sd .05, others .2"], "thrift-ucb"),
    (NAMED["yes/no .98, .5, .5"], "lean-ucb"),
    (shortened("rare: three of .005"), "leak-ucb"),
    (NAMED["equal arms, equal noise"], "thrift-ucb, knowing"),
    (shortened("noise lingers: rho 0.99, sd 0.15"), "trim-ucb"),
    (shortened("noise lingers: rho 0.998, sd 0.15"), "lean-ucb"),
    (shortened("a level shift of 20 % at half time"), "thrift-ucb"),
]


@pytest.mark.parametrize(("world", "policy"), CELLS, ids=[f"{world.name}, {policy}" for world, policy in CELLS])
def test_intervals_hold_and_no_grade_is_wrong(world: CoverageWorld, policy: str) -> None:
    found = [play(world, policy, seed, EVERY) for seed in range(RUNS)]
    told = [one for one in found if one.held is not None]
    assert sum(one.held or False for one in told) >= 0.9 * len(told)
    assert sum(one.wrong_clear for one in found) <= 0.05 * RUNS
    assert not any(one.wrong_proven for one in found)
    assert sum(one.wrong_alarm for one in found) <= 0.05 * RUNS


def test_intervals_are_not_missing_where_noise_is_independent() -> None:
    found = [play(NAMED["close arms, equal noise"], "thrift-ucb", seed, 600) for seed in range(RUNS)]
    assert all(one.held is not None for one in found)


def test_a_doubling_is_clear_before_half_of_its_steps() -> None:
    for policy in ("thrift-ucb", "lean-ucb"):
        found = [play(DOUBLING, policy, seed, 50, power=True) for seed in range(RUNS)]
        assert all(0 < one.clear_at <= DOUBLING.steps // 2 for one in found)
        assert all(one.clear for one in found)


@pytest.mark.parametrize("policy", ["thrift-ucb, knowing", "trim-ucb"])
def test_five_percent_are_clear_in_most_runs_in_which_an_oracle_tells_them(policy: str) -> None:
    """Against noise of 25 % a step. The oracle knows the variances and looks once, at the same steps."""
    found = [play(FIVE_PERCENT, policy, seed, 200) for seed in range(RUNS)]
    oracle = sum(one.oracle for one in found)
    assert oracle >= 0.7 * RUNS
    assert sum(one.clear for one in found) >= 0.8 * oracle


def test_noise_that_lingers_is_seen_and_then_nothing_is_proven() -> None:
    """The condition of the proved bounds is broken: what came before tells what will come."""
    world = NAMED["noise lingers: rho 0.99, sd 0.15"]
    found = [play(world, "trim-ucb", seed, 200) for seed in range(12)]
    assert sum(one.lingers for one in found) >= 10
    assert not any(one.wrong_proven or one.clear for one in found)


@pytest.mark.parametrize("policy", ["thrift-ucb, knowing", "lean-ucb", "switchback"])
@pytest.mark.parametrize("name", ["equal arms, equal noise", "daily season, with its profile"])
def test_steps_that_are_followed_together_are_those_of_an_agent_one_by_one(name: str, policy: str) -> None:
    """To the bit: the agents' texts are equal after each stretch."""
    world = replace(NAMED[name], steps=200)
    random, plain, quick = Random(3), world.agent(policy, 1), world.agent(policy, 1)
    while not plain.finished:
        hold = open_hold(quick)
        while hold.done < hold.steps:
            totals = [random.uniform(0.3, 2.0) for _ in range(random.randint(1, hold.steps - hold.done))]
            for total in totals:
                plain.select()
                plain.update(total)
            follow(quick, hold, totals)
            assert quick.to_json() == plain.to_json()
