"""Check a copy of a database before it stays: a backup must not have the fault of its original."""

import sqlite3
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path

from afterglow.errors import BadDatabase
from afterglow.live.store.damaged_pages import DamagedPages, damage
from afterglow.live.store.session import Session

Check = Callable[[Session], Iterable[str]]  # what is wrong with the experiments of a database
NAMED = 3  # faults in an error


def refuse_damage(copy: sqlite3.Connection, path: Path) -> None:
    """Refuse a copy whose pages can't be read."""
    if faults := damage(copy):
        raise DamagedPages(
            f"{path} is damaged, so it was not copied: {'; '.join(faults[:NAMED])}",
            kind="not-copied",
            way_out="go back to a backup, or copy it all the same with damaged=True",
        )


def refuse_faults(copy: Session, check: Check, address: str) -> None:
    """Refuse a copy whose experiments don't agree with their logs."""
    if faults := list(islice(check(copy), NAMED)):
        raise BadDatabase(
            f"{address} doesn't agree with its log, so it was not copied: {'; '.join(faults)}",
            kind="not-copied",
            way_out="go back to a backup, or copy it all the same with damaged=True",
        )
