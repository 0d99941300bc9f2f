"""Phased UCB: the constants of the paper, the corrected ones, and the phases."""

import math
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterglow.errors import AfterglowWarning, BadValue, UnknownName
from afterglow.policies.phased_ucb import Settings, hold_length, largest_window, log_level, policy
from support.worlds.steady import steady


def configured(arms: int = 5, window: int = 10, horizon: int = 100_000, **options: object) -> Settings:
    return policy.settings(arms, window, horizon, options)


def radius(made: Settings, pulls: int) -> float:
    return math.sqrt(made.width / pulls)


@pytest.mark.parametrize(
    ("window", "horizon", "paper", "corrected"),
    # sqrt(T / log T) is 32.9505 at 1e4, 93.1981 at 1e5 and 269.0398 at 1e6
    [(1, 10_000, 17, 1), (10, 100_000, 466, 839), (2, 1_000_000, 270, 270), (100, 1_000_000, 13_452, 26_635)],
)
def test_the_phase_lasts_as_long_as_the_formula_says(window: int, horizon: int, paper: int, corrected: int) -> None:
    assert configured(2, window, horizon).hold == paper
    assert configured(2, window, horizon, constants="corrected").hold == corrected


def test_the_radius_of_the_paper_is_four_times_sqrt_log_t_over_n_and_the_corrected_one_half_of_it() -> None:
    unit = math.sqrt(math.log(100_000) / 466)
    assert radius(configured(), 466) == pytest.approx(4 * unit, rel=1e-14)
    assert radius(configured(constants="corrected"), 466) == pytest.approx(2 * unit, rel=1e-14)
    assert radius(configured(constants="corrected", a=0.75), 466) == pytest.approx(unit / 0.75, rel=1e-14)


@pytest.mark.parametrize("constants", ["paper", "corrected"])
@pytest.mark.parametrize("a", [0.25, 0.5, 0.9])
def test_delta_to_the_a_squared_is_one_over_t_squared(constants: str, a: float) -> None:
    made = configured(2, 3, 100_000, constants=constants, a=a)
    assert made.log_delta == log_level(100_000, a)
    assert a**2 * made.log_delta == pytest.approx(2 * math.log(100_000), rel=1e-14)


@given(st.integers(1, 500), st.integers(2, 10**9), st.floats(0.05, 0.95), st.sampled_from(["paper", "corrected"]))
def test_the_bias_stays_below_its_share_of_the_radius_up_to_the_horizon(
    window: int, horizon: int, a: float, constants: str
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AfterglowWarning)
        made = configured(2, window, horizon, constants=constants, a=a)
    assert (window - 1) / made.hold <= (1 - a) * radius(made, horizon) * (1 + 1e-12)


def test_every_arm_gets_one_phase_and_then_the_largest_index_gets_the_next() -> None:
    made = configured(3, 1, 1000, constants="corrected", hold=10)
    holds, state = steady(policy, made, [0.2, 0.9, 0.4], horizon=55)
    # width 4 log 1000 = 27.63: after 10 pulls each radius is 1.66, after 20 it is 1.18
    # indices then: 1.86, 2.56, 2.06 -> arm 1; 1.86, 2.08, 2.06 -> arm 1; 1.86, 1.86 (0.9 + 0.96), 2.06 -> arm 2
    assert holds == [(0, 10, 0), (1, 10, 0), (2, 10, 0), (1, 10, 0), (1, 10, 0), (2, 5, 0)]
    assert state.pulls == [10, 30, 15]
    assert state.sums == pytest.approx([2.0, 27.0, 6.0])


def test_equal_arms_take_turns_from_the_lowest() -> None:
    holds, _ = steady(policy, configured(3, 1, 1000, hold=7), [0.5, 0.5, 0.5], horizon=42)
    assert [arm for arm, _, _ in holds] == [0, 1, 2, 0, 1, 2]


def test_phases_too_long_to_try_every_arm_are_warned_of_with_the_numbers() -> None:
    text = (
        "phased-ucb needs 5 arms x 4,943 steps to try every arm once, the horizon is 10,000; "
        "shorten the window to 121 or use trim-ucb"
    )
    with pytest.warns(AfterglowWarning) as caught:
        configured(5, 300, 10_000)
    assert [str(warning.message) for warning in caught] == [text]
    assert caught[0].filename == __file__  # where the settings were asked for


def test_the_warning_for_a_hold_of_ones_own_names_the_longest_that_fits() -> None:
    with pytest.warns(AfterglowWarning, match=r"5 arms x 3,000 steps .* 10,000; give hold=2000 or less or use"):
        configured(5, 1, 10_000, hold=3000)


def test_the_warning_says_so_when_no_window_is_short_enough() -> None:
    with pytest.warns(AfterglowWarning, match="no window is short enough: lengthen the horizon or use trim-ucb"):
        configured(40, 5, 50)


def test_a_plan_that_fits_is_not_warned_of() -> None:
    assert configured(5, 121, 10_000).hold * 5 <= 10_000


@given(st.integers(2, 50), st.integers(2, 10**7), st.floats(0.01, 0.99), st.sampled_from(["paper", "corrected"]))
def test_the_largest_window_fits_and_the_next_does_not(arms: int, horizon: int, a: float, constants: str) -> None:
    window = largest_window(arms, horizon, constants, a)
    if window:
        assert arms * hold_length(window, horizon, constants, a) <= horizon
    assert arms * hold_length(window + 1, horizon, constants, a) > horizon


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"a": 1.0}, "a must be a number above 0 and below 1 (the share of the radius against chance), got 1.0"),
        ({"hold": 0}, "hold must be a whole number of at least 1, got 0"),
        ({"hold": 2.5}, "hold must be a whole number of at least 1, got 2.5"),
    ],
)  # fmt: skip
def test_an_option_out_of_range_is_refused_by_name(options: dict[str, object], sentence: str) -> None:
    with pytest.raises(BadValue) as refused:
        configured(**options)  # type: ignore[arg-type]
    assert str(refused.value) == sentence


def test_unknown_constants_are_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownName, match="did you mean 'corrected'"):
        configured(constants="correct")


def test_the_horizon_and_the_window_must_be_known() -> None:
    assert policy.needs() == ["window", "horizon"]
    with pytest.raises(BadValue, match="phased-ucb needs horizon; give it"):
        policy.settings(2, 5)
    with pytest.raises(BadValue, match="horizon must be a whole number of at least 2, got 1"):
        policy.settings(2, 5, 1)
