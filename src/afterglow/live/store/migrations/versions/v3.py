"""Series: one experiment may have several totals in a step.

A series is a whole number: `metric * units + unit`, where metric 0 is the reward itself. An experiment with one total
has series 0 alone.

- Rewards and their sums are kept by series.
- Rows of steps have what each series was served and came to, as JSON; NULL where there is one total.
"""

from afterglow.live.store.migrations import Statements, alter

revision = "3"
down_revision = "2"

TYPES = {
    "sqlite": {"whole": "INTEGER", "by_key": " WITHOUT ROWID"},
    "postgresql": {"whole": "BIGINT", "by_key": ""},
}
CHANGES = (
    "ALTER TABLE rewards ADD COLUMN series {whole} NOT NULL DEFAULT 0",
    "ALTER TABLE sums RENAME TO sums_of_steps",
    """CREATE TABLE sums (
        experiment {whole} NOT NULL, step {whole} NOT NULL, series {whole} NOT NULL, writer TEXT NOT NULL,
        reports {whole} NOT NULL, high {whole} NOT NULL, low {whole} NOT NULL,
        PRIMARY KEY (experiment, step, series, writer)
    ){by_key}""",
    "INSERT INTO sums SELECT experiment, step, 0, writer, reports, high, low FROM sums_of_steps",
    "DROP TABLE sums_of_steps",
    "ALTER TABLE steps ADD COLUMN series TEXT",
)
STATEMENTS: Statements = {dialect: tuple(one.format(**types) for one in CHANGES) for dialect, types in TYPES.items()}


def upgrade() -> None:
    alter(STATEMENTS)
