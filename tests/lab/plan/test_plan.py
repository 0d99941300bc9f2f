"""Plans: the simulation's answer in words and numbers, the same every time."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from afterglow import Agent, live
from afterglow.engine.simulate import simulate
from afterglow.errors import BadValue
from afterglow.lab.plan.answer import Plan
from afterglow.lab.plan.grades import Grades, grades_of, played
from afterglow.lab.plan.planner import fewer, plan
from afterglow.lab.plan.proof import Proof, may_come_apart, proof_of
from afterglow.lab.plan.rule import choose, decide, rule_of
from afterglow.lab.plan.scenario import Scenario
from afterglow.lab.plan.text import agent_of, how_graded, how_it_ends, live_of, reason, what_is_proved
from afterglow.lab.plan.trials import Candidate, Effort, Trial, trial
from afterglow.lab.plan.verdict import verdict_of
from afterglow.worlds.world import World

EASY: dict[str, Any] = {"arms": 3, "window": 6, "horizon": 1_000, "gap": 0.2, "mean": 0.4, "noise": 0.1, "runs": 90}
HOPELESS: dict[str, Any] = {"arms": 3, "window": 12, "horizon": 400, "gap": 0.02, "mean": 0.4, "runs": 90}


@pytest.fixture(scope="module")
def easy() -> Plan:
    return plan(**EASY)


@pytest.fixture(scope="module")
def hopeless() -> Plan:
    return plan(**HOPELESS)


def test_the_same_plan_comes_out_whatever_the_threads(easy: Plan) -> None:
    assert plan(**EASY, threads=1) == easy
    assert json.loads(json.dumps(easy.to_dict()))["found"] == easy.found


def test_an_easy_plan_is_called_so_and_its_limits_lie_below_what_was_asked(easy: Plan) -> None:
    assert easy.verdict == "yes"
    assert easy.answer.startswith("yes: the best of 3 arms is found in ")
    assert easy.advice == []
    low, high = easy.smallest_gap["80 %"], easy.smallest_gap["95 %"]
    assert low is not None
    assert high is not None
    assert 0 < low <= high < 0.2
    short, long = easy.shortest_horizon["80 %"], easy.shortest_horizon["95 %"]
    assert short is not None
    assert long is not None
    assert 0 < short <= long < 1_000


def test_the_smallest_gap_and_the_shortest_horizon_hold_when_played(easy: Plan) -> None:
    gap, steps = easy.smallest_gap["80 %"], easy.shortest_horizon["80 %"]
    assert gap is not None
    assert steps is not None
    used, effort = Candidate(easy.policy, easy.settings), Effort(900, 2, None, lambda _: None)
    asked = scenario(window=6, horizon=1_000, gap=0.2)
    assert trial(used, asked.with_(gap=gap), effort).found == pytest.approx(0.8, abs=0.15)
    assert trial(used, asked.with_(horizon=steps), effort).found == pytest.approx(0.85, abs=0.15)


def test_a_hopeless_plan_is_called_hopeless_with_what_would_help(hopeless: Plan) -> None:
    assert hopeless.verdict == "hopeless"
    assert "guessing finds it in 33 %" in hopeless.answer
    assert hopeless.rule.says == "don't run it"
    assert [line.split(":")[0] for line in hopeless.advice[:2]] == ["longer", "a larger gap"]
    assert any(line.startswith("fewer arms: 2") for line in hopeless.advice)
    assert any(line.startswith("a shorter window: 3") for line in hopeless.advice)
    assert hopeless.notes == [
        "the noise is taken as the largest possible, that of yes/no rewards; give noise or history"
    ]


def test_losses_are_compared_with_knowing_and_with_turning_for_ever(easy: Plan) -> None:
    assert easy.lost_by_schedule == pytest.approx(0.2 * 0.4 * 1_000 * 2 / 3)
    assert 0 < easy.lost < easy.lost_by_schedule
    assert easy.lost_share == pytest.approx(easy.lost / (1_000 * 0.48))
    world = World.of([0.4, 0.4, 0.48], 6, "uniform")
    turned = simulate("switchback", world, 1_000, 5)
    assert turned.regret.mean == pytest.approx(easy.lost_by_schedule, rel=0.03)


def test_the_rule_of_thumb_is_as_stated(easy: Plan) -> None:
    assert easy.rule.q == pytest.approx(1_000 * 0.08**2 / (2 * 3 * 0.01))
    assert easy.rule.s == pytest.approx((4 * 3 * 5 / 0.2 + 6 * 0.01 * math.log(1_000) / 0.08**2) / 1_000)
    assert easy.rule.policy == "thrift-ucb"


def test_candidates_that_do_not_fit_are_left_out_and_told() -> None:
    found = plan(**EASY | {"horizon": 35, "runs": 30})
    assert [each.policy for each in found.candidates] == ["thrift-ucb", "trim-ucb", "washout-ucb"]
    assert found.notes[0].startswith("lean-ucb was left out: lean-ucb needs 2 x 3 arms x 6 steps = 36")
    assert found.rule.says == "too short to try every arm for two windows"


@pytest.fixture(scope="module")
def day() -> list[float]:
    random = np.random.default_rng(1)
    return [500 + 100 * math.sin(math.pi * t / 6) + float(random.normal(0, 40)) for t in range(600)]


@pytest.fixture(scope="module")
def daily(day: list[float]) -> Plan:
    return plan(3, 4, 800, 0.1, history=day, runs=40)


def test_a_history_tells_mean_noise_and_season(day: list[float], daily: Plan, tmp_path: Path) -> None:
    found = daily
    assert found.history is not None
    assert found.season == found.history["season"] == 12
    assert found.mean == pytest.approx(500, rel=0.02)
    assert found.noise == pytest.approx(40, rel=0.4)
    assert found.reward_max >= 1.1 * max(day)
    assert found.read == "600 totals"
    assert found.verdict == "yes"
    path = tmp_path / "totals.csv"
    path.write_text("total\n" + "\n".join(repr(value) for value in day) + "\n")
    assert found.source is None
    again = plan(3, 4, 800, 0.1, history=path, runs=40)
    assert again == replace(found, source={"file": str(path)}, read="600 totals from column 'total'")


def test_a_long_horizon_is_played_less_often_and_says_so() -> None:
    notes: list[str] = []
    assert fewer(600, 2_000, notes) == 600
    assert notes == []
    assert fewer(600, 100_000, notes) == 100
    assert fewer(600, 10**7, notes) == 40
    assert notes[0] == "100 runs are simulated instead of 600, because the horizon is long"


def scenario(**changes: Any) -> Scenario:
    given: dict[str, Any] = {
        "arms": 3, "window": 4, "horizon": 500, "gap": 0.1, "mean": 0.4, "noise": 0.1, "season": 1, "align": 1,
        "swing": 0.2, "spread": "uniform", "reward_max": 1.0, "history": None,
    }  # fmt: skip
    return Scenario(**given | changes)


def test_a_scenario_has_the_mean_gap_and_noise_that_were_asked_for() -> None:
    for season in (1, 24):
        world = scenario(season=season, align=season).world(2)
        assert world.best == 2
        assert world.gaps == pytest.approx([0.04, 0.04, 0])
        assert world.means[0] + world.baseline.mean == pytest.approx(0.4)
        assert [math.sqrt(law.variance) for law in world.rewards] == pytest.approx([0.1] * 3)


def made(name: str, right: int, lost: float, error: float = 0.1) -> Trial:
    """A trial of 100 runs."""
    regrets = lost + error * 10 * np.tile([-1.0, 1.0], 50) * math.sqrt(0.99)
    return Trial(Candidate(name), 1, np.arange(100) < right, regrets, np.full((100, 3), 100), 5.0, 10)


def test_the_simulation_has_the_last_word() -> None:
    lean, trim, turns = made("thrift-ucb", 60, 20.0), made("trim-ucb", 99, 30.0), made("switchback", 98, 25.0)
    assert choose([trim, lean, turns]) is turns
    chosen, rule = decide(scenario(), [trim, lean, turns])
    assert chosen is turns
    assert (rule.policy, rule.confirmed) == ("thrift-ucb", False)
    assert reason(chosen, [trim, lean, turns], rule, 1.0) == (
        "the rule of thumb names thrift-ucb, the simulation corrects it: it finds the best arm in 98 % of runs and "
        "loses 25, trim-ucb in 99 % and loses 30"
    )
    agreed = rule_of(scenario(), lean, [lean])
    assert agreed.confirmed
    assert reason(lean, [lean], agreed, 1.0) == "thrift-ucb is the only candidate that fits"
    near = made("switchback", 61, 19.95)
    assert choose([lean, near]) is near
    used, rule = decide(scenario(), [lean, near])
    assert used is lean  # as good within chance
    assert reason(used, [lean, near], rule, 1.0).startswith(
        "the rule of thumb names thrift-ucb and the simulation confirms it: it finds the best arm in 60 % of runs"
    )
    often, less = made("trim-ucb", 71, 30.0), made("switchback", 67, 26.5)
    assert choose([often, less]) is less
    with pytest.raises(BadValue, match="no policy can be played with 3 arms, a window of 4 and a season of 1 in 500"):
        decide(scenario(), [])


def test_what_is_recommended_can_be_played() -> None:
    for asked in (EASY, EASY | {"horizon": 35}):
        found = plan(**asked | {"runs": 20})
        agent: Agent = eval(found.agent, {"Agent": Agent})
        assert agent.policy.name == found.policy
        assert (len(agent.arms), agent.window, agent.horizon) == (asked["arms"], asked["window"], asked["horizon"])
        assert agent.options == found.settings
    many: Agent = eval(agent_of(scenario(arms=30, reward_max=0.25), Candidate("washout-ucb")), {"Agent": Agent})
    assert (len(many.arms), many.reward_max) == (30, 0.25)


def test_the_agent_of_a_history_takes_totals_as_they_are(day: list[float], daily: Plan) -> None:
    found = daily
    agent: Agent = eval(found.agent, {"Agent": Agent})
    assert (agent.season, agent.reward_max) == (12, found.reward_max)
    assert agent.policy.name == "random-turns"
    other = next(each for each in found.candidates if each.policy == "thrift-ucb")
    assert other.settings["noise"] * agent.reward_max == pytest.approx(found.noise, rel=0.01)
    for total in day:
        agent.select()
        agent.update(total)


def test_the_line_for_a_live_experiment_runs(easy: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    many = live_of(scenario(arms=27, align=4, reward_max=2_500.0), Candidate("trim-ucb", {"variance": "estimated"}))
    for number, line in enumerate((easy.live, many)):
        with live.open("experiments.db") as experiments:
            begin = line.replace('live.open("experiments.db")', "experiments")
            experiment = eval(begin.replace("my-experiment", f"number-{number}"), {"experiments": experiments})
            assert experiment.current() == experiment.spec.variants[0]
            assert (len(experiment.spec.variants), experiment.spec.season) == ((27, 4) if number else (3, 1))
            assert dict(experiment.spec.options) == ({"variance": "estimated"} if number else easy.settings)
            assert experiment.spec.reward_max == (2_500 if number else 1)


def test_the_end_is_told_as_agents_will_see_it(easy: Plan) -> None:
    assert (easy.proved, easy.proved_runs) == (0.0, 90)
    assert easy.proof == (
        "the intervals that are valid for any spread are disjoint in none of 90 runs, so the result won't be "
        f"proved; the recommendation is right in {easy.found:.0%}".replace("%", " %")
    )
    effort = Effort(6, 1, None, lambda _: None)  # one in thirty is played step by step, four at least
    clear = scenario(arms=2, window=2, horizon=2_000, gap=1.0, mean=0.4, noise=0.05)
    used = trial(Candidate("lean-ucb"), clear, effort)
    graded = grades_of(used, clear, effort)
    assert (graded.runs, graded.ends) == (4, {"proven": 4})
    assert graded.sure_after is not None
    assert graded.sure_after <= 500
    assert how_graded(graded, None).startswith("proven in 4 of 4 runs at the end; half of these by ")
    assert proof_of(used, clear, graded) == Proof(4, 4)
    assert what_is_proved(Proof(6, 6), 1.0).endswith("are disjoint at the end in all of 6 runs")
    assert what_is_proved(Proof(6, 3), 1.0).endswith("are disjoint at the end in 50 % of 6 runs")
    long = clear.with_(horizon=10**6)
    assert grades_of(used, long, effort) == Grades(0, {}, None)
    assert how_graded(Grades(0, {}, None), None) == "a run is too long to play it step by step here"
    vague = Grades(9, {"inconclusive": 7, "leading": 2}, None)
    assert how_graded(vague, None) == "clear, tested or proven in none of 9 runs, inconclusive in 7, leading in 2"
    assert proof_of(used, long, Grades(0, {}, None)).share is None
    assert "too long to simulate" in what_is_proved(Proof(0, 0), 1.0)


@pytest.mark.parametrize(
    ("ends", "sentence"),
    [
        (
            {"leading": 2, "inconclusive": 18},
            "it will most likely end without certainty: the best arm is recommended in 98 % of runs, but this is "
            "clear, tested or proven in none of 20",
        ),
        (
            {"leading": 9, "clear": 3, "inconclusive": 8},
            "it will most likely end without certainty: the best arm is recommended in 98 % of runs, but this is "
            "clear, tested or proven in 3 of 20",
        ),
        (
            {"inconclusive": 8, "clear": 7, "proven": 5},
            "it will most likely end clear: clear, tested or proven in 12 of 20 runs",
        ),
        ({"clear": 3}, None),  # played too few times
        ({}, None),
    ],
)
def test_the_likely_end_is_that_of_most_runs(ends: dict[str, int], sentence: str | None) -> None:
    assert how_it_ends(Grades(sum(ends.values()), ends, None), 0.982) == sentence


def test_bounds_that_cannot_come_apart_by_their_pulls_do_not_when_played() -> None:
    effort = Effort(4, 1, None, lambda _: None)
    near = scenario(arms=2, window=2, horizon=1_000, gap=0.5, noise=0.05)
    used = trial(Candidate("lean-ucb"), near, effort)
    possible = [may_come_apart(pulls, near) for pulls in used.pulls.tolist()]
    apart = [played(used, near, run % 2, 0, 1, run)[0] == "proven" for run in range(4)]
    assert sum(apart) <= sum(possible)


@pytest.mark.parametrize("horizon", [30, 120])
def test_the_shortest_run_never_contradicts_the_answer(horizon: int) -> None:
    found = plan(4, 24, horizon, 0.3, 0.4, 0.05, runs=60)
    assert dict(found.horizon_curve)[horizon] == found.found
    assert dict(found.gap_curve)[0.3] == found.found
    short = found.shortest_horizon["80 %"]
    assert short is not None
    assert (short <= horizon) == (found.found >= 0.8)
    used = trial(
        Candidate(found.policy, found.settings), scenario(arms=4, window=24, horizon=short, gap=0.3, noise=0.05),
        Effort(60, 1, None, lambda _: None),
    )  # fmt: skip
    assert used.found == dict(found.horizon_curve)[short] >= 0.8


@pytest.mark.parametrize(
    ("found", "arms", "verdict"),
    [(0.96, 3, "yes"), (0.8, 3, "probably"), (0.66, 3, "gamble"), (0.5, 3, "hopeless"), (0.66, 2, "hopeless")],
)
def test_verdicts_are_measured_from_guessing_to_knowing(found: float, arms: int, verdict: str) -> None:
    assert verdict_of(found, arms) == verdict


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"gap": 0}, "gap must be a number above 0 (relative to the mean, 0.05 = 5 %), got 0"),
        ({"arms": 1}, "arms must be a whole number of at least 2, got 1"),
        ({"mean": 1300}, "mean x (1 + gap) must stay below reward_max, the maximum reward of one pull, which is 1 "),
        ({"mean": -1}, "mean must be a number above 0, got -1"),
        ({"window": 2_000}, "window must be at most the horizon, got a window of 2,000 and 1,000 steps in all"),
        ({"noise": 0.6}, "noise must be at most 0.49, the most that rewards from 0 to 1 with this mean can have"),
        ({"gap": 2}, "which is 1 unless it is set, got 1.2; give reward_max=2.5 or what it is"),
        ({"history": [5.0] * 60}, "a history gives mean and noise; leave mean and noise out, or the history"),
        ({"history": [5.0] * 60, "mean": None, "noise": None, "swing": 0.3},
         "a history gives the cycle's amplitude; leave swing out, or the history"),
        ({"history": [500.0] * 60, "mean": None, "noise": None, "reward_max": 590},
         "reward_max must be at least 600.1 for a history of level 500 and this gap, got 590; make it larger or leave"),
        ({"reading": {"column": "sales"}}, "column says how to read a history, and there is no file of one; give"),
        ({"reading": {"colour": "red"}}, "no reading named 'colour'"),
        ({"swing": 0.3}, "swing is the amplitude of a cycle, and there is none; give season, or leave swing out"),
        ({"swing": 2}, "swing must be a number of at least 0 and at most 0.9"),
        ({"spread": "sideways"}, "no spread named 'sideways'"),
    ],
)  # fmt: skip
def test_a_wrong_call_is_refused_with_a_sentence(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadValue) as refusal:
        plan(**EASY | wrong)
    assert sentence in str(refusal.value)
