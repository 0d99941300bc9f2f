"""Alembic revisions in plain SQL, one for each released layout of the database.

A new database is made from the same statements without Alembic, so that embedded use needs the standard library only.
A new revision is a file `versions/vN.py` and a line here.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module

Statements = Mapping[str, tuple[str, ...]]  # by dialect: sqlite, postgresql

VERSIONS = ("1", "2", "3")
TABLE = "afterglow_schema"  # where Alembic keeps the version
STAMP = (  # letter for letter as Alembic makes it
    f"CREATE TABLE {TABLE} (\n\tversion_num VARCHAR(32) NOT NULL, \n"
    f"\tCONSTRAINT {TABLE}_pkc PRIMARY KEY (version_num)\n)",
    f"INSERT INTO {TABLE} (version_num) VALUES ('{VERSIONS[-1]}')",
)


def creation(dialect: str) -> Iterator[str]:
    """All statements that make an empty database one of this release."""
    yield STAMP[0]
    for version in VERSIONS:
        yield from import_module(f"{__name__}.versions.v{version}").STATEMENTS[dialect]
    yield STAMP[1]


def alter(statements: Statements) -> None:
    """Run a revision's statements, within Alembic."""
    from alembic import op  # noqa: PLC0415

    for statement in statements[op.get_bind().dialect.name]:
        op.execute(statement)
