"""The layout of a database: made in two ways, kept for every release, changed by a command and never on the way."""

import sqlite3
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest

import afterglow
from afterglow.cli import run
from afterglow.errors import BadDatabase, MissingExtra
from afterglow.live import Experiments
from afterglow.live.store import migrate, migrations, open_store
from afterglow.live.store.address import is_postgres
from support.service.live_fixtures import ASKED
from support.service.next_layout import NEXT, NOW, release
from testbed.postgres import server

NOTE = "ALTER TABLE hooks ADD COLUMN note TEXT"
COLUMNS = (
    "SELECT table_name, column_name, data_type, is_nullable, is_identity, column_default "
    "FROM information_schema.columns WHERE table_schema = current_schema() ORDER BY table_name, ordinal_position"
)
CONSTRAINTS = (
    "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint "
    "WHERE connamespace = current_schema()::regnamespace ORDER BY 1, 2"
)


def ask(address: str, *queries: str) -> list[list[tuple[Any, ...]]]:
    base: Any = psycopg.connect(address) if is_postgres(address) else sqlite3.connect(address)
    try:
        return [base.execute(query).fetchall() for query in queries]
    finally:
        base.close()


def layout(address: str) -> list[list[tuple[Any, ...]]]:
    """Everything that a database knows of its tables."""
    if is_postgres(address):
        return ask(address, COLUMNS, CONSTRAINTS)
    return ask(address, "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY rowid")


def version(address: str) -> str:
    ((found,),) = ask(address, "SELECT version_num FROM afterglow_schema")[0]
    return str(found)


def change(address: str, *statements: str) -> None:
    base: Any = psycopg.connect(address) if is_postgres(address) else sqlite3.connect(address)
    for statement in statements:
        base.execute(statement)
    base.commit()
    base.close()


def asset(dialect: str, number: str) -> str:
    return (Path(__file__).parent / f"schema-{number}.{dialect}.sql").read_text(encoding="utf-8")


def upgrade(address: str) -> None:
    connection = (
        migrate.postgres_connection(address) if is_postgres(address) else migrate.sqlite_connection(Path(address))
    )
    with connection as base:
        migrate.upgrade(base)


def dialect_of(address: str) -> str:
    return "postgresql" if is_postgres(address) else "sqlite"


@pytest.fixture
def other(address: str, tmp_path: Path) -> str:
    """Another empty database of the same kind."""
    return server().fresh() if is_postgres(address) else str(tmp_path / "other.db")


@pytest.fixture
def played(address: str) -> str:
    with afterglow.live.open(address) as experiments:
        experiment = experiments.create("shipping", **ASKED, policy="ucb1")
        for _ in range(5):
            experiment.close_step(1.0)
    return address


def test_the_layout_of_every_release_is_kept(address: str) -> None:
    """A change of the tables is a new version, with its own files here and a way to it."""
    dialect = dialect_of(address)
    assert ";\n".join(migrations.creation(dialect)) + ";\n" == asset(dialect, migrations.VERSIONS[-1])


@pytest.mark.parametrize("number", migrations.VERSIONS)
def test_alembic_leads_from_every_release_to_the_layout_that_a_new_database_has(
    address: str, other: str, number: str
) -> None:
    open_store(address).close()
    change(other, *asset(dialect_of(other), number).split(";\n")[:-1])
    upgrade(other)
    assert (layout(other), version(other)) == (layout(address), version(address))


def test_alembic_makes_the_same_layout_from_nothing(address: str, other: str) -> None:
    open_store(address).close()
    upgrade(other)
    assert (layout(other), version(other)) == (layout(address), version(address))


@pytest.mark.parametrize("read_only", [False, True])
def test_an_older_layout_is_refused_with_the_command_to_run(
    played: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read_only: bool
) -> None:
    release(monkeypatch, tmp_path, [NOTE])
    with pytest.raises(BadDatabase) as said:
        afterglow.live.open(played, read_only=read_only)
    shown = played.replace("postgres:@", "postgres@")
    assert str(said.value) == (
        f"{shown} has schema version {NOW}, this release needs {NEXT}; run `afterglow migrate {shown}`"
    )


@pytest.mark.parametrize("read_only", [False, True])
def test_a_newer_layout_is_refused_with_the_command_to_run(played: str, read_only: bool) -> None:
    change(played, "UPDATE afterglow_schema SET version_num = '7'")
    said = r"has schema version 7, written by a newer release; .*: pull your clone and run `pip install \.` in it"
    with pytest.raises(BadDatabase, match=said):
        afterglow.live.open(played, read_only=read_only)
    assert run(["migrate", played]) == 1


def test_an_older_database_is_changed_and_a_file_is_copied_first(
    played: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = layout(played)
    release(monkeypatch, tmp_path, [NOTE])
    assert run(["verify", played]) == 1
    assert "run `afterglow migrate " in capsys.readouterr().err
    assert run(["migrate", played]) == 0
    said = capsys.readouterr().err
    assert version(played) == NEXT
    assert layout(played) != before
    assert run(["verify", played]) == 0
    if is_postgres(played):
        assert said.endswith(" is ready\n")
        return
    copy = f"{played}.schema-{NOW}"
    assert f"as it was before, it is in {copy}" in said
    assert (version(copy), layout(copy)) == (NOW, before)
    monkeypatch.undo()
    with afterglow.live.open(copy) as experiments:
        assert experiments["shipping"].verify().ok


def test_a_change_that_fails_leaves_the_database_as_it_was(
    played: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = layout(played)
    release(monkeypatch, tmp_path, [NOTE, "DELETE FROM steps", "no statement"])
    with pytest.raises(Exception, match="syntax error"):
        run(["migrate", played])
    assert (layout(played), version(played)) == (before, NOW)
    monkeypatch.undo()
    with afterglow.live.open(played) as experiments:
        assert experiments["shipping"].verify().ok


def test_a_database_in_use_is_not_changed(
    experiments: Experiments, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    release(monkeypatch, tmp_path, [NOTE])
    assert run(["migrate", address]) == 1
    said = capsys.readouterr().err
    assert "is being written by process" in said or "in use by 1 connections of Afterglow; stop all replicas" in said
    assert version(address) == NOW


def test_a_copy_of_an_earlier_try_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "experiments.db"
    open_store(path).close()
    release(monkeypatch, tmp_path, [NOTE])
    Path(f"{path}.schema-{NOW}").write_text("mine", encoding="utf-8")
    assert run(["migrate", str(path)]) == 2
    assert "exists, perhaps from an earlier try; move it away" in capsys.readouterr().err
    assert version(str(path)) == NOW


def test_a_database_without_experiments_has_nothing_to_change(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(address, "CREATE TABLE orders (id INTEGER)")
    assert run(["migrate", address]) == 1
    said = capsys.readouterr().err
    assert "holds something else than Afterglow's experiments" in said or "holds no experiments of Afterglow" in said


def test_without_alembic_or_the_driver_the_extra_is_named(
    played: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release(monkeypatch, tmp_path, [NOTE])
    monkeypatch.setitem(sys.modules, "alembic", None)
    with pytest.raises(
        MissingExtra,
        match=r'afterglow migrate needs the .live. extra: in a clone of Afterglow, pip install "\.\[live\]"',
    ):
        migrate.migrate(played)
    for name in ("postgres", "pool"):
        monkeypatch.setitem(sys.modules, f"afterglow.live.store.{name}", None)
    for call in (afterglow.live.open, migrate.migrate):
        with pytest.raises(MissingExtra, match=r"a PostgreSQL database needs the .postgres. extra"):
            call("postgresql://localhost/experiments")
