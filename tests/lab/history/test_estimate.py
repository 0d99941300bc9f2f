"""Estimates from past totals: right where the truth is known, and not misled."""

import math
from pathlib import Path

import numpy as np
import pytest

from afterglow.errors import BadValue
from afterglow.lab.history.estimate import estimate
from afterglow.lab.plan.past_totals import summarised_history


def totals(steps: int, seed: int, correlation: float = 0.0, noise: float = 20.0, height: float = 0.0) -> list[float]:
    """Level 300, AR(1) noise, a daily cycle."""
    random = np.random.default_rng(seed)
    fresh = random.normal(0, noise * math.sqrt(1 - correlation**2), steps)
    value, values = float(random.normal(0, noise)), []
    for t in range(steps):
        value = correlation * value + float(fresh[t])
        values.append(300 + value + height * math.sin(2 * math.pi * t / 24))
    return values


def test_level_season_noise_and_correlation_are_found() -> None:
    past = estimate(totals(24 * 200, 1, 0.5, 20, 60))
    assert past.season == 24
    assert past.level == pytest.approx(300, abs=5)
    assert past.profile[6] == pytest.approx(60, abs=8)
    assert sum(past.profile) == pytest.approx(0, abs=1e-9)
    assert past.noise == pytest.approx(20, rel=0.08)
    assert past.correlation == pytest.approx(0.5, abs=0.06)
    assert past.pull_noise == pytest.approx(20 * math.sqrt(1.5 / 0.5), rel=0.3)  # (1 + 0.5) / (1 - 0.5) times as much


@pytest.mark.parametrize("correlation", [0.0, 0.9])
def test_noise_alone_has_no_season(correlation: float) -> None:
    found = [estimate(totals(24 * 30, seed, correlation)).season for seed in range(20)]
    assert found == [1] * 20


def test_a_week_is_told_from_a_day_and_a_given_season_is_taken() -> None:
    random = np.random.default_rng(5)
    days = [100 + (30 if day % 7 >= 5 else 0) + float(random.normal(0, 8)) for day in range(200)]
    assert estimate(days).season == 7
    assert estimate(days, season=1).season == 1
    assert estimate(days, season=14).season == 14


@pytest.mark.parametrize("period", [7, 12, 24, 168])
def test_a_strong_cycle_is_found_in_four_of_it(period: int) -> None:
    for seed in range(5):
        rest = np.random.default_rng(seed).normal(0, 30, 4 * period)
        turn = 2 * math.pi / period
        assert estimate([1_000 + 300 * math.sin(turn * t) + float(e) for t, e in enumerate(rest)]).season == period


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.8, 0.95])
def test_few_cycles_of_noise_are_hardly_ever_taken_for_a_season(correlation: float) -> None:
    """In 28 to 120 totals; about one of a thousand is."""
    found = [estimate(totals(steps, seed, correlation)).season for steps in (28, 60, 120) for seed in range(30)]
    assert sum(season > 1 for season in found) <= 3


def test_a_phase_without_any_total_is_like_the_mean_of_the_others() -> None:
    random = np.random.default_rng(5)
    week = [math.nan, 90.0, 95.0, 100.0, 105.0, 110.0, 140.0]  # closed on Sundays
    past = estimate([week[day % 7] + float(random.normal(0, 4)) for day in range(280)])
    assert (past.season, past.missing, past.empty) == (7, 40, 1)
    assert past.level == pytest.approx(640 / 6, abs=1)
    assert past.profile[0] == 0
    assert past.profile[6] == pytest.approx(140 - 640 / 6, abs=3)
    assert past.noise == pytest.approx(4, rel=0.2)
    assert all(map(math.isfinite, [*past.rest, past.pull_noise, past.correlation, past.trend]))


def test_noise_of_single_totals_that_share_pulls_is_that_of_the_pulls() -> None:
    """Each pull pays over 10 steps: totals vary little and slowly, means of many as much as the pulls' do."""
    pulls = np.random.default_rng(2).normal(50, 5, 6_000)
    past = estimate(np.convolve(pulls, np.full(10, 0.1), "valid").tolist(), season=1, window=10)
    assert past.noise == pytest.approx(5 / math.sqrt(10), rel=0.15)
    assert past.pull_noise == pytest.approx(5, rel=0.25)


