"""Verdicts by a policy's own regression: intervals of its differences, and what they need."""

import math
import random
from dataclasses import replace

import pytest

from afterglow import Agent
from afterglow.estimation.batch_means import Batches
from afterglow.estimation.comparison import compare
from afterglow.estimation.modelled import modelled
from afterglow.policies.contrasts import Contrasts
from afterglow.student_t import student_quantile

KNOWN = Contrasts((5.0, 6.0, 5.5), (0.0, 0.0, 0.0, 0.0, 0.04, 0.02, 0.0, 0.02, 0.05), 60, 1.0, 400.0)
WASHED = compare(Batches(3, 6, 1))


def test_one_look_is_students_t_and_any_time_is_wider() -> None:
    found = modelled(KNOWN, range(3), WASHED)
    mean, low, high = found.interval(found.contrast(1, 2), 0.05, uniform=False)
    reach = student_quantile(0.95, 60) * math.sqrt(0.04 + 0.05 - 2 * 0.02)
    assert (mean, low, high) == pytest.approx((0.5, 0.5 - reach, 0.5 + reach), abs=1e-3)
    assert found.interval(found.contrast(1, 2), 0.05, uniform=True)[1] < low - 0.2
    assert found.above(1, 0, 0.05)
    assert not found.above(2, 0, 0.01)
    assert found.mean(1) == 6.0
    assert found.more_steps(1, 2, 1.0) == 0
    assert found.more_steps(1, 2, 2.0) == 2 * 40 * 3 + 2 * 5  # 40 rows are known, 40 x 3 more make half the width
    slow = modelled(replace(KNOWN, played=(900, 600, 300)), range(3), WASHED)
    assert (slow.more_steps(1, 2, 2.0) or 0) > 2 * 3 * 300  # those that were played, whatever they were worth
    even = modelled(replace(KNOWN, played=(900, 600, 600)), range(3), WASHED)
    assert even.more_steps(1, 2, 2.0) == 2 * 3 * 600 + 2 * 5


def test_without_an_estimate_and_for_arms_outside_the_model_there_is_no_interval() -> None:
    assert "too little of the season has been seen so far" in str(modelled(None, range(3), WASHED).missing(0, 1))
    flat = Contrasts((5.0, 5.0, 5.0), (0.0,) * 9, 60, 1.0, 0.0)
    assert "not played apart" in str(modelled(flat, range(3), WASHED).missing(0, 1))
    some = modelled(Contrasts((5.0, 6.0), (0.0, 0.0, 0.0, 0.04), 60, 1.0, 0.0), (0, 2), WASHED)
    assert some.steps == (1, 0, 1)
    assert some.mean(2) == 6.0


def test_an_agent_is_clear_about_a_large_effect_in_a_strong_season() -> None:
    noise = random.Random(1)
    agent = Agent(["A", "B", "C"], 6, 1000, "random-turns", season=24, reward_max=400)
    grades = []
    while not agent.finished:
        arm = agent.select()
        agent.update(200 + 80 * math.sin(agent.step * math.pi / 12) + 20 * (arm == "B") + noise.gauss(0, 10))
        if agent.step % 250 == 0:
            grades.append(agent.verdict().grade)
    last = agent.verdict("A")
    assert (last.recommended, grades[-1]) == ("B", "clear")
    assert last.to_control is not None
    assert last.to_control.low is not None
    assert last.to_control.high is not None
    assert last.to_control.low < 20 < last.to_control.high
    assert Agent.from_json(agent.to_json()).verdict("A") == last
