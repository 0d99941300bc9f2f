"""Expected totals of a live experiment: taken out before the policy learns, told before a step begins, never after."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

import afterglow
from afterglow import Agent
from afterglow.errors import BadValue, OutOfTurn
from afterglow.live import Experiment
from afterglow.live.domain.spec import specify

NAMES = ["A", "B", "C"]
MEANS = {"A": 20.0, "B": 24.0, "C": 20.0}
PROFILE = [10.0, 30.0, 18.5, 5.25, 22.0]
ASKED: dict[str, Any] = {"policy": "lean-ucb", "reward_max": 60.0}


@pytest.fixture
def experiments(tmp_path: Path) -> Any:
    with afterglow.live.open(tmp_path / "experiments.db") as opened:
        yield opened


def totals(experiment: Experiment, steps: int, expected: list[float] = PROFILE) -> None:
    random = Random(4)
    middle = sum(PROFILE) / len(PROFILE)
    for _ in range(steps):
        step = experiment.decision().step
        cycle = expected[step % len(expected)] - middle
        experiment.close_step(round(max(0.0, MEANS[experiment.current()] + cycle + random.gauss(0, 2)), 3))


def test_a_profile_decides_like_an_agent_with_it_and_shows_what_came_in(experiments: Any) -> None:
    live = experiments.create("shop", NAMES, 3, 200, profile=PROFILE, trust=0.9, seed=1, **ASKED)
    agent = Agent(NAMES, 3, 200, profile=PROFILE, trust=0.9, **ASKED)
    totals(live, 150)
    for step in live.steps(count=150):
        assert agent.select() == step.variant
        agent.update(step.total)
        assert step.expected == PROFILE[step.step % 5]
    for mine, its in zip(live.estimates(), agent.estimates(), strict=True):
        assert (mine.mean, mine.low, mine.high) == pytest.approx((its.mean, its.low, its.high))
    mine_over, its_over = live.verdict().to_runner_up, agent.verdict("A").to_runner_up
    assert mine_over is not None
    assert its_over is not None
    assert [mine_over.mean, mine_over.low] == pytest.approx([its_over.mean, its_over.low], rel=1e-4)
    assert live.verify().ok


def test_what_was_expected_makes_differences_narrower(experiments: Any) -> None:
    rows = list[Any]()
    for name, given in (("without", {}), ("with", {"profile": PROFILE})):
        made = experiments.create(name, NAMES, 3, 300, policy="washout-ucb", reward_max=60.0, **given)
        totals(made, 299)
        rows.append(made.verdict().to_runner_up)
    without, with_ = rows
    assert with_.high - with_.low < 0.6 * (without.high - without.low)


def test_the_phase_of_a_profile_follows_the_schedule(experiments: Any) -> None:
    hour = 3600.0
    times = {"step_seconds": hour, "starts": 100 * hour, "profile_from": 2 * hour}
    made = experiments.create("hourly", NAMES, 3, profile=PROFILE, policy="washout-ucb", **times)
    begins = made.events(0, 1)[0].body
    gone = (begins["starts"] / 1000 - 2 * hour) / hour
    assert begins["phase"] == int(gone) % 5
    assert made.steps()[0].expected == PROFILE[int(gone) % 5]


def test_totals_are_told_before_their_steps_begin(experiments: Any) -> None:
    made = experiments.create("told", NAMES, 3, 50, typical=20.0, start=False, **ASKED)
    made.expect(0, [21.0, 22.0, 23.0, 24.0])
    made.start()
    made.expect(1, [25.0, None])
    with pytest.raises(OutOfTurn, match="step 0 has begun, and what is expected must be told before"):
        made.expect(0, [1.0])
    with pytest.raises(BadValue, match="values must be of steps up to 49, at most 10,000 ahead and before the horizon"):
        made.expect(49, [1.0, 2.0])
    for wrong in ([float("nan")], ["3"], [True], [1e13]):
        with pytest.raises(BadValue, match="values must have finite numbers"):
            made.expect(9, wrong)
    with pytest.raises(BadValue, match="values must have 1 to 10,000 numbers, got 0"):
        made.expect(9, [])
    totals(made, 4)
    assert [step.expected for step in made.steps(count=4)] == [21.0, 25.0, None, 24.0]
    assert made.verify().ok
    made.stop("enough")
    with pytest.raises(OutOfTurn):
        made.expect(9, [1.0])
    other = experiments.create("other", NAMES, 3, 50, **ASKED)
    with pytest.raises(BadValue, match="experiment 'other' takes no expected totals; create one with typical"):
        other.expect(9, [1.0])


def test_no_limit_is_reached_too_early_without_a_horizon(experiments: Any) -> None:
    made = experiments.create("endless", NAMES, 3, typical=20.0, policy="washout-ucb", reward_max=60.0)
    made.expect(1, [20.0] * 10_000)
    with pytest.raises(BadValue, match="of steps up to 10,000"):
        made.expect(10_001, [20.0])


def test_a_late_void_leaves_what_a_run_without_the_step_would_have(experiments: Any) -> None:
    made = experiments.create("void", NAMES, 3, 120, typical=17.0, **ASKED)
    made.expect(1, [PROFILE[step % 5] for step in range(1, 120)])
    totals(made, 60)
    first = made.status().step - 1
    made.void(first, "in the current hold")
    made.void(20, "learned long ago", last=22)
    totals(made, 20)
    assert made.verify().ok
    state = made._cache.copy.state
    hold = state.plan.hold
    assert hold is None or len(hold.adjustments) == len(hold.totals)
    assert all(step.expected == PROFILE[step.step % 5] for step in made.steps(1, 79))


def test_trust_0_takes_nothing_out(experiments: Any) -> None:
    plain = experiments.create("plain", NAMES, 3, 100, **ASKED)
    none = experiments.create("none", NAMES, 3, 100, profile=PROFILE, trust=0, **ASKED)
    for made in (plain, none):
        totals(made, 99)
    assert [step[:6] for step in plain.steps()] == [step[:6] for step in none.steps()]
    assert plain.verdict().chances == none.verdict().chances


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"policy": "trim-ucb", "profile": PROFILE}, "trim-ucb bounds what came in"),
        ({"profile": [1.0]}, "profile must have 2 to 10,000 numbers, got 1"),
        ({"profile": "12"}, "profile must have 2 to 10,000 numbers"),
        ({"profile": [1.0, float("inf")]}, "profile must have finite numbers, got inf at place 1"),
        ({"profile": PROFILE, "typical": 3.0}, "profile and typical exclude each other"),
        ({"trust": 0.5}, "trust weighs what is expected"),
        ({"profile": PROFILE, "trust": 1.6}, "trust must be a number"),
        (
            {"profile": PROFILE, "profile_from": 3.0},
            "profile_from must be left out unless profile and step_seconds are given",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadValue, match=sentence):
        specify("shop", NAMES, 3, 200, **ASKED | given)
