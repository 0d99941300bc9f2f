"""The tables of release 0.2: places of webhooks have the time and the hash of their record; an
audit of sign-ins and of changes to tokens and webhooks."""

from afterglow.live.store.migrations import Statements, alter

revision = "2"
down_revision = "1"

TYPES = {
    "sqlite": {"whole": "INTEGER", "octets": "BLOB", "by_key": " WITHOUT ROWID"},
    "postgresql": {"whole": "BIGINT", "octets": "BYTEA", "by_key": ""},
}
CHANGES = (
    "ALTER TABLE hook_places ADD COLUMN at {whole}",
    "ALTER TABLE hook_places ADD COLUMN hash {octets}",
    """CREATE TABLE audit (
        id TEXT PRIMARY KEY NOT NULL, at {whole} NOT NULL, kind TEXT NOT NULL, token TEXT NOT NULL, label TEXT NOT NULL,
        subject TEXT NOT NULL, detail TEXT NOT NULL
    )""",
    "CREATE INDEX audit_by_time ON audit (at)",
)
STATEMENTS: Statements = {dialect: tuple(one.format(**types) for one in CHANGES) for dialect, types in TYPES.items()}


def upgrade() -> None:
    alter(STATEMENTS)
