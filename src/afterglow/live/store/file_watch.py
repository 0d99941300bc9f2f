"""Notice that the file of a database was deleted, moved, replaced, cut or overwritten while it is in use.

SQLite doesn't: it goes on with the file that it has opened, and what it commits is in a file that nobody will find. So
the file at the path is compared with the one that was opened, by device and inode, before every transaction and again
before a commit is acknowledged. The same holds for the write-ahead log and its index beside it, and for the lock of
the writing process: without it another process could begin to write.
"""

import ctypes
import sqlite3
from pathlib import Path

from afterglow.errors import BadDatabase, Unavailable
from afterglow.live.store.file_header import Kept, keep_open, let_go, opened
from afterglow.live.store.writer_lock import Writer

BESIDE = ("", "-wal", "-shm")
MAGIC = b"SQLite format 3\0"
FORMAT = slice(18, 20)  # where the header says how changes are written
IN_USE = b"\2\2"  # with a write-ahead log; a backup is made without
WAY_OUT = "nothing is acknowledged; stop the process, put the file back or restore a backup, then start it again"


class FileWatch:
    """`check` raises `Unavailable` if the files at the path are not the ones that are open."""

    def __init__(self, path: Path, writer: Writer | None = None) -> None:
        self.path = path
        self.real = path.resolve()  # SQLite's files are beside it, wherever a symbolic link to it is
        self.writer = writer
        self.sizes = writer is not None  # this process alone may shorten the write-ahead log
        self.known = dict[str, tuple[int, int]]()  # device and inode
        self.largest = dict[str, int]()
        self.changed = 0  # time of the last change of the database itself, by others or this process
        self.spoiled = False  # whether the file itself has other content now
        self.file: Kept = keep_open(path)

    def check(self) -> None:
        if self.writer is not None:
            self.writer.keep()
        for end in BESIDE:
            what = self.wrong_with(end)
            if what:
                raise Unavailable(f"{self.place(end)} was {what} while it is in use; {WAY_OUT}")

    def place(self, end: str) -> Path:
        return self.real.with_name(self.real.name + end) if end else self.path

    def wrong_with(self, end: str) -> str:
        """What happened to a file; an empty text if nothing did."""
        try:
            found = self.place(end).stat()
        except OSError:
            return "deleted or moved" if end in self.known or not end else ""
        if self.known.setdefault(end, (found.st_dev, found.st_ino)) != (found.st_dev, found.st_ino):
            return "replaced"
        if end == "-shm" or (end and not self.sizes):
            return ""
        if found.st_size < self.largest.get(end, 0):
            self.spoiled |= not end
            return "cut"
        self.largest[end] = found.st_size
        if not end and found.st_mtime_ns != self.changed:
            if self.overwritten():
                self.spoiled = True
                return "overwritten"
            self.changed = found.st_mtime_ns
        return ""

    def overwritten(self) -> bool:
        """Whether the file has another header than one in use has."""
        header = self.file.header()
        return not header.startswith(MAGIC) or header[FORMAT] != IN_USE

    def emptied(self) -> None:
        """This process has emptied the write-ahead log."""
        self.largest.pop("-wal", None)

    def close(self) -> None:
        """The connection is closed."""
        let_go(self.file)


def refuse_leftover(path: Path) -> None:
    """Refuse a restored backup beside which the write-ahead log of the file before it was left.

    SQLite would add the changes in that log to the backup, whatever file they were made in.
    """
    real = path.resolve()  # SQLite's files are beside it
    beside = real.with_name(real.name + "-wal")
    if path.exists() and beside.exists() and beside.stat().st_size:
        with opened(path) as file:
            header = file.header()
        if header.startswith(MAGIC) and header[FORMAT] != IN_USE:
            raise BadDatabase(
                f"{beside} belongs to another file than {path}, which was put in its place; remove {beside.name} and "
                f"{real.name}-shm, then open it again"
            )


def abandon(base: sqlite3.Connection) -> None:
    """Never close a connection: closing would write what it has into a file that is another one by now."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(base))
