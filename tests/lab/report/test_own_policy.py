"""A report of a user's own policies: what they must know, why there is no picture, how to play them again."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from afterglow.errors import BadFormat
from afterglow.lab.report.figures import drawn
from afterglow.lab.report.groups import Groups
from afterglow.lab.report.page import page_of
from afterglow.lab.report.theorem_bounds import bound
from afterglow.lab.study import tables
from afterglow.lab.study.code.policy_files import policy_in
from afterglow.lab.study.code.sources import sources_of
from afterglow.lab.study.results import Results
from afterglow.lab.study.study import Study
from afterglow.policies import named

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs" / "guides" / "own-policy.md").read_text(encoding="utf-8")
WORLDS = [{"rewards": [0.9, 0.3], "window": 4, "spread": "last"}]


def section(page: str, title: str) -> str:
    found = page.split(f"<h2>{title}</h2>")[1].split("</section>", maxsplit=1)[0]
    return re.sub(r"\s+", " ", found)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The policy of the guide."""
    path = tmp_path_factory.mktemp("own") / "try_then_keep.py"
    path.write_text(GUIDE.split("```python\n")[1].split("```")[0])
    return path


@pytest.fixture(scope="module")
def page(file: Path) -> str:
    mine: Any = {"policy": policy_in(file), "trial": [20, 30]}
    results = Study([mine, "ucb1"], WORLDS, 2_000, 4, checkpoints=4, name="own").run(file.parent / "results")
    assert Groups(results).ranking[0].label.startswith("try-then-keep")
    return page_of(drawn(results))


def test_what_a_policy_must_know_is_said_of_users_policies_too(page: str) -> None:
    rows = section(page, "Ranking").split("<tr")
    needs = {re.findall(r'name">([^<]*)<', row)[0]: re.findall(r'apart">([^<]*)<', row)[-1] for row in rows[2:]}
    assert needs == {"try-then-keep trial=20": "window", "try-then-keep trial=30": "window", "ucb1": "nothing"}


def test_a_winner_without_a_strip_is_named_with_the_reason(page: str) -> None:
    said = section(page, "One run")
    assert "No picture for try-then-keep trial=20: it is your own code (try_then_keep.py)" in said
    assert "steps of ucb1" in said


def test_the_file_of_a_policy_given_as_an_object_is_named_and_the_study_runs_with_it(page: str, file: Path) -> None:
    again = section(page, "Reproduce")
    assert "It needs your own code in the same folder: <code>try_then_keep.py</code>" in again
    text = page.split("<h2>Reproduce</h2>")[1].split("<pre>")[1].split("</pre>", maxsplit=1)[0].replace("&#34;", '"')
    (file.parent / "own.toml").write_text(text)
    labels = [cell.label for cell in Study.read(file.parent / "own.toml").cells]
    assert labels == ["try-then-keep trial=20", "try-then-keep trial=30", "ucb1"]


def test_the_source_of_a_policy_is_stored_with_the_results(page: str, file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert Results(file.parent / "results").sources == {"try_then_keep.py": text}
    assert "<summary><code>try_then_keep.py</code> as it was run</summary>" in page
    assert "def next_hold(settings" in page


def test_files_that_a_policy_imports_and_own_reward_laws_are_stored_too(tmp_path: Path) -> None:
    (tmp_path / "shared_formula.py").write_text("def half(value):\n    return value / 2\n")
    text = (
        GUIDE.split("```python\n")[1]
        .split("```")[0]
        .replace("state.sums[arm] += body", "state.sums[arm] += half(body)")
    )
    (tmp_path / "mine.py").write_text(f"from shared_formula import half\n{text}")
    study = Study([str(tmp_path / "mine.py")], WORLDS, 100, 2, checkpoints=2)
    assert set(sources_of(study.cells)) == {"mine.py", "shared_formula.py"}
    assert sources_of(Study(["ucb1"], WORLDS, 100, 2).cells) == {}


def test_a_policy_that_only_shares_the_name_of_ours_has_none_of_its_bounds(tmp_path: Path) -> None:
    twin = replace(named("trim-ucb"), version=9)
    groups = Groups(Study([twin], WORLDS, 1_000, 2, checkpoints=2).run(tmp_path / "twin"))
    assert bound(groups.all[0], "trim-ucb") is None
    ours = Groups(Study(["trim-ucb"], WORLDS, 1_000, 2, checkpoints=2).run(tmp_path / "ours"))
    assert bound(ours.all[0], "trim-ucb") is not None


def test_results_without_these_columns_are_refused(tmp_path: Path) -> None:
    Study(["ucb1"], WORLDS, 100, 2, checkpoints=2).run(tmp_path)
    path = tmp_path / "cells.parquet"
    tables.write(path, [tables.read(path).drop_columns(["file"])], tables.read(path).schema.metadata)
    with pytest.raises(BadFormat, match="results of an earlier Afterglow, which stored less; run the study again"):
        Results(tmp_path)
