"""Plans from the history of a shop: weeks around days, and days that stand out."""

import math
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from afterglow import Agent, live
from afterglow.lab.history.estimate import estimate
from afterglow.lab.plan.alignment import Alignment, preferred, too_long, ways
from afterglow.lab.plan.grades import pairs_of
from afterglow.lab.plan.inputs import PlanInputs, scenario_of
from afterglow.lab.plan.past_baseline import error_of, noise_of, past_baseline
from afterglow.lab.plan.planner import plan
from afterglow.lab.plan.rule import decide
from afterglow.lab.plan.scenario import Scenario, block_length
from afterglow.lab.plan.start import started
from afterglow.lab.plan.text import outlier_advice, why_season
from afterglow.lab.plan.trials import Candidate, Trial
from afterglow.worlds.baseline import Blocks, Noise


def shop(weeks: int, promotion: bool) -> list[float]:
    """Hours with a day that swings, busier weekends and, in the third week, two days of a promotion."""
    random, found, noise = np.random.default_rng(3), [], 0.0
    for hour in range(168 * weeks):
        noise = 0.5 * noise + float(random.normal(0, 0.08))
        day = 1 + 0.6 * math.sin(2 * math.pi * hour / 24)
        weekend = 1.3 if hour // 24 % 7 >= 5 else 1.0
        found.append(1_000 * day * weekend * (1 + noise) * (3 if promotion and 400 <= hour < 448 else 1))
    return found


def test_a_profile_is_told_where_whole_days_mislead_and_whole_weeks_are_few(tmp_path: Path) -> None:
    monday = datetime(2026, 9, 21, tzinfo=UTC)
    hours = [(monday + timedelta(hours=hour)).isoformat() for hour in range(168 * 8)]
    found = plan(3, 24, 500, 0.1, history={"time": hours, "total": shop(8, False)}, runs=42)
    assert (found.cycle, found.season, found.verdict) == (168, 1, "yes")
    whole = {each.season: each for each in found.seasons if not each.profile}
    told = next(each for each in found.seasons if each.profile)
    assert 168 not in whole  # too long for every arm to have one
    assert told.found > whole[24].found + 0.1
    assert told.lost < 0.8 * whole[24].lost
    assert found.why_season is not None
    assert found.why_season.startswith("taking out the profile of the cycle finds the best arm in ")
    assert found.profile is not None
    assert len(found.profile) == 168
    agent: Agent = eval(found.agent, {"Agent": Agent})
    assert agent.expected.profile == tuple(found.profile)
    with live.open(tmp_path / "experiments.db") as experiments:  # on a schedule, in phase whenever it starts
        begin = found.live.replace('live.open("experiments.db")', "experiments")
        experiment = eval(begin, {"experiments": experiments})
        assert (experiment.spec.step_ms, experiment.spec.profile) == (3_600_000, tuple(found.profile))
        assert experiment.spec.profile_from_ms == 1000 * (monday + timedelta(weeks=8)).timestamp()
    assert found.profile_from == (monday + timedelta(weeks=8)).timestamp()
    lines = dict(started(found))
    assert [code.count(str(found.profile)[1:-1]) for code in lines.values()] == [1, 0, 0, 0]  # its numbers, once
    names: dict[str, object] = {"Agent": Agent}
    exec(lines["first"], names)
    exec(f"agent = {lines['in Python']}", names)
    assert names["agent"].expected.profile == tuple(found.profile)  # type: ignore[attr-defined]
    assert lines["live"].split(".create(")[1] == lines["client"].split(".create(")[1]
    assert lines["client"].startswith('Client("http://127.0.0.1:8321", token).create("my-experiment", variants=["A"')
    assert "profile=profile" in lines["client"]
    assert found.noise_range is not None
    low, value, high = found.noise_range
    assert low < value < found.noise < high
    assert found.found_range is not None
    assert found.found_range[0] <= found.found <= found.found_range[1]
    assert sum(found.grades.values()) == found.graded_runs > 0


def test_cycles_that_do_not_fit_are_told() -> None:
    history = estimate(shop(8, False))
    asked = Scenario(3, 24, 400, 0.2, 0.4, 0.1, history.season, history.season, 0.2, "uniform", 2_600.0, history)
    assert too_long(asked) == [
        "whole cycles of 168 steps are too long for every arm to have one in 400 steps; that takes 573"
    ]
    assert [(each.align, each.told) for each in ways(asked)] == [(24, False), (1, False), (1, True)]


def test_every_arm_is_the_best_as_often_in_the_runs_that_are_graded() -> None:
    """Seven starts and two arms are fourteen pairs: six runs were all with the first arm as the best."""
    history = estimate(shop(8, False))
    for arms, align, runs in ((2, 1, 6), (2, 1, 20), (3, 24, 6), (2, 168, 4)):
        asked = Scenario(arms, 24, 900, 0.2, 0.4, 0.1, history.season, align, 0.2, "uniform", 2_600.0, history)
        pairs = pairs_of(asked, runs)
        counts = Counter(best for best, _ in pairs)
        assert len(counts) == arms
        assert max(counts.values()) - min(counts.values()) <= 1
        assert {start for _, start in pairs} <= set(asked.starts)
        assert len({start for _, start in pairs}) == min(runs, len(asked.starts))


