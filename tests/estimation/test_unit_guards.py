"""Guards with units: what is fitted, what cancels, when something is said, and how often that is wrong."""

import math
from dataclasses import replace
from random import Random

import pytest

from afterglow.estimation.guards import Limit
from afterglow.estimation.unit_guards import Block, FactorFit, GuardCells, UnitsGuardCase
from afterglow.student_t import student_quantile
from testbed.unit_guard_worlds import WORLDS, play

TEN_PERCENT = Limit(1, 1.1, 0.0)


def blocks(stages: int = 9, units: int = 6, factor: float = 1.0, noise: float = 0.05, seed: int = 1) -> list[Block]:
    """Three arms in turn, arm 1 with a factor; what units share and their sizes are larger than any effect."""
    source, made = Random(seed), list[Block]()
    for stage in range(stages):
        arms = [(unit + stage) % 3 for unit in range(units)]
        shared = 10 * source.uniform(100, 1000)
        totals = [
            round((unit + 1) * shared * (factor if arm == 1 else 1.0) * source.uniform(1 - noise, 1 + noise))
            for unit, arm in enumerate(arms)
        ]
        made.append(Block(arms, [stage] * units, [10] * units, [totals]))
    return made


def case(made: list[Block], limit: Limit = TEN_PERCENT, share: float = 0.025) -> UnitsGuardCase:
    return UnitsGuardCase(made, 0, 1.0, 0, limit, share)


def test_without_noise_the_fit_is_exact() -> None:
    found = case(blocks(factor=1.3, noise=0.0))
    assert found.fit.log_ratio(1, 0) == pytest.approx(math.log(1.3), abs=1e-4)
    assert found.fit.log_ratio(2, 0) == pytest.approx(0.0, abs=1e-4)
    assert found.is_beyond(1)
    assert not found.is_beyond(2)


def test_what_units_share_and_how_large_they_are_changes_nothing() -> None:
    plain, source = blocks(factor=1.2), Random(4)
    shaken = [
        Block(one.arms, one.runs, one.steps, [[round(total * by * 1000) for total in one.totals[0]]])
        for one, by in ((one, source.uniform(0.1, 10)) for one in plain)
    ]
    sized = [
        Block(one.arms, one.runs, one.steps, [[total * (7 if unit == 2 else 5) for unit, total in enumerate(row)]])
        for one in plain
        for row in one.totals
    ]
    ends = case(plain).fit.log_ratio(1, 0)
    assert case(shaken).fit.log_ratio(1, 0) == pytest.approx(ends, abs=0.02)  # blocks weigh otherwise
    assert case(sized).fit.log_ratio(1, 0) == pytest.approx(ends, abs=0.02)


def test_the_sums_that_were_seen_are_those_of_the_fit() -> None:
    made = blocks(factor=1.4)
    cells = GuardCells(made, 0)
    fit = FactorFit(cells)
    for way in (cells.units, cells.blocks, cells.arms):
        for key in set(way):
            seen, fitted = (
                math.fsum(one for one, other in zip(column, way, strict=True) if other == key)
                for column in (cells.totals, fit.means)
            )
            assert fitted == pytest.approx(seen, rel=1e-5)


def test_the_excess_is_that_of_all_units_together_with_an_interval_around_it() -> None:
    found = case(blocks(stages=12, factor=1.3)).excess(1)
    assert None not in (found.mean, found.low, found.high, found.level, found.limit)
    assert found.mean == pytest.approx((found.level or 0) - (found.limit or 0))
    assert (found.level or 0) / (found.limit or 1) == pytest.approx(1.3 / 1.1, rel=0.03)
    assert 0 < (found.low or 0) < (found.mean or 0) < (found.high or 0)
    below = case(blocks(stages=12, factor=0.6), Limit(-1, 0.8, 0.0))
    assert below.is_beyond(1)
    assert not below.is_beyond(2)


def test_nothing_is_said_before_there_is_something_to_say() -> None:
    assert case([]).excess(1).missing == ("4 runs of a full window are needed of it and the control; the control has 0")
    assert "runs of a full window" in str(case(blocks(stages=1)).excess(1).missing)
    assert case(blocks(stages=2, units=6)).excess(1).missing == "too few runs can be compared within the same steps"
    nothing = [Block(one.arms, one.runs, one.steps, [[0] * 6]) for one in blocks()]
    assert case(nothing).excess(1).missing == "nothing was counted of the control yet"
    one = [Block([1] * 6, [0] * 6, [10] * 6, [[5] * 6])]
    assert case(one).excess(1).missing == "4 runs of a full window are needed of it and the control; the control has 0"


def test_nothing_is_said_while_the_fit_has_not_settled() -> None:
    """Nine events in 36 cells: factors go on growing for ever."""
    source = Random(7)
    few = [Block(one.arms, one.runs, one.steps, [[int(source.random() < 0.12) for _ in range(6)]]) for one in blocks(6)]
    found = case(few)
    assert not found.fit.settled
    assert found.excess(1).missing == "too little was counted to tell units, steps and variants apart"
    assert not found.is_beyond(1)


def test_one_event_more_than_was_seen_is_allowed_for() -> None:
    """The control has one event, and another would halve the ratio."""
    made = blocks(stages=9, noise=0.0, factor=3.0)
    few = UnitsGuardCase(made, 0, sum(map(sum, (one.totals[0] for one in made))), 0, TEN_PERCENT, 0.025)
    assert case(made).is_beyond(1)
    assert not few.is_beyond(1)


def test_the_standard_error_is_as_large_as_the_error() -> None:
    """100 ratios with intervals of 90 %: half the standard error would hold in about 60, twice of it in all."""
    held, squares = 0, 0.0
    for seed in range(100):
        found = case(blocks(stages=12, factor=1.1, noise=0.3, seed=seed)).fit
        deviation, freedom = found.deviation(1, 0)
        error = (found.log_ratio(1, 0) - math.log(1.1)) / deviation
        held += abs(error) < student_quantile(0.9, freedom)
        squares += error * error
    assert 80 <= held <= 97
    assert 0.7 < squares / 100 < 1.6


def test_a_variant_at_its_limit_is_hardly_ever_stopped() -> None:
    """If 5 % of runs are stopped, five in 20 happen once in 390 tries; if 40 % are, four or fewer once in 20. The guide
    has many more runs."""
    world = replace(WORLDS[1], steps=160)
    assert sum(max(play(world, [0.0, 0.1, 0.1], seed)) > 0 for seed in range(20)) <= 4


def test_a_variant_beyond_its_limit_is_stopped_and_no_other() -> None:
    """Of runs of 300 steps with +25 %, against a limit of 10 %."""
    world = replace(WORLDS[0], steps=300, commit=300)
    found = [play(world, [0.0, 0.25, 0.0], seed) for seed in range(4)]
    assert [one[2] for one in found] == [0] * 4
    assert all(0 < one[1] <= 240 for one in found)
