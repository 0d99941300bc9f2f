"""Read the header of a database file without ending SQLite's locks on it.

POSIX locks belong to a process and a file: when the process closes any descriptor of that file, all its locks are gone,
those of SQLite's own descriptors too. Another process then takes itself for the last one, and at its end it deletes the
write-ahead log. So a file is opened once for each process, and closed when nobody in the process uses it any more.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

SIZE = 100  # bytes of a header


class Kept:
    """One open file, and how many use it."""

    def __init__(self, path: Path) -> None:
        self.descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        found = os.fstat(self.descriptor)
        self.place = (found.st_dev, found.st_ino)
        self.users = 0

    def header(self) -> bytes:
        """The first bytes of the file, as they are now."""
        return os.pread(self.descriptor, SIZE, 0)


KEPT = dict[tuple[int, int], Kept]()
TURN = Lock()


def keep_open(path: Path) -> Kept:
    """The file at a path, opened unless this process has it open; `let_go` ends the use."""
    with TURN:
        found = path.stat()
        kept = KEPT.get((found.st_dev, found.st_ino))
        if kept is None:
            kept = Kept(path)
            kept = KEPT.setdefault(kept.place, kept)
        kept.users += 1
        return kept


def let_go(kept: Kept) -> None:
    """Close the file if nobody in this process uses it any more; no connection of SQLite to it may be open then."""
    with TURN:
        kept.users -= 1
        if not kept.users:
            del KEPT[kept.place]
            os.close(kept.descriptor)


@contextmanager
def opened(path: Path) -> Iterator[Kept]:
    kept = keep_open(path)
    try:
        yield kept
    finally:
        let_go(kept)
