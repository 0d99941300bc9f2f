"""The tables of release 0.2.

- Places of webhooks have the time and the hash of their record.
- Digests of reward keys are salted by spans of several steps, and every writer adds up the rewards of the current step,
  so that no call has to look through all of them.
- Missed steps that follow each other are one row.
- An audit of sign-ins and of changes to tokens and webhooks.
"""

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
    "ALTER TABLE steps ADD COLUMN last_step {whole}",
    """CREATE TABLE spans (
        experiment {whole} NOT NULL, span {whole} NOT NULL, salt {octets} NOT NULL, first_step {whole} NOT NULL,
        began {whole} NOT NULL, PRIMARY KEY (experiment, span)
    ){by_key}""",
    "INSERT INTO spans SELECT experiment, step, salt, step, 0 FROM salts",
    "DROP TABLE salts",
    "ALTER TABLE rewards RENAME TO rewards_by_step",
    """CREATE TABLE rewards (
        experiment {whole} NOT NULL, span {whole} NOT NULL, digest {octets} NOT NULL, step {whole} NOT NULL,
        amount {whole} NOT NULL, PRIMARY KEY (experiment, span, digest)
    ){by_key}""",
    "INSERT INTO rewards SELECT experiment, step, digest, step, amount FROM rewards_by_step",
    "DROP TABLE rewards_by_step",
    """CREATE TABLE sums (
        experiment {whole} NOT NULL, step {whole} NOT NULL, writer TEXT NOT NULL, reports {whole} NOT NULL,
        high {whole} NOT NULL, low {whole} NOT NULL, PRIMARY KEY (experiment, step, writer)
    ){by_key}""",
    """INSERT INTO sums SELECT experiment, step, '', count(*), sum(amount >> 32), sum(amount & 4294967295) FROM rewards
        GROUP BY experiment, step""",
    """CREATE TABLE audit (
        id TEXT PRIMARY KEY NOT NULL, at {whole} NOT NULL, kind TEXT NOT NULL, token TEXT NOT NULL, label TEXT NOT NULL,
        subject TEXT NOT NULL, detail TEXT NOT NULL
    )""",
    "CREATE INDEX audit_by_time ON audit (at)",
)
STATEMENTS: Statements = {dialect: tuple(one.format(**types) for one in CHANGES) for dialect, types in TYPES.items()}


def upgrade() -> None:
    alter(STATEMENTS)
