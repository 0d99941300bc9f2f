"""`afterglow verify`, `backup`, `export` and `migrate`."""

import csv
import io
import json
import sqlite3
from pathlib import Path

import pytest

import afterglow
from afterglow.cli import run


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "experiments.db"
    with afterglow.live.open(path) as experiments:
        for name in ("shipping", "banner"):
            experiment = experiments.create(name, ["49", "59"], 4, reward_max=10.0, policy="ucb1")
            for step in range(5):
                experiment.close_step(step / 2)
            experiment.pin("59", 'said "stop", twice')
    return path


def rewrite(path: Path, *statements: str) -> None:
    base = sqlite3.connect(path)
    for statement in statements:
        base.execute(statement)
    base.commit()
    base.close()


def test_verify_says_what_was_compared(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", str(database)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{name}: 8 records, 5 steps, 0 snapshots, all as logged" for name in ("shipping", "banner")
    ]
    assert run(["verify", str(database), "--experiment", "banner", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [
        {"experiment": "banner", "records": 8, "steps": 5, "snapshots": 0, "faults": [], "ok": True}
    ]


def test_verify_exits_1_and_names_what_differs(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rewrite(database, "UPDATE steps SET total = 7 WHERE experiment = 2 AND step = 3")
    assert run(["verify", str(database)]) == 1
    said = capsys.readouterr()
    assert "step 3: the table has" in said.out
    assert said.err == "banner doesn't agree with its log; go back to a backup\n"


def test_commands_read_while_the_experiment_runs(database: Path, tmp_path: Path) -> None:
    with afterglow.live.open(database) as experiments:
        experiments["shipping"].reward(1.0)
        assert run(["verify", str(database)]) == 0
        assert run(["export", str(database), "shipping"]) == 0
        assert run(["backup", str(database), str(tmp_path / "copy.db")]) == 0
    with afterglow.live.open(tmp_path / "copy.db") as copy:
        assert copy.names() == ["shipping", "banner"]


def test_a_backup_never_replaces_a_file(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["backup", str(database), str(database)]) == 2
    assert "exists; name a new file for the backup" in capsys.readouterr().err


def test_steps_are_exported_as_csv_and_as_json_lines(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", str(database), "shipping"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert rows[3] == {
        "step": "3",
        "variant": "49",
        "planned": "49",
        "role": "plan",
        "total": "1.5",
        "void": "false",
        "reason": "",
        "expected": "",
    }
    assert rows[5]["total"] == ""
    assert run(["export", str(database), "shipping", "--format", "jsonl"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["total"] for line in lines] == [0.0, 0.5, 1.0, 1.5, 2.0, None]


def test_each_metric_of_a_guard_is_a_column(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "guarded.db"
    with afterglow.live.open(path) as experiments:
        guards = {"complaints": {"at_most": "+10%"}, "=load": {"at_most": 25}}
        experiments.create("shop", ["49", "59"], 4, policy="ucb1", guards=guards).close_step(0.5, 0, {"complaints": 3})
    assert run(["export", str(path), "shop"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert (rows[0]["metric_complaints"], rows[0]["metric_=load"], rows[1]["metric_complaints"]) == ("3.0", "0.0", "")
    assert run(["export", str(path), "shop", "--format", "jsonl"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[0])["metrics"] == {"complaints": 3.0, "=load": 0.0}


def test_the_log_is_exported_with_bodies_that_can_be_read(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", str(database), "shipping", "--what", "events"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["kind"] for row in rows] == ["create", "start", *["close"] * 5, "pin"]
    assert json.loads(rows[-1]["body"]) == {"variant": 1, "reason": 'said "stop", twice'}


def test_the_verdict_is_exported_as_one_row(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", str(database), "shipping", "--what", "verdict"]) == 0
    (row,) = csv.DictReader(capsys.readouterr().out.splitlines())
    assert run(["export", str(database), "shipping", "--what", "verdict", "--format", "jsonl"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert row["experiment"] == found["experiment"] == "shipping"
    assert (row["grade"], row["sentence"], row["summary"]) == (found["grade"], found["sentence"], found["summary"])
    assert {"to_control_low", "to_runner_up_percent_high", "gained_mean", "chances"} <= set(row)


def test_long_experiments_are_exported_page_by_page(
    database: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for what in ("steps", "events"):
        assert run(["export", str(database), "banner", "--what", what]) == 0
        whole = capsys.readouterr().out
        monkeypatch.setattr("afterglow.cli.commands.export.PAGE", 2)
        assert run(["export", str(database), "banner", "--what", what]) == 0
        assert capsys.readouterr().out == whole


def test_a_wrong_name_or_format_is_a_wrong_call(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, said in (
        (["export", str(database), "shiping"], "no experiment named 'shiping'; did you mean 'shipping'?"),
        (["export", str(database), "shipping", "--format", "xml"], "no format named 'xml'"),
        (["verify", str(database) + "x"], "doesn't exist, so there is nothing to read"),
        (["migrate", str(database) + "x"], "doesn't exist; name the file of the experiments"),
    ):
        assert run(arguments) == 2
        assert said in capsys.readouterr().err


def test_there_is_nothing_to_migrate_in_a_database_of_this_release(
    database: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["migrate", str(database)]) == 0
    assert "has the layout of this release; nothing was changed" in capsys.readouterr().err


def test_a_database_in_use_is_not_migrated(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with afterglow.live.open(database):
        assert run(["migrate", str(database)]) == 1
    assert "is being written by process" in capsys.readouterr().err
