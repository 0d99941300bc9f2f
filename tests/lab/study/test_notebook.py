"""A study in a notebook shows how far it is, and an interrupt keeps what was finished."""

import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from afterglow.lab.study import runner
from afterglow.lab.study.study import Study


class Handle:
    """What IPython's `display` returns."""

    def __init__(self, pages: list[str]) -> None:
        self.pages = pages

    def update(self, page: str) -> None:
        self.pages.append(page)


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The outputs of a cell in a notebook."""
    found: list[str] = []

    def display(page: str, display_id: bool) -> Handle:
        assert display_id
        found.append(page)
        return Handle(found)

    tools: Any = ModuleType("IPython.display")
    tools.HTML, tools.display = str, display
    shell: Any = ModuleType("IPython")
    shell.get_ipython, shell.display = lambda: SimpleNamespace(kernel=object()), tools
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", tools)
    return found


STUDY = Study(["trim-ucb"], [{"rewards": [0.9, 0.8], "window": 4}], 200, 5, checkpoints=2)


def test_progress_is_shown_and_ends_at_all_runs(pages: list[str], tmp_path: Path) -> None:
    STUDY.run(tmp_path)
    assert "5 of 5 runs" in pages[-1]
    assert "viewBox" in pages[-1]


def test_an_interrupt_says_how_to_go_on(pages: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(runner, "write_runs", stop)
        with pytest.raises(KeyboardInterrupt):
            STUDY.run(tmp_path)
    assert "interrupted at 5 of 5 runs; run again to continue" in pages[-1]
    assert STUDY.run(tmp_path).complete


def test_compiling_is_announced_in_python_too(tmp_path: Path) -> None:
    code = (
        "import afterglow.engine.compiling as compiling; compiling.LONG_SECONDS = 0.01\n"
        "from afterglow import World, simulate\n"
        "for _ in range(2): simulate('washout-ucb', World.of([.5, .7], window=3), 50, runs=1)"
    )
    place = {"AFTERGLOW_CACHE": str(tmp_path / "cache"), "PYTHONPATH": ":".join(sys.path), "PATH": ""}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=place)
    assert done.stderr == "afterglow: compiling, once for this version of the code and each policy\n"
