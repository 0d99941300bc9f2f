"""Make `formats-2`: a database of schema revision 2 (commit 3d11431), and what it showed and decided afterwards.

Like `make_formats.py`, which see. It ran in a checkout of that commit:

    PYTHONPATH=src:tests:. python tests/assets/make_formats_2.py
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg

import afterglow
from assets import make_formats as first
from support.service.live_fixtures import Clock
from support.service.stored_views import database_view
from testbed.postgres import server

HERE = Path(__file__).parent / "formats-2"
TABLES = ("experiments", "events", "steps", "snapshots", "spans", "rewards", "sums", "tokens", "hooks", "hook_places")


def fill(address: str) -> tuple[Any, float]:
    """Play, and what is to be seen then."""
    clock = Clock(first.NOW)
    with afterglow.live.open(address, clock=clock) as experiments:
        play = first.Play(experiments, clock)
        made = experiments.create("pinned", **first.ASKED, seed=3, control="59 kr", remember=3)
        play.close(made, 40)
        made.void(7, "late: a sale", last=9)
        made.pin(first.VARIANTS[2], "a fair")
        play.close(made, 6)
        made.rewards([("open a", 1.5), ("open b", 2.25)])  # of a step that is not closed
        made = experiments.create("turns", **first.ASKED, horizon=60, policy="switchback", seed=2)
        play.close(made, 60)
        made = experiments.create("expecting", **first.DAILY, horizon=200, heartbeat=True, profile=[4.0, 6.0, 5.0])
        play.hours(made, 20)
        clock.hours(5)  # a void step, and four that were missed: one row
        play.hours(made, 10)
        made.emergency(first.VARIANTS[0], "it fails")
        play.hours(made, 3)
        made.reward(3.5, "open c")
        assert not experiments.tick()
        return database_view(experiments), clock.now


def dumped(address: str) -> str:
    """A PostgreSQL database as SQL: the layout of its revision, then its rows."""
    layout = first.ROOT / "tests" / "live" / "store" / "schema-2.postgresql.sql"
    lines = [layout.read_text(encoding="utf-8")]
    with psycopg.connect(address) as base:
        for table in TABLES:
            for row in base.execute(f"SELECT * FROM {table} ORDER BY 1, 2"):
                values = ", ".join(first.literal(value) for value in row)
                lines.append(f"INSERT INTO {table} VALUES ({values});\n")
    lines.append("SELECT setval(pg_get_serial_sequence('experiments', 'id'), (SELECT max(id) FROM experiments));\n")
    return "".join(lines)


def main() -> None:
    HERE.mkdir(exist_ok=True)
    file, base = HERE / "experiments.sqlite", server().fresh()
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "experiments.db")
        before, now = fill(path)
        file.unlink(missing_ok=True)
        with afterglow.live.open(path, clock=lambda: now) as experiments:
            experiments.backup(file)
        after = first.continued(path, now)
    assert fill(base) == (before, now)
    (HERE / "experiments.postgresql.sql").write_text(dumped(base), encoding="utf-8")
    assert first.continued(base, now) == after
    first.write(HERE / "experiments.json", {"now": now, "totals": first.TOTALS, "before": before, "after": after})


if __name__ == "__main__":
    main()
