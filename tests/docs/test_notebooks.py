"""The notebooks of the gallery run in a fresh kernel, show what they have stored, and are pages of the site."""

import json
import warnings
from pathlib import Path

import pytest

from notebooks import executed, notebooks, page, texts

BOOKS = notebooks()


def test_there_are_three() -> None:
    assert [path.stem for path in BOOKS] == ["marketplace", "own-policy", "shop"]


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_it_has_stored(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the kernel's own libraries
        shown = executed(path)
    again = f"run python docs/notebooks.py {path.name}"
    assert texts(shown) == texts(json.loads(path.read_text(encoding="utf-8"))), again


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_small_and_has_no_trace_of_a_machine(path: Path) -> None:
    assert path.stat().st_size < 100_000
    book = json.loads(path.read_text(encoding="utf-8"))
    for cell in book["cells"]:
        assert cell["metadata"].keys() <= {"alt"}
        assert cell.get("execution_count") is None


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_a_notebook_becomes_a_page_with_its_pictures(path: Path, tmp_path: Path) -> None:
    text = page(path, tmp_path / "pictures")
    assert text.startswith("# ")
    drawn = list((tmp_path / "pictures").iterdir())
    assert len(drawn) == 1
    assert drawn[0].read_bytes().startswith(b"\x89PNG")
    assert f"(pictures/{drawn[0].name})" in text
    assert "What the code above draws" not in text  # every picture has a text of its own
