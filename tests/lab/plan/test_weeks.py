"""Plans from the history of a shop: weeks around days, and days that stand out."""

import math

import numpy as np

from afterglow.lab.plan.planner import plan


def shop(weeks: int, promotion: bool) -> list[float]:
    """Hours with a day that swings, busier weekends and, in the third week, two days of a promotion."""
    random, found, noise = np.random.default_rng(3), [], 0.0
    for hour in range(168 * weeks):
        noise = 0.5 * noise + float(random.normal(0, 0.08))
        day = 1 + 0.6 * math.sin(2 * math.pi * hour / 24)
        weekend = 1.3 if hour // 24 % 7 >= 5 else 1.0
        found.append(1_000 * day * weekend * (1 + noise) * (3 if promotion and 400 <= hour < 448 else 1))
    return found


def test_whole_weeks_are_counted_where_whole_days_mislead() -> None:
    found = plan(3, 24, 1_000, 0.05, history=shop(8, False), runs=42)
    assert (found.cycle, found.season, found.verdict) == (168, 168, "yes")
    shares = {each.season: each.found for each in found.seasons}
    assert shares[168] > shares[24] + 0.1
    assert found.why_season is not None
    assert found.why_season.startswith("counting whole cycles of 168 steps finds the best arm in 100 % of runs")
    assert "season=168" in found.agent
    short = plan(3, 24, 400, 0.2, history=shop(8, False), runs=21)
    assert (short.cycle, short.season) == (168, 24)
    assert short.notes == [
        "whole cycles of 168 steps are too long for every arm to have one in 400 steps; that takes 573"
    ]


def test_what_stands_out_is_played_and_its_cost_is_told() -> None:
    found = plan(2, 24, 1_000, 0.05, history=shop(8, True), runs=42)
    assert found.stands_out is not None
    assert found.stands_out.when[0].startswith("step 40")
    assert found.stands_out.found_without > found.found + 0.1
    assert found.advice[0].startswith("pause the experiment when outliers are expected, or void such steps: ")
    assert found.reward_max > 1.05 * max(shop(8, True))
