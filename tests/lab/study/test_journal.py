"""The journal: whatever ends the writer, what was whole stays, and any Arrow reader can read it."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from afterglow.errors import BadFormat, OutOfTurn
from afterglow.lab.study.journal import SCHEMA, Journal, Stretch, batches_at, described, header, message, stretches

SAID = {"study": {"name": "x"}, "code": {}, "versions": {}}


def batch(cell: int, first: int, count: int) -> Any:
    runs = np.arange(first, first + count)
    numbers = [runs * 0.5 + column for column in range(4)]
    whole = [runs + column for column in range(3)]
    lists = [pa.array([[run, 2 * run] for run in runs.tolist()], pa.list_(kind)) for kind in (pa.int64(), pa.float64())]
    cells = np.full(count, cell, np.int32)
    return pa.record_batch([pa.array(cells), runs, *numbers, *whole, lists[0], lists[1], lists[1]], schema=SCHEMA)


def written(path: Path) -> bytes:
    with Journal(path, SAID) as journal:
        for cell, first, count in ((0, 0, 3), (1, 0, 5), (0, 3, 2)):
            journal.append(batch(cell, first, count))
    return path.read_bytes()


def places(found: list[Stretch]) -> list[tuple[int, int, int]]:
    return [(stretch.cell, stretch.first, stretch.last) for stretch in found]


def test_a_reopened_journal_has_what_was_appended_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "journal.arrows"
    written(path)
    with Journal(path, SAID) as journal:
        assert places(journal.stretches) == [(0, 0, 3), (1, 0, 5), (0, 3, 5)]
        journal.append(batch(2, 0, 1))
    with Journal(path, SAID) as journal:
        assert places(journal.stretches)[-1] == (2, 0, 1)
        offsets = [stretch.offset for stretch in journal.stretches]
    assert batches_at(path, offsets) == [batch(0, 0, 3), batch(1, 0, 5), batch(0, 3, 2), batch(2, 0, 1)]


def test_any_arrow_reader_opens_it(tmp_path: Path) -> None:
    path = tmp_path / "journal.arrows"
    written(path)
    with pa.ipc.open_stream(path.read_bytes()) as reader:
        assert reader.read_all().num_rows == 10
    assert described(path) == SAID


def test_cut_at_any_byte_it_keeps_every_whole_batch_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "journal.arrows"
    whole = written(path)
    parts = [header(SAID), *(message(batch(*place)) for place in ((0, 0, 3), (1, 0, 5), (0, 3, 2)))]
    assert b"".join(parts) == whole
    ends = np.cumsum([len(part) for part in parts])
    near = {int(end) + step for end in ends for step in (-1, 0, 1)}
    for length in sorted(near.union(range(0, len(whole), 111)) - {len(whole) + 1}):
        path.write_bytes(whole[:length])
        with Journal(path, SAID) as journal:
            kept = max(0, int(np.searchsorted(ends, length, side="right")) - 1)
            assert len(journal.stretches) == kept, f"cut at {length}"
            for place in ((0, 0, 3), (1, 0, 5), (0, 3, 2))[kept:]:
                journal.append(batch(*place))
        assert path.read_bytes() == whole, f"cut at {length}"


@pytest.mark.parametrize("tail", [bytes(4096), b"\xff" * 100, b"nonsense"])
def test_what_follows_the_last_whole_batch_is_taken_away(tmp_path: Path, tail: bytes) -> None:
    path = tmp_path / "journal.arrows"
    whole = written(path)
    path.write_bytes(whole + tail)
    with Journal(path, SAID) as journal:
        assert len(journal.stretches) == 3
    assert path.read_bytes() == whole


def test_a_batch_with_a_wrong_number_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "journal.arrows"
    whole = bytearray(written(path))
    with Journal(path, SAID) as journal:
        last = journal.stretches[-1].offset
    place = whole.index(np.float64(1.5).tobytes(), last)  # the regret of run 3
    whole[place + 1] ^= 1
    path.write_bytes(whole)
    assert places([stretch for stretch, _, _ in stretches(path)]) == [(0, 0, 3), (1, 0, 5)]


def test_a_second_writer_is_kept_out(tmp_path: Path) -> None:
    path = tmp_path / "journal.arrows"
    with Journal(path, SAID), pytest.raises(OutOfTurn, match="in use by another run"):
        Journal(path, SAID)


def test_a_file_that_is_no_journal_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "journal.arrows"
    path.write_text("my notes")
    with pytest.raises(BadFormat, match="is not a journal of results"):
        described(path)
