"""The layout of a database: made in two ways, kept for every release, changed by a command and never on the way."""

import sqlite3
from pathlib import Path

import pytest

import afterglow
from afterglow.cli import run
from afterglow.errors import BadDatabase, MissingExtra
from afterglow.live.store import migrate, revisions
from next_layout import release


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "experiments.db"


def tables(path: Path) -> list[str]:
    base = sqlite3.connect(path)
    made = [statement for (statement,) in base.execute("SELECT sql FROM sqlite_master WHERE type = 'table'")]
    base.close()
    return made


def version(path: Path) -> list[tuple[str]]:
    base = sqlite3.connect(path)
    found = base.execute("SELECT version_num FROM afterglow_schema").fetchall()
    base.close()
    return found


def rewrite(path: Path, statement: str) -> None:
    base = sqlite3.connect(path)
    base.execute(statement)
    base.commit()
    base.close()


def played(path: Path) -> None:
    with afterglow.live.open(path) as experiments:
        experiment = experiments.create("shipping", ["49", "59"], 4, policy="ucb1")
        for _ in range(5):
            experiment.close_step(1.0)


def test_the_layout_of_every_release_is_kept(path: Path) -> None:
    """A change of the tables is a new version, with its own file here and a way to it."""
    afterglow.live.open(path).close()
    kept = (Path(__file__).parent / f"schema-{revisions.VERSIONS[-1]}.sql").read_text(encoding="utf-8")
    assert ";\n".join(tables(path)) + ";\n" == kept


@pytest.mark.parametrize("number", revisions.VERSIONS)
def test_alembic_leads_to_the_same_layout_from_every_release_and_from_nothing(
    path: Path, tmp_path: Path, number: str
) -> None:
    afterglow.live.open(path).close()
    (tmp_path / "none").touch()
    base = sqlite3.connect(tmp_path / "old")
    base.executescript((Path(__file__).parent / f"schema-{number}.sql").read_text(encoding="utf-8"))
    base.execute("INSERT INTO afterglow_schema VALUES (?)", (number,))
    base.commit()
    base.close()
    for name in ("none", "old"):
        with migrate.sqlite_connection(tmp_path / name) as connection:
            migrate.upgrade(connection)
        assert (tables(tmp_path / name), version(tmp_path / name)) == (tables(path), version(path))


@pytest.mark.parametrize("read_only", [False, True])
def test_an_older_layout_is_refused_with_the_command_to_run(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read_only: bool
) -> None:
    played(path)
    release(monkeypatch, tmp_path, ["ALTER TABLE steps ADD COLUMN note TEXT"])
    said = f"has schema version 1, this release needs 2; run `afterglow migrate {path}`$"
    with pytest.raises(BadDatabase, match=said):
        afterglow.live.open(path, read_only=read_only)


@pytest.mark.parametrize("read_only", [False, True])
def test_a_newer_layout_is_refused_with_the_command_to_run(path: Path, read_only: bool) -> None:
    played(path)
    rewrite(path, "UPDATE afterglow_schema SET version_num = '7'")
    said = r"has schema version 7, written by a newer release; .*: run `pip install --upgrade afterglow`"
    with pytest.raises(BadDatabase, match=said):
        afterglow.live.open(path, read_only=read_only)
    assert run(["migrate", str(path)]) == 1


def test_an_older_database_is_backed_up_and_changed(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    played(path)
    release(monkeypatch, tmp_path, ["ALTER TABLE hooks ADD COLUMN note TEXT"])
    assert run(["verify", str(path)]) == 1
    assert f"run `afterglow migrate {path}`" in capsys.readouterr().err
    assert run(["migrate", str(path)]) == 0
    assert f"as it was before, it is in {path}.schema-1" in capsys.readouterr().err
    assert version(path) == [("2",)]
    assert "note TEXT" in "".join(tables(path))
    assert run(["verify", str(path)]) == 0
    copy = Path(f"{path}.schema-1")
    assert version(copy) == [("1",)]
    assert "note TEXT" not in "".join(tables(copy))
    monkeypatch.undo()
    assert afterglow.live.open(copy)["shipping"].verify().ok


def test_a_change_that_fails_leaves_the_database_as_it_was(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played(path)
    before = tables(path)
    release(monkeypatch, tmp_path, ["ALTER TABLE hooks ADD COLUMN note TEXT", "DELETE FROM steps", "no statement"])
    with pytest.raises(Exception, match="syntax error"):
        run(["migrate", str(path)])
    assert (tables(path), version(path)) == (before, [("1",)])
    monkeypatch.undo()
    with afterglow.live.open(path) as experiments:
        assert experiments["shipping"].verify().ok


def test_a_backup_of_an_earlier_try_is_not_replaced(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    played(path)
    release(monkeypatch, tmp_path, ["ALTER TABLE hooks ADD COLUMN note TEXT"])
    Path(f"{path}.schema-1").write_text("mine", encoding="utf-8")
    assert run(["migrate", str(path)]) == 2
    assert "exists, perhaps from an earlier try; move it away" in capsys.readouterr().err
    assert version(path) == [("1",)]


def test_without_alembic_the_extra_is_named(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played(path)
    release(monkeypatch, tmp_path, ["ALTER TABLE hooks ADD COLUMN note TEXT"])
    monkeypatch.setitem(__import__("sys").modules, "alembic", None)
    with pytest.raises(MissingExtra, match=r"needs the .live. extra"):
        migrate.migrate(path)
