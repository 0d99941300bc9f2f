"""Where machine code is kept; where it can't be, that costs time only."""

import logging
import os
import stat
import time
from pathlib import Path

import numba
import pytest

from afterglow.engine import compiling
from afterglow.engine.compiling import KEPT_FILES, announce, keep, prune, warn_shared


def one_more(number: int) -> int:
    return number + 1


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """What is said in a process that has compiled nothing yet, where Numba has no other place of its own."""
    monkeypatch.setattr(compiling, "loaded", {})
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", os.devnull)
    announce.cache_clear()
    caplog.set_level(logging.INFO, "afterglow")
    return caplog


def compiled_in(folder: Path) -> list[str]:
    """The code works, whether it is kept or not; what is said then."""
    assert keep(one_more, numba.int64(numba.int64), dict, "mark")(2) == 3
    return [f"compiling kernels, in every process anew: {folder} can't be written; set AFTERGLOW_CACHE"]


def test_a_cache_that_cannot_be_written_costs_time_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("AFTERGLOW_CACHE", str(tmp_path / "file" / "cache"))
    assert compiled_in(tmp_path / "file" / "cache") == log.messages


def test_a_cache_that_can_only_be_read_costs_time_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("AFTERGLOW_CACHE", str(tmp_path))
    (tmp_path / "one_more_mark.py").write_text("# found here")
    (tmp_path / "__pycache__").write_text("not a folder")
    assert compiled_in(tmp_path) == log.messages


def test_a_user_without_a_home_compiles_too(monkeypatch: pytest.MonkeyPatch, log: pytest.LogCaptureFixture) -> None:
    def nowhere() -> Path:
        raise RuntimeError("could not determine home directory")

    monkeypatch.delenv("AFTERGLOW_CACHE", raising=False)
    monkeypatch.setattr(Path, "home", nowhere)
    assert compiled_in(Path(os.devnull) / "kernels") == log.messages


def test_code_is_kept_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("AFTERGLOW_CACHE", str(tmp_path))
    for _ in range(2):
        compiled_in(tmp_path)
        compiling.loaded.clear()
        announce.cache_clear()
    assert log.messages == [f"compiling kernels: once for this version of the code, kept in {tmp_path}"]


def test_new_folders_of_the_cache_are_for_their_user_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: pytest.LogCaptureFixture
) -> None:
    place = tmp_path / "deep" / "kernels"
    monkeypatch.setenv("AFTERGLOW_CACHE", str(place))
    keep(one_more, numba.int64(numba.int64), dict, "mark")
    assert [stat.S_IMODE(one.stat().st_mode) for one in (place, place / "__pycache__")] == [0o700, 0o700]
    assert list((place / "__pycache__").iterdir())


@pytest.mark.parametrize("part", [".", "__pycache__"])
@pytest.mark.parametrize("how", ["writable by a group", "writable by all", "owned by another"])
def test_a_cache_that_others_may_write_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: pytest.LogCaptureFixture, part: str, how: str
) -> None:
    """Its index files are pickles: one that somebody else wrote would be executed."""
    warn_shared.cache_clear()
    monkeypatch.setenv("AFTERGLOW_CACHE", str(tmp_path))
    (tmp_path / part).mkdir(exist_ok=True)
    if how == "owned by another":
        monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
        part = "."
    else:
        (tmp_path / part).chmod({"writable by a group": 0o770, "writable by all": 0o777}[how])
    assert keep(one_more, numba.int64(numba.int64), dict, "mark")(2) == 3
    assert f"machine code is not kept: {tmp_path / part} belongs to another user, or others may" in log.messages[0]
    assert not list(tmp_path.rglob("*.nb*"))


def test_the_cache_is_pruned_from_its_oldest_end(tmp_path: Path) -> None:
    for number in range(KEPT_FILES + 5):
        marker = tmp_path / f"kernel_{number}.py"
        marker.write_text("")
        long_ago = time.time() - 10 * 86_400 + number
        os.utime(marker, (long_ago, long_ago))
    prune(tmp_path)
    left = {file.stem for file in tmp_path.glob("*.py")}
    assert len(left) == KEPT_FILES
    assert "kernel_4" not in left
    assert "kernel_5" in left
