"""The committed studies run as they are, in small."""

import re
import sys
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from afterglow.lab.report.lemmas import SPREADS, Observed, observe_all
from afterglow.lab.report.lemmas_page import write
from afterglow.lab.study.study import Study
from support.browser.page_names import Names

KINDS = ("svg", "pdf", "png")
FOLDER = Path(__file__).parents[2] / "studies"
SMALL: dict[str, dict[str, Any]] = {
    "theorems": {"horizon": [1e4, 1e5, 1e6]},
    "delay": {"horizon": 1_000, "runs": 1, "checkpoints": 3},
    "anonymity": {"horizon": 1_000},
    "wrong-window": {"horizon": 5_000},
    "zoo": {"horizon": 1_000, "checkpoints": 3},
    "best-arm": {"horizon": [250, 500]},
    "small": {"horizon": [200, 500], "checkpoints": 4},
}


def test_every_study_has_a_small_size() -> None:
    assert {path.stem for path in FOLDER.glob("*.toml")} == set(SMALL)


def test_every_study_is_described_with_its_sizes_and_a_figure() -> None:
    page = (FOLDER.parent / "docs" / "studies.md").read_text(encoding="utf-8")
    for path in [*FOLDER.glob("*.toml"), *FOLDER.glob("*.py")]:
        assert f"`studies/{path.name}`" in page
        (figure,) = re.findall(rf"\(figures/({path.stem}-[\w-]*\.png)\)", page)
        assert (FOLDER.parent / "docs" / "figures" / figure).is_file()


def shrunk(name: str) -> Study:
    """A study with fewer steps and two runs of each cell."""
    study = Study.read(FOLDER / f"{name}.toml")
    policies = [one | {"runs": 2} if isinstance(one, dict) and "runs" in one else one for one in study.policies]
    smaller: dict[str, Any] = {"runs": 2, "policies": policies, "refused": "leave out"} | SMALL[name]
    return replace(study, **smaller)


@pytest.mark.parametrize("name", SMALL)
def test_a_study_runs_in_small(name: str, tmp_path: Path) -> None:
    study = shrunk(name)
    results = study.run(tmp_path)
    assert results.complete
    assert study.name == name
    assert {row["label"] for row in results.summary()} == set(results.labels)


@pytest.fixture(scope="module")
def observed() -> list[Observed]:
    return observe_all(windows=(2, 4), holds=9, times=(1, 2))


def test_the_lemmas_hold_and_the_adversary_reaches_them(observed: list[Observed]) -> None:
    rows = [row for row in observed if (row.window, row.hold) == (4, 8)]
    assert {row.spread for row in rows} == set(SPREADS)
    for row in rows:
        assert row.single <= row.lemma_1 + 1e-9 < row.lemma_1_paper
        assert row.pooled <= 1 + 1e-9
    assert rows[-1].single == rows[-1].lemma_1
    assert rows[-1].pooled == 1.0


def test_the_lemmas_have_a_page_with_everything_inside(observed: list[Observed], tmp_path: Path) -> None:
    page = write(observed, tmp_path).read_text(encoding="utf-8")
    assert not re.search(r"https?:|//[a-z]|@import|<script|<link|<img", page)
    names = Names(page)
    assert names.open == []
    assert names.used <= set(names.ids)
    assert "one adversary reaches it in every hold" in page
    assert re.findall(r'class="name">([^<]*)<', page)[0] == "the adversary"
    made = {path.name for path in (tmp_path / "figures").iterdir()}
    assert made == {f"{name}.{kind}" for name in ("errors-2", "errors-4", "shares", "one-run") for kind in KINDS}


def test_the_program_of_the_lemmas_prints_a_table_and_leaves_it_with_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = loaded("lemmas")
    monkeypatch.setattr(program, "WINDOWS", (2,))
    monkeypatch.setattr(program, "HOLDS", 4)
    monkeypatch.setattr(sys, "argv", ["lemmas.py", "--out", str(tmp_path / "new")])
    program.main()
    printed = capsys.readouterr()
    table = (tmp_path / "new" / "lemmas.csv").read_text(encoding="utf-8").splitlines()
    assert len(printed.out.splitlines()) == len(table) == 1 + 11 * len(program.TIMES)
    assert printed.err == f"report: {tmp_path / 'new' / 'index.html'}\n"


def loaded(name: str) -> Any:
    """A study that is a program."""
    spec = spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
