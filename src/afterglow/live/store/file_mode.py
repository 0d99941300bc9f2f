"""New files are readable by their owner alone, since they have secrets of webhooks. Existing files keep their mode."""

import os
from contextlib import suppress
from pathlib import Path

MODE = 0o600


def make_private(path: Path) -> None:
    """Make an empty file, if there is none. SQLite gives the files beside it the same mode."""
    with suppress(OSError):  # it exists, or can't be created: opening it gives the better error
        os.close(os.open(path.resolve(), os.O_CREAT | os.O_EXCL | os.O_WRONLY, MODE))
