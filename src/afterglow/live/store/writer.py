"""One writing process for each database file: a lock that the system lets go of when the process ends, however."""

import json
import os
import socket
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from afterglow.errors import InUse

try:
    import fcntl
except ImportError:  # Windows has other locks
    import msvcrt

FAR = 1 << 20  # Windows locks bytes; one beyond the text leaves it readable


class Writer:
    """Holds the lock beside a database, from `Writer(path)` to `release`."""

    def __init__(self, path: Path) -> None:
        self.path = path.with_name(path.name + "-writer")
        self.file: IO[str] = self.path.open("a+", encoding="utf-8")
        try:
            take(self.file)
        except OSError as error:
            self.file.close()
            raise InUse(
                f"{path} is being written by {owner(self.path)}; stop it, or open with read_only=True"
            ) from error
        self.file.truncate(0)
        since = datetime.now(UTC).isoformat(timespec="seconds")
        json.dump({"pid": os.getpid(), "host": socket.gethostname(), "since": since}, self.file)
        self.file.flush()

    def release(self) -> None:
        if not self.file.closed:
            self.file.truncate(0)
            self.file.close()


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
