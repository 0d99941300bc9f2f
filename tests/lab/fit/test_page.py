"""A fit's page: who brings more first, everything inside, the same bytes every time."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from afterglow.lab.fit.fitting import FitDifference, fit
from afterglow.lab.fit.page import answer, page, write
from support.worlds.recorded_steps import recorded

FULL = fit(recorded(1, 1500, 60), window=24, reward_max=1.0)


def test_the_page_begins_with_who_brings_more_and_needs_nothing_else(tmp_path: Path) -> None:
    text = page(FULL)
    headline = answer(FULL.differences)
    assert f"<h1>{headline[0].upper()}{headline[1:]}.</h1>" in text
    assert not re.search(r'(src|href)="(https?:)?//', text)
    assert text.count("<svg class=") == 4
    path = write(FULL, tmp_path)
    assert path.read_text(encoding="utf-8") == text == page(FULL)
    assert json.loads((tmp_path / "fit.json").read_text(encoding="utf-8"))["differences"][0]["than"] == "C"


def test_names_and_notes_are_text_on_the_page() -> None:
    steps = recorded(1, 600, 20)
    text = page(replace(fit(replace(steps, arm=[f"<b>{arm}" for arm in steps.arm]), 4), notes=["<i>so"]))
    assert "&lt;i&gt;so." in text
    assert "&lt;b&gt;A" in text
    assert "<b>" not in text


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ([(1, 2)], "B is better than A"),
        ([(1, 2), (1, 3)], "B and C are better than A"),
        ([(-2, -1), (-3, -1)], "A is better than B and C"),
        ([(1, 2), (-1, 1), (-3, -1)], "B is better than A; A is better than D; the difference to C is not clear"),
        ([(-1, 1), (0, 2)], "no arm is shown to be better or worse than A"),
    ],
)
def test_the_headline_claims_what_the_intervals_show(ends: list[tuple[float, float]], said: str) -> None:
    rows = [FitDifference("BCD"[place], "A", (low + high) / 2, low, high) for place, (low, high) in enumerate(ends)]
    assert answer(rows) == said