def test_missing_totals_and_outliers_bend_no_cycle_and_stay_in_the_noise() -> None:
    values = totals(24 * 60, 3, 0.3, 20, 60)
    clean = estimate(values, 24)
    for place in range(5, len(values), 97):
        values[place] = math.nan
    values[100] = 5_000.0
    past = estimate(values, 24)
    assert (past.missing, past.apart, past.largest) == (15, [100], 5_000)
    assert past.profile == pytest.approx(clean.profile, abs=8)
    known = [value for value in values if not math.isnan(value)]
    assert past.level == pytest.approx(sum(known) / len(known), rel=0.005)
    assert max(past.rest) == past.rest[100] > 4_500
    assert sum(past.rest) == pytest.approx(0, abs=1e-6)
    assert len(past.rest) == past.steps == 24 * 60


def test_busy_hours_that_vary_more_do_not_stand_out() -> None:
    values = shop(8, 1.0, seed=2)
    assert estimate(values).apart == []
    values[500:548] = [3.2 * value for value in values[500:548]]  # a promotion
    assert set(estimate(values).apart) <= set(range(500, 548))
    assert len(estimate(values).apart) > 40


def shop(weeks: int, weekly: float, seed: int) -> list[float]:
    """Hours of a shop: a day that swings by 60 %, busier weekends, noise that is a share of it and lingers."""
    random = np.random.default_rng(seed)
    hours = np.arange(168 * weeks)
    week = 1 + weekly * np.array([0, -0.05, -0.05, 0, 0.1, 0.3, 0.25])
    noise = np.zeros(hours.size)
    for t in hours[1:]:
        noise[t] = 0.5 * noise[t - 1] + random.normal(0, 0.08)
    swing = 1 + 0.6 * np.sin(2 * np.pi * (hours % 24 - 9) / 24)
    return list((1200 * swing * week[hours // 24 % 7] * (1 + noise)).tolist())


@pytest.mark.parametrize("weeks", [4, 8])
def test_a_week_around_a_day_is_found_in_four_of_it(weeks: int) -> None:
    for seed in range(3):
        past = estimate(shop(weeks, 1.0, seed))
        assert (past.season, past.inner) == (168, 24)
        assert past.noises[168] == pytest.approx(224, rel=0.5)  # of means: 0.16 of the level, more in busy hours
        assert past.noises[24] > 2 * past.noises[168]
        assert past.noises[1] == past.noises[24]


def test_a_week_that_is_likely_and_not_sure_is_worth_a_note_if_it_matters() -> None:
    found = summarised_history(shop(4, 0.4, 0), None, 24, {})
    assert (found.history.season, found.history.maybe) == (24, 168)
    assert found.notes[0].startswith("a cycle of 168 steps would lower the noise of one pull from 430 to ")
    assert found.notes[0].endswith(", and the history is too short to be sure of it; try season=168")


@pytest.mark.parametrize("correlation", [0.0, 0.95])
def test_a_day_alone_is_not_taken_for_a_week(correlation: float) -> None:
    found = [estimate(totals(24 * 35, seed, correlation, 20, 60)) for seed in range(8)]
    assert [(past.season, past.inner) for past in found] == [(24, 1)] * 8


def test_a_week_alone_is_not_taken_for_a_fortnight() -> None:
    week = [0, -5, -5, 0, 10, 40, 35]
    for seed in range(8):
        noise = np.random.default_rng(seed).normal(0, 10, 60)
        assert estimate([300 + week[day % 7] + float(e) for day, e in enumerate(noise)]).season == 7


def test_a_given_season_is_asked_for_the_cycle_inside_it() -> None:
    past = estimate(shop(4, 0.0, 1), season=168)
    assert (past.season, past.inner) == (168, 24)


def test_a_straight_trend_is_no_cycle() -> None:
    values = [100 + 0.1 * t + float(e) for t, e in enumerate(np.random.default_rng(1).normal(0, 3, 720))]
    assert estimate(values).season == 1


def test_the_length_of_a_step_tells_of_days_and_weeks() -> None:
    turn, rest = 2 * math.pi / 48, np.random.default_rng(3).normal(0, 20, 48 * 20)
    values = [300 + 60 * math.sin(turn * t) + float(e) for t, e in enumerate(rest)]
    assert estimate(values).season == 1
    assert estimate(values, step_seconds=1_800).season == 48


def test_a_trend_is_taken_out_and_told() -> None:
    values = [value + 0.1 * t for t, value in enumerate(totals(24 * 60, 4, 0.0, 20, 60))]
    past = estimate(values)
    assert past.season == 24
    assert past.trend == pytest.approx(144, rel=0.1)
    assert past.noise == pytest.approx(20, rel=0.1)


def test_totals_that_never_change_have_no_noise() -> None:
    past = estimate([5.0] * 50)
    assert (past.level, past.noise, past.pull_noise, past.correlation, past.season) == (5, 0, 0, 0, 1)


def test_what_is_too_short_is_refused() -> None:
    with pytest.raises(BadValue, match="a history needs at least 20 totals to estimate noise from, got 3"):
        estimate([1.0, 2.0, 3.0])
    with pytest.raises(BadValue, match="a season of 24 steps needs a history of two, 48 totals, got 30"):
        estimate([1.0] * 30, season=24)


def test_a_season_that_changes_is_expected_as_it_was_lately_and_may_change_again() -> None:
    random = np.random.default_rng(4)
    hours = np.arange(24 * 40)
    wave = np.sin(2 * np.pi * hours / 24)
    still = estimate((100 + 20 * wave + random.normal(0, 4, hours.size)).tolist(), season=24)
    grown = estimate((100 + np.where(hours < 480, 10, 30) * wave + random.normal(0, 4, hours.size)).tolist(), season=24)
    assert np.abs(still.drift).max() < 2.0
    assert np.array(grown.drift) == pytest.approx(20 * wave[:24], abs=6.0)  # five errors
    assert np.array(grown.expected) == pytest.approx(30 * wave[:24], abs=5.0)
    few = estimate((100 + 20 * wave[:120] + random.normal(0, 4, 120)).tolist(), season=24)
    assert few.drift == [0.0] * 24  # two cycles in each half are too few to tell


def test_a_week_in_which_an_hour_was_recorded_twice_is_found() -> None:
    random = np.random.default_rng(3)
    hours = np.arange(169 * 8)
    week = random.normal(0, 30, 169)
    assert estimate((200 + week[hours % 169] + random.normal(0, 8, hours.size)).tolist()).season == 169


SERIES = sorted((Path(__file__).parents[3] / "studies" / "series").rglob("*.csv"))


@pytest.mark.parametrize("path", SERIES, ids=lambda path: path.stem)
def test_the_cycle_of_real_demand_is_a_day_or_a_week(path: Path) -> None:
    days = path.stem in ("pages", "trains", "transactions")
    values = np.loadtxt(path, skiprows=1)
    past = estimate(values[: len(values) // 2].tolist(), window=6)
    assert past.season in ((7,) if days else (24, 168))
    assert past.pull.low < past.pull_noise < past.pull.planned < past.pull.high
    assert np.isfinite(past.expected).all()


def test_a_gap_of_whole_cycles_takes_part_in_nothing() -> None:
    values = np.array(totals(24 * 40, 5, 0.0, 10, 60))
    values[24 * 15 : 24 * 19] = math.nan
    past = estimate(values.tolist())
    assert (past.season, past.missing, past.empty) == (24, 96, 0)
    assert past.noise == pytest.approx(10, rel=0.1)
    assert np.abs(past.drift).max() < 10


def test_totals_that_are_no_numbers_are_refused_and_negative_ones_are_told() -> None:
    past = totals(100, 6)
    for wrong in (math.inf, "5", True):
        with pytest.raises(BadValue, match="history must have finite numbers, or nan where a total is missing, got"):
            summarised_history([*past, wrong], None, 6, {})  # type: ignore[arg-type]
    assert summarised_history([*past, math.nan], None, 6, {}).history.missing == 1
    notes = summarised_history([*past, -40.0], None, 6, {}).notes
    assert notes[0].startswith("1 total is negative, the least is -40; agents and experiments refuse such totals")
