"""File names in a results folder, whether it is complete, and the lock of whoever writes to it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from afterglow.errors import BadFormat, OutOfTurn, argument
from afterglow.files import read_whole
from afterglow.lab.study.tables import TABLES

try:
    import fcntl
except ImportError:  # not on Windows, where nothing keeps a second writer out
    fcntl = None  # type: ignore[assignment]

JOURNAL = "journal.arrows"
QUESTION = "question.txt"  # beside the tables, because its text may change
LONGEST = 100_000  # bytes of a question


def question_in(folder: Path) -> str:
    """The question of a study, empty if it has none."""
    path = folder / QUESTION
    if not path.exists():
        return ""
    try:
        return read_whole(path, "folder", LONGEST).decode("utf-8").strip()
    except UnicodeDecodeError:
        raise BadFormat(f"{path} is not UTF-8 text; save it as such, or remove it", field="folder") from None


def finished(folder: Path) -> bool:
    """Whether all tables are written; the journal is removed last."""
    return not (folder / JOURNAL).exists() and all((folder / f"{name}.parquet").exists() for name in TABLES)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other runs out of a folder; the system releases the lock when the process ends."""
    if fcntl is None:
        yield
        return
    place = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            way_out = f"wait for it, or give another {argument('out')}"
            raise OutOfTurn(f"{folder} is in use by another run; {way_out}", field="out") from None
        except OSError:  # a file system without locks of folders; the journal has its own
            pass
        yield
    finally:
        os.close(place)
