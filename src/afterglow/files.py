"""Read a whole file that somebody names: regular files and pipes of the shell, up to a size."""

import os
import stat
from pathlib import Path

from afterglow.errors import BadValue

LARGEST = 500_000_000  # bytes of a table
PIPES = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")  # what a shell writes for its own pipes


def read_whole(path: str | Path, field: str, most: int = LARGEST) -> bytes:
    """The bytes of a file; a device, a named pipe or a file of more than `most` bytes is refused."""
    try:
        kind = Path(path).stat().st_mode
        if not stat.S_ISREG(kind) and not stat.S_ISDIR(kind) and not os.fspath(path).startswith(PIPES):
            raise unreadable(path, "it is a device or a named pipe; give a regular file, or /dev/stdin", field)
        with Path(path).open("rb") as file:
            data = file.read(most + 1)
    except BadValue:
        raise  # it is a ValueError too
    except OSError as problem:
        raise unreadable(path, (problem.strerror or str(problem)).lower(), field) from None
    except ValueError as problem:  # a zero byte in the path
        raise unreadable(ascii(str(path)), str(problem), field) from None
    if len(data) > most:
        raise unreadable(path, f"it has more than {most:,} bytes, the most that is read", field)
    return data


def unreadable(path: str | Path, reason: str, field: str) -> BadValue:
    return BadValue(f"{path} can't be read: {reason}", kind="unreadable-file", field=field)
