"""Folders in memory, where there are such: flushing to the disk thousands of times takes minutes."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

ROOM = Path("/dev/shm")


def quick_folder() -> TemporaryDirectory[str]:
    """A folder that goes away by itself."""
    return TemporaryDirectory(dir=ROOM if os.access(ROOM, os.W_OK) else None)
