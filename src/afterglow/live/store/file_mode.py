"""New files that nobody else may read: there are secrets of webhooks in them. Those that exist stay as they are."""

import os
from contextlib import suppress
from pathlib import Path

MODE = 0o600


def make_private(path: Path) -> None:
    """Make an empty file, if there is none. SQLite gives the files beside it the same mode."""
    with suppress(OSError):  # it is there, or can't be made, which whoever opens it says better
        os.close(os.open(path.resolve(), os.O_CREAT | os.O_EXCL | os.O_WRONLY, MODE))
