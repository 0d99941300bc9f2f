"""The ODAAF family: three schedules and the bridge."""

import math
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterglow.errors import BadValue
from afterglow.policies import Policy
from afterglow.policies._elimination import gaps
from afterglow.policies.odaaf import bounded, bounded_schedule, odaaf, pulls_for, schedule, variance, variance_schedule
from afterglow.policies.phased_elimination import policy as phased_elimination
from support.worlds.steady import steady


def as_written(horizon: int, gap: float, last_term: float) -> float:
    level = math.log(horizon * gap**2)
    inner = 2 * level + 8 / 3 * gap * level + last_term
    return (math.sqrt(2 * level) + math.sqrt(inner)) ** 2 / gap**2


@pytest.mark.parametrize(("horizon", "window", "mean", "var"), [(100_000, 10, 4.5, 8.25), (5_000, 200, 60.0, 900.0)])
def test_the_schedules_are_those_of_the_formulas(horizon: int, window: int, mean: float, var: float) -> None:
    for i, gap in enumerate(gaps(horizon, 0.5)):
        m = i + 1
        n = as_written(horizon, gap, 6 * gap * m * mean)
        assert schedule(horizon, mean)[i] == math.ceil(n)
        short = math.ceil(as_written(horizon, gap, 4 * gap * mean))
        assert bounded_schedule(horizon, window, mean)[i] == math.ceil(max(m * min(window - 1, n / m), short))
        assert variance_schedule(horizon, mean, var)[i] == math.ceil(
            as_written(horizon, gap, 4 * gap * (mean + 2 * var))
        )


def test_the_first_phase_by_hand() -> None:
    # T = 1e4, m = 1, gap 1/2: L = log 2500 = 7.8240; sqrt(2 L) = 3.9558;
    # E = 3: 2 L + 4/3 L + 9 = 35.080, root 5.9228, (9.8786)**2 * 4 = 390.35
    assert schedule(10_000, 3)[0] == 391
    # bounded, d = 4: 2 L + 4/3 L + 6 = 32.080, root 5.6639, (9.6197)**2 * 4 = 370.15
    assert bounded_schedule(10_000, 4, 3)[0] == 371
    # and d = 381 asks for 380 pulls, d = 501 for no more than odaaf plays
    assert bounded_schedule(10_000, 381, 3)[0] == 380
    assert bounded_schedule(10_000, 501, 3)[0] == 391
    # variance 1: 2 L + 4/3 L + 2 (3 + 2) = 36.080, root 6.0067, (9.9625)**2 * 4 = 397.001
    assert variance_schedule(10_000, 3, 1)[0] == 398


@given(st.integers(11, 10**12), st.floats(0, 1000))
def test_the_pulls_make_every_error_together_half_the_gap(horizon: int, leak: float) -> None:
    for gap in gaps(horizon, 0.5):
        level, pulls = math.log(horizon * gap**2), pulls_for(horizon, gap, leak)
        error = math.sqrt(2 * level / pulls) + 4 * level / (3 * pulls) + leak / pulls
        assert error == pytest.approx(gap / 2, rel=1e-9)


@given(st.integers(1, 10**12), st.integers(1, 5000), st.floats(0, 1), st.floats(0, 1e6))
def test_every_schedule_grows_from_phase_to_phase(horizon: int, window: int, share: float, var: float) -> None:
    mean = share * (window - 1)
    for found in (
        schedule(horizon, mean),
        bounded_schedule(horizon, window, mean),
        variance_schedule(horizon, mean, var),
    ):
        assert all(before < after for before, after in pairwise(found))


def test_without_a_bridge_one_phase_follows_the_other() -> None:
    settings = odaaf.settings(2, 1, 100_000, {"mean_delay": 0})
    first, second = settings.schedule[:2]
    holds, _ = steady(odaaf, settings, [0.5, 0.6], horizon=2 * second)
    assert holds == [(0, first, 0), (1, first, 0), (0, second - first, 0), (1, second - first, 0)]


@pytest.mark.parametrize(
    ("policy", "options"), [(bounded, {"mean_delay": 2.0}), (variance, {"mean_delay": 2.0, "delay_variance": 1.0})]
)
def test_a_bridge_on_the_best_arm_left_follows_each_phase_and_teaches_nothing(
    policy: Policy[Any, Any], options: dict[str, float]
) -> None:
    settings = policy.settings(3, 5, 100_000, options)
    first, second = settings.schedule[:2]
    horizon = 3 * first + first + 2 * (second - first) + (second - first)
    holds, state = steady(policy, settings, [0.7, 0.1, 0.75], horizon)
    assert holds[:4] == [(0, first, 0), (1, first, 0), (2, first, 0), (2, first, 0)]
    assert holds[4:] == [(0, second - first, 0), (2, second - first, 0), (2, second - first, 0)]
    assert state.pulls == [second, first, second]
    assert state.sums == pytest.approx([0.7 * second, 0.1 * first, 0.75 * second])
    assert (state.phase, state.turn) == (2, 0)


def test_a_bridge_cut_by_the_horizon_does_not_open_the_next_phase() -> None:
    settings = bounded.settings(2, 5, 10_000, {"mean_delay": 2.0})
    _, state = steady(bounded, settings, [0.5, 0.6], 3 * settings.schedule[0] - 1)
    assert (state.phase, state.turn) == (0, 2)


def test_a_lone_survivor_needs_no_bridge() -> None:
    settings = bounded.settings(2, 5, 10_000, {"mean_delay": 2.0})
    first = settings.schedule[0]
    holds, _ = steady(bounded, settings, [1.0, 0.0], 10_000)
    assert holds == [(0, first, 0), (1, first, 0), (0, 10_000 - 2 * first, 0)]


def test_what_must_be_known_is_asked_for() -> None:
    assert odaaf.needs() == ["horizon", "mean_delay"]
    assert bounded.needs() == ["window", "horizon", "mean_delay"]
    assert variance.needs() == ["horizon", "mean_delay", "delay_variance"]
    with pytest.raises(BadValue, match=r"^odaaf needs mean_delay; give it, for instance mean_delay=5$"):
        odaaf.settings(2, 5, 1000)


LATE = "steps from a pull to its reward"


@pytest.mark.parametrize(
    ("policy", "options", "sentence"),
    [
        (odaaf, {"mean_delay": -1}, f"mean_delay must be a number of at least 0 ({LATE}), got -1"),
        (odaaf, {"mean_delay": math.nan}, f"mean_delay must be a number of at least 0 ({LATE}), got nan"),
        (
            bounded,
            {"mean_delay": 4.5},
            f"mean_delay must be a number of at least 0 and at most 4 ({LATE}, within the window of 5), got 4.5",
        ),
        (
            variance,
            {"mean_delay": 1, "delay_variance": math.inf},
            "delay_variance must be a number of at least 0, got inf",
        ),
    ],
)
def test_an_impossible_delay_is_refused(policy: Policy[Any, Any], options: dict[str, float], sentence: str) -> None:
    with pytest.raises(BadValue) as refused:
        policy.settings(2, 5, 1000, options)
    assert str(refused.value) == sentence


def test_it_plays_longer_phases_than_phased_elimination_where_nothing_is_late() -> None:
    plain = phased_elimination.settings(2, 1, 100_000).schedule
    assert all(own > other for own, other in zip(schedule(100_000, 0), plain, strict=True))
