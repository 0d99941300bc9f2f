"""Objects in notebooks: a small picture with a viewBox, made by the standard library alone."""

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from afterglow import Agent, Study, Units, World, fit, plan, simulate
from afterglow.errors import BadValue
from afterglow.pictures import curve, intervals


def played(arms: list[str]) -> Agent:
    agent = Agent(arms, window=3, horizon=200)
    for step in range(60):
        agent.update(0.2 + 0.5 * (agent.select() == arms[0]) + 0.01 * (step % 7))
    return agent


def units() -> Units:
    found = Units(["a", "b"], units=4, window=2, horizon=40)
    for step in range(40):
        arms = found.select()
        found.update({unit: 1.0 + (arm == "b") + 0.1 * (step % 3) for unit, arm in arms.items()})
    return found


def shown(thing: Any) -> str:
    text: str = thing._repr_html_()
    drawings = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    for one in drawings:
        assert ElementTree.fromstring(one).get("viewBox")
    assert len(text) < 20_000
    return text


def test_an_agent_and_its_estimates_show_every_arm() -> None:
    agent = played(["A", "<b>&", "C"])
    for thing in (agent, agent.estimates()):
        text = shown(thing)
        assert text.count("<circle") == 3
        assert "&lt;b&gt;&amp;" in text
        assert "<b>" not in text
    assert "<svg" not in shown(Agent(2, window=3))
    assert repr(agent.estimates()) == str(agent.estimates())


def test_units_show_differences() -> None:
    assert shown(units()).count("<circle") == 2


def test_an_outcome_is_one_line_with_its_curve(tmp_path: Path) -> None:
    world = World.of([0.9, 0.6], window=3)
    outcome = simulate("trim-ucb", world, 300, runs=3, checkpoints=6)
    assert shown(outcome).count("<polyline") == 1
    assert "\n" not in repr(outcome)
    assert "<svg" not in shown(simulate("trim-ucb", world, 300, runs=1))
    results = Study(["trim-ucb", "ucb1"], [world], 300, 4, checkpoints=2).run(tmp_path)
    assert shown(results).count("<svg viewBox") == 2


def test_a_plan_and_a_fit_show_their_answer() -> None:
    planned = plan(arms=2, window=3, horizon=200, gap=0.3, mean=0.5, noise=0.1, runs=20)
    assert planned.verdict in shown(planned)
    rows = "".join(
        f"{step},{'AB'[step // 10 % 2]},{0.4 + 0.2 * (step // 10 % 2) + 0.01 * (step * 7 % 5)}\n" for step in range(200)
    )
    found = fit(f"step,arm,total\n{rows}", window=2)
    assert found.verdict.recommended in shown(found)


def test_pictures_of_nothing_and_of_infinite_ends_are_well_formed() -> None:
    nan = float("nan")
    for rows in ([], [("a", -float("inf"), nan, float("inf"), "–")], [("a", 1.0, 1.0, 1.0, "1")] * 40):
        ElementTree.fromstring(intervals(rows, "x").partition("<p>")[0])
    assert "and 10 more" in intervals([("a", 1.0, 1.0, 1.0, "1")] * 40, "x")
    assert curve([(1, 1)], "x") == ""
    ElementTree.fromstring(curve([(1, 2), (1, 2)], "a & b"))


@pytest.mark.parametrize("given", [(), ([0.5, 0.7], 9), ((0.5, 0.7), "uniform", 9)])
def test_a_world_of_numbers_is_refused_with_the_way_out(given: tuple[Any, ...]) -> None:
    with pytest.raises(BadValue, match=r"World.of\(rewards, window, spread, baseline\) makes a world"):
        World(*given)