def test_blocks_of_a_history_keep_their_phase_and_its_noise() -> None:
    """Noise in one phase of a day only, and starts in the middle of it: the planned world has it in that phase."""
    random = np.random.default_rng(4)
    day = [100 + (float(random.normal(0, 30)) if t % 6 == 2 else 0.0) + 20 * (t % 6 == 5) for t in range(600)]
    history = estimate(day, season=6)
    for start in (0, 1, 4):
        base = past_baseline(history, 1.0, 100.0, 25, start, 0, told=False, strength=1.0, signed=False)
        blocks = next(part for part in base.parts if isinstance(part, Blocks))
        spread = [float(np.std(blocks.used[(2 - start + phase) % 6 :: 6])) for phase in range(6)]
        assert blocks.season == 6
        assert spread[0] > 20
        assert max(spread[1:]) < 1
        assert not any(isinstance(part, Noise) for part in base.parts)


def test_the_noise_to_plan_with_leaves_quiet_hours_quiet() -> None:
    """Normal noise alike at all hours was added, and policies that weight hours by their noise seemed to be poor."""
    random = np.random.default_rng(4)
    rest = tuple(float(random.normal(0, 30)) if t % 6 == 2 else 0.0 for t in range(600))
    plain, lacks = noise_of(rest, 6, 25, 0.0, False)
    shown = math.sqrt(np.mean([np.sum(np.roll(plain, -t)[:25]) ** 2 for t in range(600)]) / 25)
    assert lacks == 0
    for times in (1.5, 2.0):
        values, lacks = noise_of(rest, 6, 25, times * shown, False)
        assert lacks == pytest.approx(0, abs=1e-3)
        assert values == pytest.approx(times * np.array(plain))
    values, lacks = noise_of(rest, 6, 25, 3 * shown, False)  # twice what there was, and the rest is added
    assert values == pytest.approx(2 * np.array(plain))
    assert lacks == pytest.approx(math.sqrt(5) * shown)
    assert noise_of(rest, 6, 25, 0.5 * shown, True)[0] == pytest.approx(0.5 * np.array(plain))
    assert noise_of((0.0,) * 600, 6, 25, 1.0, False) == ((0.0,) * 600, 1.0)


def test_what_learns_demand_is_kept_unless_another_promises_much_more() -> None:
    history = estimate(shop(8, False))
    asked = Scenario(3, 24, 1_000, 0.05, 0.4, 0.1, 168, 168, 0.2, "uniform", 2_600.0, history)
    possible = asked.gain * asked.horizon

    def made(name: str, scenario: Scenario, found: int, captured: float) -> Trial:
        lost = np.full(100, (1 - captured) * possible)
        return Trial(
            Candidate(name), scenario.align, np.arange(100) < found, lost, np.full((100, 3), 300), 9.0, 50,
            scenario.told,
        )  # fmt: skip

    for captured, kept in ((0.75, True), (0.85, False)):
        turns = made("random-turns", asked, 90, 0.6)
        others = [made("thrift-ucb", asked, 94, 0.61), made("lean-ucb", asked, 70, 0.65)]
        chosen, rule = decide(asked, [turns, *others])
        assert (chosen, rule.policy, rule.confirmed) == (turns, "random-turns", True)
        told = made("thrift-ucb", asked.expecting(), 90, captured)
        ways_ = [
            Alignment(asked, [turns, *others], chosen, rule, []),
            Alignment(asked.expecting(), [told], *decide(asked.expecting(), [told]), []),
        ]
        best = preferred(ways_)
        assert best.chosen is (turns if kept else told)
    why = why_season(turns, [told], 1.0, None)
    assert why is not None
    assert why.endswith(
        "random-turns learns level and season while it runs, the others trust that they stay as they were"
    )
    without = replace(asked, history=None)
    assert decide(without, [turns, others[0]])[0] is others[0]  # loses less


def test_what_stands_out_is_played_and_its_cost_is_told() -> None:
    found = plan(2, 24, 1_000, 0.05, history=shop(8, True), runs=42)
    assert found.stands_out is not None
    assert found.stands_out.when[0].startswith("step 40")
    assert (found.policy, found.season) == ("random-turns", 168)
    assert found.found > 0.8  # random-turns pulls outliers in; whole weeks suffer from them
    lean = next(each for each in found.candidates if each.policy == "lean-ucb")
    assert found.found > lean.found + 0.1
    assert found.reward_max > 1.05 * max(shop(8, True))
    advice = outlier_advice(replace(found.stands_out, found_without=found.found + 0.04), found.found)
    assert advice[0].startswith("pause the experiment when outliers are expected, or void such steps: ")
    assert outlier_advice(replace(found.stands_out, found_without=found.found + 0.02), found.found) == []


def test_blocks_last_as_long_as_the_experiment_and_a_changing_season_is_planned_with() -> None:
    hours = np.arange(24 * 80)
    change = np.where(hours < 960, 100.0, 300.0) * np.sin(2 * np.pi * hours / 24)
    history = estimate((1000 + change + np.random.default_rng(5).normal(0, 20, hours.size)).tolist(), season=24)
    asked = PlanInputs(2, 4, 200, 0.05, None, None, None, None, None, "uniform")
    scenario = scenario_of(asked, history, [])
    assert block_length(scenario.with_(horizon=230), history) == 24 * 12
    assert block_length(scenario.with_(horizon=400), history) == 400
    assert block_length(scenario.with_(horizon=5_000), history) == 480
    errors = np.array([error_of(history, start, best) for start in range(24) for best in range(2)])
    along = errors @ np.array(history.drift) / np.square(history.drift).sum()  # multiples of what changed
    assert 0.7 < along.std() < 1.3
