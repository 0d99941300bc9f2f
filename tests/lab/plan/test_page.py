"""A plan's page: the answer first, everything inside, the same bytes every time."""

import html
import json
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from afterglow.cli import run
from afterglow.lab.plan.answer import Plan
from afterglow.lab.plan.page import call, figures, page, write
from afterglow.lab.plan.past_totals import source_of
from afterglow.lab.plan.planner import plan


@pytest.fixture(scope="module")
def found() -> Plan:
    return plan(2, 4, 400, 0.2, 0.4, 0.1, season=6, runs=40)


def test_the_page_begins_with_the_answer_and_needs_nothing_else(found: Plan) -> None:
    text = page(found)
    assert f"<h1>{found.answer[0].upper()}{found.answer[1:]}.</h1>" in text
    assert "with holds of whole cycles of 6 steps" in text
    assert ", told a cycle of 6 steps." in page(
        replace(found, policy="random-turns", settings={})
    )  # its turns are short
    assert not re.search(r'(src|href)="(https?:)?//', text)
    assert text.count("<svg class=") == 2
    assert text == page(found)


def test_the_numbers_of_a_profile_are_on_the_page_once(found: Plan) -> None:
    code = "Agent(arms=2, profile=[1.25, 3.5])"
    told = replace(found, profile=[1.25, 3.5], agent=code, live=code.replace("Agent", "create"))
    text = html.unescape(page(told))
    assert text.count("[1.25, 3.5]") == 1
    assert text.index("profile = [1.25, 3.5]") < text.index("agent = Agent(arms=2, profile=profile)")


def test_page_and_axes_say_the_unit(found: Plan) -> None:
    hourly = replace(found, step_seconds=3600.0, source={"file": "x.csv", "column": "margin"}, mean=250.0, gap=0.2)
    assert "Amounts are in the unit of the totals." in page(found)
    assert "Amounts are in the unit of the column “margin”; a step is an hour." in page(hourly)
    labels = {name: figure.axes[0].get_xlabel() for name, figure in figures(hourly).items()}
    assert labels["gaps"] == "gap in % of the mean total, 250, after 400 steps"
    assert labels["horizons"] == "steps of an hour, for a gap of 20 %, 50 per step"


def test_a_history_given_as_text_is_no_file() -> None:
    assert source_of("total\n1\n2\n", {"column": "total"}) is None
    assert source_of("totals.csv", {"column": "total"}) == {"file": "totals.csv", "column": "total"}


def test_a_hopeless_plan_does_not_say_use(found: Plan) -> None:
    text = page(replace(found, verdict="hopeless", advice=["fewer arms: 2 would not help"]))
    assert "Not recommended; the best candidate is <strong>" in text
    assert "<li>fewer arms: 2 would not help</li>" in text


def test_what_was_not_found_is_said_so(found: Plan) -> None:
    gaps: dict[str, float | None] = {"80 %": 0.5, "95 %": None}
    text = page(replace(found, smallest_gap=gaps, shortest_horizon={"80 %": None}, longest_tried=9_000))
    assert "a gap of 50 % in 80 % of runs, no gap that fits in 95 % of runs" in text
    assert "more than 9,000 steps for 80 %" in text


@pytest.mark.parametrize("planned", [0.001, 0.02, 0.2, 5.0])
def test_no_line_crosses_the_word_guessing(found: Plan, planned: float) -> None:
    curve = [(value, 0.7) for value in sorted({0.001, 0.01, 0.1, 5.0, planned})]
    figure = figures(replace(found, gap=planned, gap_curve=curve))["gaps"]
    figure.draw_without_rendering()
    axes = figure.axes[0]
    word = next(text for text in axes.texts if text.get_text() == "guessing").get_window_extent()
    line = axes.transData.transform((100 * planned, 0))[0]
    assert not word.x0 - 2 < line < word.x1 + 2


def test_what_rounding_leaves_is_no_error(found: Plan) -> None:
    tried = [replace(found.candidates[0], lost=1_166.7, lost_interval=(1_166.7, 1_166.7 + 4e-14))]
    assert '<td class="half">± 0</td>' in page(replace(found, candidates=tried))


def test_the_folder_has_the_page_and_the_data(found: Plan, tmp_path: Path) -> None:
    path = write(found, tmp_path / "plan")
    assert path.name == "index.html"
    assert json.loads((path.parent / "plan.json").read_text(encoding="utf-8"))["answer"] == found.answer


@pytest.mark.parametrize(
    "asked",
    [
        {
            "mean": 1234.5678,
            "noise": 71.25,
            "reward_max": 3000,
            "gap": 0.212345678,
            "season": 6,
            "swing": 0.35,
            "spread": "last",
            "seed": 3,
        },
        {"mean": 0.4},
        {
            "history": "sales.csv",
            "reward_max": 4000,
            "reading": {"column": "net", "decimal": ",", "zone": "Europe/Berlin", "missing": "zero"},
        },
    ],
)
def test_the_command_on_the_page_makes_the_same_plan(
    asked: dict[str, Any], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"2026-01-{1 + t // 24:02d} {t % 24:02d}:00;{900 + t * 37 % 41},5;{990 + t * 17 % 43}" for t in range(99)]
    Path("sales.csv").write_text("\n".join(["hour;net;gross", *rows[:40], *rows[41:]]), encoding="utf-8")
    found = plan(**{"arms": 2, "window": 4, "horizon": 400, "gap": 0.2, "runs": 20} | asked)
    assert run([*shlex.split(call(found))[1:], "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    once = json.loads(json.dumps(found.to_dict()))
    notes = set(once.pop("notes")) - set(again.pop("notes"))
    assert all(note.startswith("the mean is taken as") for note in notes)
    assert again == once
    assert html.escape(call(found), quote=False) in page(found).replace("&#34;", '"').replace("&#39;", "'")


def test_the_page_says_the_cycle_and_how_to_begin(found: Plan) -> None:
    text = html.unescape(page(found))
    assert "a cycle of 6 steps with amplitude 20 %" in text
    assert f"from afterglow import Agent\n\nagent = {found.agent}</pre>" in text
    assert f"from afterglow import live\n\nexperiment = {found.live}</pre>" in text
    assert f"{found.proof[0].upper()}{found.proof[1:]}." in text
    assert "<h2>Start</h2>" in text
    assert "<h2>If you start anyway</h2>" in page(replace(found, verdict="hopeless"))
    assert "noise is a share of reward_max, 0.1 in the unit of the totals" in page(replace(found, reward_max=7.0))
