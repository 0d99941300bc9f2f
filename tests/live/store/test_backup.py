"""A copy of a database is a database, of the same kind or the other."""

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import afterglow
from afterglow.cli import run
from afterglow.errors import Conflict
from afterglow.live.domain.log import Place
from afterglow.live.store import access, migrate
from afterglow.live.store.access import HookRow, TokenRow
from afterglow.live.store.address import is_postgres
from afterglow.live.store.backup import TABLES
from afterglow.live.store.migrations import TABLE, creation
from support.service.live_fixtures import ASKED
from testbed.postgres import server


@pytest.fixture(params=["to sqlite", "to postgresql"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "to sqlite":
        yield str(tmp_path / "copy.db")
    else:
        made = server().fresh()
        yield made
        server().drop(made)


def fill(address: str) -> None:
    with afterglow.live.open(address) as experiments:
        for name in ("shipping", "banner"):
            experiment = experiments.create(name, **ASKED, policy="ucb1")
            for step in range(12):
                experiment.reward(step / 4, f"of step {step}")
                experiment.close_step()
            experiment.pin("59", 'said "stöp", twice')
            experiment.reward(1.5, "not closed yet")
        experiments._store.put_token(TokenRow("t", "shop", b"\x00\xff", "read", None, 1, expires=2))
        experiments._store.put_hook(HookRow("h", "https://example.org", "secret", "pin", None, 3))
        experiments._store.put_hook_places({("h", "shipping"): Place(7, 8, b"mark")})


def test_a_copy_goes_on_where_the_original_was(
    address: str, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("afterglow.live.follower.EVERY", 5)
    fill(address)
    assert run(["backup", address, target]) == 0
    assert [file.name for file in tmp_path.iterdir()] == ([] if is_postgres(target) else ["copy.db"])
    with afterglow.live.open(address) as ones, afterglow.live.open(target) as others:
        assert ones.names() == others.names()
        assert all(verdict.ok and verdict.snapshots > 0 for verdict in others.verify())
        for name in ones.names():
            one, other = ones[name], others[name]
            assert other.reward(1.5, "not closed yet") == (12, 0, 1)
            assert other.reward(2.75, "of step 11") == (12, 0, 1)
            for _ in range(9):
                one.close_step()
                other.close_step()
            assert one.steps() == other.steps()
            assert [each[2:4] for each in one.events()] == [each[2:4] for each in other.events()]
        assert ones._store.tokens() == others._store.tokens()
        assert ones._store.hooks() == others._store.hooks()
        assert others._store.hook_places() == {("h", "shipping"): Place(7, 8, b"mark")}
        others.create("a-new-one", **ASKED).close_step(1.0)


def test_there_is_no_table_that_is_not_copied() -> None:
    with closing(sqlite3.connect(":memory:")) as base:
        for statement in creation("sqlite"):
            base.execute(statement)
        made = [name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    assert sorted(made) == sorted([TABLE, *TABLES])


def test_a_copy_never_mixes_with_what_is_there(address: str, target: str, tmp_path: Path) -> None:
    fill(address)
    fill(target)
    with afterglow.live.open(address) as experiments:
        with pytest.raises((Conflict, ValueError), match=r"already; name an empty database|exists; name a new file"):
            experiments.backup(target)
        assert len(experiments["shipping"].steps()) == 13


def test_commands_read_both_databases(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    fill(address)
    assert run(["verify", address]) == 0
    assert run(["export", address, "shipping", "--format", "jsonl"]) == 0
    assert run(["export", address, "shipping", "--what", "events"]) == 0
    said = capsys.readouterr()
    assert "shipping: 15 records, 12 steps, 0 snapshots, all as logged" in said.out
    assert said.out.count('"role": "plan"') == 13
    assert run(["migrate", address]) == 0
    assert "has the layout of this release; nothing was changed" in capsys.readouterr().err


def test_new_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        file = tmp_path / "experiments.db"
        with afterglow.live.open(file) as experiments:
            experiments.create("shipping", **ASKED)
            experiments.backup(tmp_path / "backup.db")
            with closing(sqlite3.connect(file)) as base:
                migrate.back_up(base, tmp_path / "experiments.db.schema-1")
            modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in tmp_path.iterdir()}
        names = ("", "-shm", "-wal", "-writer", ".schema-1")
        assert modes == dict.fromkeys(["backup.db", *(f"experiments.db{name}" for name in names)], 0o600)
        access(tmp_path / "tokens.db").close()
        assert stat.S_IMODE((tmp_path / "tokens.db").stat().st_mode) == 0o600
        file.chmod(0o640)  # for a group that takes backups
        afterglow.live.open(file).close()
        assert stat.S_IMODE(file.stat().st_mode) == 0o640
    finally:
        os.umask(before)
