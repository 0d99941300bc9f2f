"""A plan's page: the answer first, everything inside, the same bytes every time."""

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from afterglow.lab.plan import Plan, plan
from afterglow.lab.plan_page import call, page, write


@pytest.fixture(scope="module")
def found() -> Plan:
    return plan(2, 4, 400, 0.2, 0.4, 0.1, season=6, runs=40)


def test_the_page_begins_with_the_answer_and_needs_nothing_else(found: Plan) -> None:
    text = page(found)
    assert f"<h1>{found.answer[0].upper()}{found.answer[1:]}.</h1>" in text
    assert "counting whole cycles of 6 steps" in text
    assert not re.search(r'(src|href)="(https?:)?//', text)
    assert text.count("<svg class=") == 2
    assert text == page(found)


def test_a_hopeless_plan_does_not_say_use(found: Plan) -> None:
    text = page(replace(found, verdict="hopeless", advice=["fewer arms: 2 would not help"]))
    assert "Don’t run it like this; the least bad choice is <strong>" in text
    assert "<li>fewer arms: 2 would not help</li>" in text


def test_what_was_not_found_is_said_so(found: Plan) -> None:
    gaps: dict[str, float | None] = {"80 %": 0.5, "95 %": None}
    text = page(replace(found, smallest_gap=gaps, shortest_horizon={"80 %": None}, longest_tried=9_000))
    assert "a gap of 50 % in 80 % of runs, no gap that fits in 95 % of runs" in text
    assert "more than 9,000 steps for 80 %" in text


def test_what_rounding_leaves_is_no_error(found: Plan) -> None:
    tried = [replace(found.candidates[0], lost=1_166.7, lost_error=4e-14)]
    assert '<td class="half">± 0</td>' in page(replace(found, candidates=tried))


def test_the_folder_has_the_page_and_the_data(found: Plan, tmp_path: Path) -> None:
    path = write(found, tmp_path / "plan")
    assert path.name == "index.html"
    assert json.loads((path.parent / "plan.json").read_text(encoding="utf-8"))["answer"] == found.answer


def test_the_command_on_the_page_makes_the_same_plan(found: Plan, capsys: pytest.CaptureFixture[str]) -> None:
    from afterglow.cli import run

    assert run([*shlex.split(call(found))[1:], "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(found.as_dict()))
