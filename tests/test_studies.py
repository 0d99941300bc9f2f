"""The committed studies run as they are, in small."""

import sys
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from afterglow.lab.study import Study

FOLDER = Path(__file__).parent.parent / "studies"
SMALL: dict[str, dict[str, Any]] = {
    "theorems": {"horizon": [1e4, 1e5, 1e6]},
    "delay": {"horizon": 1_000, "runs": 1, "checkpoints": 3},
    "anonymity": {"horizon": 1_000},
    "wrong-window": {"horizon": 5_000},
    "zoo": {"horizon": 1_000, "checkpoints": 3},
    "small": {"horizon": [200, 500], "checkpoints": 4},
}


def test_every_study_has_a_small_size() -> None:
    assert {path.stem for path in FOLDER.glob("*.toml")} == set(SMALL)


def test_every_study_is_described_with_its_sizes() -> None:
    page = (FOLDER.parent / "docs" / "studies.md").read_text(encoding="utf-8")
    for path in [*FOLDER.glob("*.toml"), *FOLDER.glob("*.py")]:
        assert f"`studies/{path.name}`" in page


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


def test_the_lemmas_hold_and_the_adversary_reaches_them() -> None:
    lemmas = loaded("lemmas")
    rows = lemmas.study(windows=(4,), holds=9, times=(2,))
    assert {row.spread for row in rows} == set(lemmas.SPREADS)
    for row in rows:
        assert row.single <= row.lemma_1 + 1e-9 < row.lemma_1_paper
        assert row.pooled <= 1 + 1e-9
    assert rows[-1].single == rows[-1].lemma_1
    assert rows[-1].pooled == 1.0


def loaded(name: str) -> Any:
    """A study that is a program."""
    spec = spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
