"""One writing process for each database file: a lock that the system releases whenever the process ends.

It is beside the file itself, wherever a symbolic link to it is. A file with several names of its own, hard links, is
refused: the lock would be beside one of them, and SQLite's write-ahead log too. If the lock is deleted, it is taken
again before the next transaction; if another process was faster, this one does not write any more, also after the other
has ended: what it remembers is not what is in the file.
"""

import json
import logging
import os
import socket
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from afterglow.errors import BadValue, InUse, Unavailable
from afterglow.live.store.file_mode import MODE
from afterglow.live.store.sqlite_session import refuse_special

try:
    import fcntl
except ImportError:  # Windows has other locks
    import msvcrt

LOG = logging.getLogger("afterglow.live")
FAR = 1 << 20  # Windows locks bytes; one beyond the text leaves it readable


class Writer:
    """Holds the lock beside a database, from `Writer(path)` to `release`."""

    def __init__(self, path: Path) -> None:
        refuse_other_names(path)
        self.database = path
        self.path = beside(path)
        self.lost = ""  # who was faster
        self.take()

    def take(self) -> None:
        file = locked(self.path, self.database)
        try:
            file.truncate(0)
            since = datetime.now(UTC).isoformat(timespec="seconds")
            json.dump({"pid": os.getpid(), "host": socket.gethostname(), "since": since}, file)
            file.flush()
            self.place = place_of(os.fstat(file.fileno()))
        except OSError:  # such as a full disk
            with suppress(OSError):
                file.close()
            raise
        self.file = file

    def keep(self) -> None:
        """Take the lock again if its file was deleted or replaced; Unavailable if another process has it now."""
        try:
            if place_of(self.path.stat()) == self.place:
                return
        except OSError:
            pass
        if self.lost:
            raise self.refusal(self.lost)
        before = self.file
        try:
            self.take()
        except InUse as error:
            self.lost = str(error)
            raise self.refusal(self.lost) from error
        except OSError as error:
            raise self.refusal(str(error)) from error
        before.close()
        LOG.error("%s was deleted or replaced while it is in use; it was locked again", self.path)

    def refusal(self, why: str) -> Unavailable:
        return Unavailable(
            f"{self.path} was deleted or replaced while it is in use, and can't be locked again: {why}; nothing is "
            "acknowledged; stop this process"
        )

    def release(self) -> None:
        if not self.file.closed:
            self.file.truncate(0)
            self.file.close()


def place_of(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


def beside(path: Path) -> Path:
    found = path.resolve()
    return found.with_name(found.name + "-writer")


def locked(lock: Path, path: Path) -> IO[str]:
    """The lock of a database, taken; InUse if another process has it."""
    if lock.is_symlink():
        raise linked(lock)
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    file: IO[str] = os.fdopen(os.open(lock, flags, MODE), "a+", encoding="utf-8")
    if os.fstat(file.fileno()).st_nlink > 1:
        file.close()
        raise linked(lock)
    try:
        take(file)
    except OSError as error:
        file.close()
        way_out = "stop it, or open with read_only=True"
        raise InUse(f"{path} is being written by {owner(lock)}", way_out=way_out) from error
    return file


def linked(lock: Path) -> Unavailable:
    """The error for a lock that is another file: whoever may write to the folder can make one."""
    return Unavailable(f"{lock} is a link to another file, which a lock would overwrite; remove it, then try again")


def refuse_other_names(path: Path) -> None:
    """Refuse a file with several names; if a process writes it by another name in the folder, name the process."""
    refuse_special(path)
    if not path.exists() or path.stat().st_nlink < 2:
        return
    found = path.resolve()
    for other in sorted(found.parent.iterdir()):
        if other != found and other.is_file() and other.samefile(found) and beside(other).exists():
            locked(beside(other), path).close()
    raise BadValue(
        f"{path} has {path.stat().st_nlink} names (hard links), each of which would have a write-ahead log of its own; "
        "remove the other names, or copy it with `afterglow backup`",
        field="address",
    )


def take(file: IO[str]) -> None:
    """Lock the file for this process; OSError if another has it."""
    if "fcntl" in globals():
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    else:
        file.seek(FAR)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        file.seek(0)


def owner(path: Path) -> str:
    """Who has the lock, in words."""
    try:
        who = json.loads(path.read_text(encoding="utf-8"))
        return f"process {who['pid']} on {who['host']} since {who['since']}"
    except (OSError, ValueError, LookupError):
        return "another process, which is just starting"
