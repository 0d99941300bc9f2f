"""The lock of a database file is deleted, taken by another process, or can't be written."""

import os
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import afterglow
from afterglow.errors import InUse, Unavailable
from afterglow.live.store.writer_lock import Writer, beside

ASKED: dict[str, Any] = {"variants": ["49", "59"], "window": 2, "reward_max": 10.0, "policy": "ucb1"}


def test_a_lock_that_is_deleted_is_taken_again_and_nobody_else_writes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "experiments.db"
    with afterglow.live.open(path) as experiments:
        experiment = experiments.create("shop", **ASKED)
        beside(path).unlink()
        experiment.reward(1.0, "a")
        assert "experiments.db-writer was deleted or replaced while it is in use; it was locked again" in caplog.text
        with pytest.raises(InUse, match="is being written by process"):
            afterglow.live.open(path)
        assert experiment.reward(1.0, "a").duplicates == 1


def test_of_two_writers_of_a_file_whose_lock_was_deleted_the_second_alone_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "experiments.db"
    first = afterglow.live.open(path)
    shop = first.create("shop", **ASKED)
    beside(path).unlink()
    with afterglow.live.open(path) as second:
        with pytest.raises(Unavailable, match=r"can't be locked again: .* is being written by process"):
            shop.close_step(1.0)
        with pytest.raises(Unavailable):
            first.names()
        second["shop"].close_step(2.0)
        first.close()
        second["shop"].close_step(3.0)
        assert second["shop"].verify().ok
    with afterglow.live.open(path) as again:
        assert [one.total for one in again["shop"].steps()] == [2.0, 3.0, None]


def test_a_process_that_lost_its_lock_does_not_take_it_after_the_other_ended(tmp_path: Path) -> None:
    path = tmp_path / "experiments.db"
    lost = afterglow.live.open(path)
    shop = lost.create("shop", **ASKED)
    beside(path).unlink()
    with afterglow.live.open(path) as other:
        with pytest.raises(Unavailable, match="can't be locked again"):
            shop.close_step(1.0)
        other["shop"].close_step(2.0)
    with pytest.raises(Unavailable, match=r"can't be locked again: .* is being written by process"):
        shop.close_step(1.0)
    with afterglow.live.open(path) as again:
        assert [one.total for one in again["shop"].steps()] == [2.0, None]
    lost.close()


def test_a_lock_that_no_room_is_left_for_is_taken_once_there_is_some(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "experiments.db")
    writer.path.unlink()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        with pytest.raises(Unavailable, match=r"can't be locked again: .*File too large"):
            writer.keep()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    writer.keep()
    with pytest.raises(InUse):
        Writer(writer.database)
    writer.release()


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_a_lock_that_is_another_file_is_refused_and_that_file_left_alone(
    tmp_path: Path, link: Callable[[Path, Path], None]
) -> None:
    """Whoever may write to the folder could have any file of the service's user overwritten."""
    path, other = tmp_path / "experiments.db", tmp_path / "other"
    other.write_text("of somebody")
    link(other, beside(path))
    with pytest.raises(Unavailable, match=r"experiments\.db-writer is a link to another file"):
        afterglow.live.open(path)
    assert other.read_text() == "of somebody"
    assert not path.exists()
    beside(path).unlink()
    with afterglow.live.open(path) as experiments:
        shop = experiments.create("shop", **ASKED)
        beside(path).unlink()
        link(other, beside(path))
        with pytest.raises(Unavailable, match="is a link to another file"):
            shop.reward(1.0)
    assert other.read_text() == "of somebody"
