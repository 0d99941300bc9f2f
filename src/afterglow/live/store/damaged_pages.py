"""Damaged pages of a SQLite file: which table they belong to, and the error that is raised for them."""

import re
import sqlite3

from afterglow.errors import BadDatabase

MOST = 20  # faults that are named
TREE = re.compile(r"(?:[Oo]n )?[Tt]ree (?:page )?(\d+)")


class DamagedPages(BadDatabase):
    """Pages of the file can't be read; experiments on other pages go on."""

    kind = "damaged-pages"


def damage(base: sqlite3.Connection) -> list[str]:
    """What `PRAGMA integrity_check` finds, with the names of tables; none if the file is sound."""
    try:
        tables = {str(root): name for name, root in base.execute("SELECT name, rootpage FROM sqlite_master")}
        lines = [line for (text,) in base.execute(f"PRAGMA integrity_check({MOST})") for line in text.splitlines()]
    except sqlite3.Error as error:
        return damaged_tables(base) or [f"the file can't be checked: {error}"]
    return [described(line, tables) for line in lines if line != "ok" and not line.startswith("***")][:MOST]


def damaged_tables(base: sqlite3.Connection) -> list[str]:
    """Tables that can't be read to the end, or whose indexes can't be checked."""
    found = list[str]()
    try:
        names = [name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    except sqlite3.Error:
        return []
    for name in names:
        try:
            for _ in base.execute(f'SELECT * FROM "{name}"'):
                pass
            base.execute(f'PRAGMA integrity_check("{name}")').fetchall()
        except sqlite3.Error as error:
            found.append(f"table {name}: {error}")
    return found


def described(line: str, tables: dict[str, str]) -> str:
    found = TREE.match(line)
    table = tables.get(found[1]) if found else None
    return f"table {table}: {line}" if table else line
