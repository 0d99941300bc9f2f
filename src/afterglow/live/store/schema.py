"""The tables, the version of their layout, and how an older layout becomes this one.

Plain SQL that SQLite and PostgreSQL both understand; each store names its own types.
"""

from afterglow.errors import BadDatabase

VERSION = 1
MARK = "afterglow"

TABLES = (
    "CREATE TABLE afterglow_schema (version INTEGER NOT NULL)",
    "CREATE TABLE experiments (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
    """CREATE TABLE events (
        experiment INTEGER NOT NULL REFERENCES experiments, seq INTEGER NOT NULL, at INTEGER NOT NULL,
        kind TEXT NOT NULL, body TEXT NOT NULL, hash BLOB NOT NULL, PRIMARY KEY (experiment, seq)
    ) WITHOUT ROWID""",
    """CREATE TABLE steps (
        experiment INTEGER NOT NULL REFERENCES experiments, step INTEGER NOT NULL, served INTEGER NOT NULL,
        planned INTEGER NOT NULL, role TEXT NOT NULL, total INTEGER, void INTEGER NOT NULL,
        PRIMARY KEY (experiment, step)
    ) WITHOUT ROWID""",
    """CREATE TABLE snapshots (
        experiment INTEGER NOT NULL REFERENCES experiments, seq INTEGER NOT NULL, step INTEGER NOT NULL,
        state TEXT NOT NULL, "check" BLOB NOT NULL, PRIMARY KEY (experiment, seq)
    )""",
    """CREATE TABLE salts (
        experiment INTEGER NOT NULL REFERENCES experiments, step INTEGER NOT NULL, salt BLOB NOT NULL,
        PRIMARY KEY (experiment, step)
    ) WITHOUT ROWID""",
    """CREATE TABLE rewards (
        experiment INTEGER NOT NULL REFERENCES experiments, step INTEGER NOT NULL, digest BLOB NOT NULL,
        amount INTEGER NOT NULL, PRIMARY KEY (experiment, step, digest)
    ) WITHOUT ROWID""",
)
CHANGES: dict[int, tuple[str, ...]] = {}  # from a version to the next


def refuse_other(version: int, path: str) -> None:
    """Only this release's layout is used; an older one is changed by a command, never on the way."""
    if version < VERSION:
        raise BadDatabase(
            f"{path} has schema version {version}, this release needs {VERSION}; run `afterglow migrate {path}`, "
            "which makes a backup first"
        )
    if version > VERSION:
        raise BadDatabase(
            f"{path} has schema version {version}, written by a newer release; this one knows version {VERSION}: "
            "run `pip install --upgrade afterglow`"
        )
