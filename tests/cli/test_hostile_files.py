"""Files and numbers that nobody should give: every command answers with one sentence, soon, without a traceback."""

import os
import shutil
import sqlite3
from itertools import product
from pathlib import Path
from random import Random

import pytest

from afterglow.cli import run
from afterglow.lab import Study
from afterglow.live.store.migrations import VERSIONS

STUDY = "policies = ['ucb1']\nworlds = [{rewards = [0.5, 0.4], window = 2}]\nhorizon = 20\nruns = 2\n"
WORLD = 'window = 3\nspread = "uniform"\n[[arms]]\nreward = "beta:2,3"\n[[arms]]\nreward = 0.8\n'
STEPS = "\n".join(["step,arm,total", *(f"{step},{'ab'[step // 3 % 2]},{step % 5}" for step in range(60))])
SIMULATE = ["simulate", "--policy", "ucb1", "--means", "0.5,0.4", "--horizon", "100"]
READERS: dict[str, list[str]] = {  # a command for each kind of file; FILE is its path
    "table": ["fit", "FILE"],
    "units": ["fit", "FILE", "--unit", "arm"],
    "history": ["plan", "--arms", "2", "--window", "2", "--horizon", "9", "--gap", "9%", "--runs", "2", "--history"],
    "world": ["simulate", "--horizon", "9", "--runs", "2", "--policy", "ucb1", "--world", "FILE"],
    "study": ["run", "FILE", "--out", "OUT"],
    "results": ["report", "FILE"],
    "verify": ["verify", "FILE"],
    "backup": ["backup", "FILE", "OUT"],
    "export": ["export", "FILE", "shop"],
    "migrate": ["migrate", "FILE"],
    "token": ["token", "list", "--db", "FILE"],
    "policy": ["simulate", "--policy", "FILE.py", "--means", "0.5,0.4", "--window", "2", "--horizon", "9"],
}


def answer(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code and the last line on stderr; an exception fails the test."""
    code = run(arguments)
    lines = capsys.readouterr().err.splitlines()
    return code, lines[-1] if lines else ""


def called(reader: str, path: Path) -> list[str]:
    out = path.with_name("out")
    shutil.rmtree(out, ignore_errors=True)
    out.unlink(missing_ok=True)
    made = [word.replace("FILE", str(path)).replace("OUT", str(out)) for word in READERS[reader]]
    return made if "FILE" in " ".join(READERS[reader]) else [*made, str(path)]


HOSTILE = {
    "x.csv, row 2: a cell has more than 131,072 characters; is a quote left open?": (
        "table", f'step,arm,total\n1,"{"a" * 200_000},2\n{STEPS}'.encode(),
    ),
    "is nested more than 50 deep": ("study", ("a = " + "[" * 20_000 + "]" * 20_000).encode()),
    "nested more than 50 deep": ("world", ("a" + ".a" * 20_000 + " = 1").encode()),
    "is not TOML: a whole number has more than 64 bits": ("study", ("horizon = " + "9" * 5_000).encode()),
    "whole number has more than 64 bits": ("study", ("horizon = 0x" + "f" * 5_000).encode()),
    "checkpoints must be at most 100,000, got 1e+17": ("study", (STUDY + "checkpoints = 1e17").encode()),
    "a study must have at most 100,000 cells": (
        "study", (STUDY + f"seed = {list(range(1000))}\nseason = {list(range(1, 1000))}").encode(),
    ),
    "is not TOML: 'utf-8' codec": ("world", b"window = 3 # \xff\n"),
    "a fit takes at most 200 arms, the table has 3,000; is another column the arm? name it with --arm-column": (
        "table", "\n".join(["step,arm,total", *(f"{step},v{step // 4},1" for step in range(12_000))]).encode(),
    ),
    "is not text; save the table as CSV": ("table", STEPS.encode() + b"\0"),
    "is not text; save the table as CSV.": ("table", STEPS.encode("utf-32")),
    "x.csv, row 62, column 'total': 'inf' is no number": ("table", STEPS.encode() + b"\n60,a,inf"),
    "totals of a fit must be at most 1e+100, the largest is 4e+307; choose a larger unit": (
        "table", "\n".join([f"{line}{'e307' * (line[0] != 's')}" for line in STEPS.split("\n")]).encode(),
    ),
    "the step after the last one of a history, 9999-12-31, must be before the year 10000; correct its times": (
        "history", "\n".join(["time,total", *(f"9999-{m}-{d:02d},{d}" for m in (10, 12) for d in range(1, 32)),
                              *(f"9999-11-{d:02d},{d}" for d in range(1, 31))]).encode(),
    ),
    "save it as UTF-8": ("world", WORLD.encode("utf-16")),
    "horizon = nan: horizon must be a whole number of at least 1, got nan": (
        "study", STUDY.replace("= 20", "= nan").encode(),
    ),
    "arms must be at most 100,000 (in a world of a study), got 1e+09": (
        "study", STUDY.replace("window = 2", "window = 2, arms = 1e9").encode(),
    ),
    "a label must have at most 200 characters, all of them printable": (
        "study", STUDY.replace("'ucb1'", f"{{policy = 'ucb1', label = '{'x' * 100_000}'}}").encode(),
    ),
    "name = 'a\\x00b': a name must have at most 100 characters, all of them printable": (
        "study", (STUDY + 'name = "a\\u0000b"').encode(),
    ),
    "name = '../evil': a name must be a text without slashes": ("study", (STUDY + "name = '../evil'").encode()),
    "stops with SystemExit: 3 (line 1)": ("policy", b"raise SystemExit(3)"),
    "stops with GeneratorExit: (line 1)": ("policy", b"raise GeneratorExit"),
    "stops with SyntaxError: source code string cannot contain null bytes": ("policy", b"policy = 1\0"),
}  # fmt: skip


@pytest.mark.parametrize(("sentence", "given"), HOSTILE.items(), ids=range(len(HOSTILE)))
def test_a_hostile_file_is_refused_with_what_is_wrong(
    sentence: str, given: tuple[str, bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reader, data = given
    path = tmp_path / "x.csv"
    (path.with_name("x.csv.py") if reader == "policy" else path).write_bytes(data)
    code, said = answer(called(reader, path), capsys)
    assert code in (1, 2)
    assert sentence.rstrip(".") in said


@pytest.mark.usefixtures("short_of_work")
@pytest.mark.parametrize(("reader", "text"), [("study", STUDY), ("world", WORLD)])
def test_a_byte_order_mark_is_not_part_of_a_toml_file(
    reader: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.toml"
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert answer(called(reader, path), capsys)[0] == 130  # read, and stopped before it is played


def test_lines_that_end_in_carriage_returns_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed = []
    for end in ("\n", "\r", "\r\n"):
        path = tmp_path / "x.csv"
        path.write_bytes(STEPS.replace("\n", end).encode())
        assert run(["fit", str(path), "--json"]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] == printed[2]


LIMITS = {
    "--window must be at most 10,000,000 (in a simulated world), got 1e+09": [*SIMULATE, "--window", "1e9"],
    "--runs must be at most 20,833,333 (250,000,000 numbers, 12 for each run), got 1e+12": [
        *SIMULATE, "--window", "3", "--runs", "1e12",
    ],
    "--curve must be at most 100,000, got 1e+12": [*SIMULATE, "--window", "3", "--curve", "1e12"],
    "--threads must be at most 1,024, got 1e+09": [*SIMULATE, "--window", "3", "--threads", "1e9"],
    "--arms must be at most 200 (in a plan), got 1e+05": [
        "plan", "--arms", "1e5", "--window", "3", "--horizon", "1e6", "--gap", "0.1",
    ],
}  # fmt: skip


@pytest.mark.parametrize(("sentence", "arguments"), LIMITS.items())
def test_a_limit_says_what_it_is(sentence: str, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(arguments, capsys) == (2, sentence)


@pytest.mark.parametrize("reader", READERS)
def test_a_named_pipe_a_device_and_a_folder_are_answered_at_once(
    reader: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pipe, folder = tmp_path / "pipe.py", tmp_path / "folder.py"
    os.mkfifo(pipe)
    folder.mkdir()
    for path in (pipe, Path("/dev/zero"), folder):
        code, said = answer([word.replace(".py.py", ".py") for word in called(reader, path)], capsys)
        assert code in (1, 2), said
        assert said
        assert said.count("can't be read") < 2


def test_a_database_with_the_version_alone_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.db"
    base = sqlite3.connect(path)
    base.execute("CREATE TABLE afterglow_schema (version_num VARCHAR(32) NOT NULL)")
    base.execute("INSERT INTO afterglow_schema VALUES (?)", [VERSIONS[-1]])
    base.commit()
    base.close()
    for reader in ("verify", "backup", "export", "migrate", "token"):
        code, said = answer(called(reader, path), capsys)
        assert code in (1, 2)
        assert "lacks tables of a database" in said or "something else than Afterglow's experiments" in said, said


def mutated(data: bytes, random: Random) -> bytes:
    """A file with damage: cut, bytes changed, a part repeated, removed or replaced by something odd."""
    odd = [
        b"\0",
        b"\xff\xfe",
        b'"',
        b"\r",
        b"[" * 500,
        b"9" * 400,
        b"1e999",
        b"nan",
        b"-",
        b",,,,",
        b"\n\n",
        b"{",
        b"'''",
    ]
    found = bytearray(data)
    for _ in range(random.randint(1, 4)):
        place = random.randrange(len(found) + 1)
        end = min(len(found), place + random.randint(0, 40))
        kind = random.randrange(5)
        if kind == 0:
            del found[place:]
        elif kind == 1:
            found[place:end] = random.randbytes(end - place)
        elif kind == 2:
            found[place:place] = found[place:end] * random.randint(1, 20)
        elif kind == 3:
            del found[place:end]
        else:
            found[place:end] = random.choice(odd)
    return bytes(found)


SOURCES = {"table": STEPS, "units": STEPS, "world": WORLD, "study": STUDY, "history": STEPS}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results") / "small"
    Study(["ucb1"], [{"rewards": [0.5, 0.4], "window": 2}], 20, runs=2, question="Which?").run(folder)
    return folder


@pytest.fixture
def short_of_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Damaged studies and worlds that are still right are not played: reading them is what is tested."""
    monkeypatch.setattr("afterglow.cli.study_runs.play", stop)
    monkeypatch.setattr("afterglow.engine.simulate.share_out", stop)


def stop(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.usefixtures("short_of_work")
@pytest.mark.parametrize(("reader", "seed"), list(product(SOURCES, range(3))))
def test_damaged_text_is_read_or_refused(
    reader: str, seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    random = Random(1000 * seed + len(reader))
    path = tmp_path / "x.toml"
    for _ in range(40):
        path.write_bytes(mutated(SOURCES[reader].encode(), random))
        code, said = answer(called(reader, path), capsys)
        assert code in (0, 130) or said


def test_damaged_results_are_refused(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("afterglow.lab.report.page.write_report", lambda found, *_: found.summary())
    random, refused = Random(5), 0
    for turn in range(60):
        folder = tmp_path / f"r{turn}"
        shutil.copytree(results, folder)
        path = folder / random.choice(["cells.parquet", "runs.parquet", "curves.parquet", "question.txt"])
        path.write_bytes(mutated(path.read_bytes(), random))
        code, said = answer(["report", str(folder)], capsys)
        assert code == 0 or str(path) in said
        refused += code != 0
        shutil.rmtree(folder)
    assert refused > 20


def test_damaged_results_are_not_extended(results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study, random, refused = tmp_path / "small.toml", Random(7), 0
    study.write_text(STUDY.replace("runs = 2", "runs = 3") + 'name = "small"\nquestion = "Which?"\n')
    for turn in range(40):
        folder = tmp_path / f"r{turn}"
        shutil.copytree(results, folder)
        path = folder / random.choice(["cells.parquet", "runs.parquet", "curves.parquet"])
        path.write_bytes(mutated(path.read_bytes(), random))
        code, said = answer(["run", str(study), "--out", str(folder), "--threads", "1"], capsys)
        assert code == 0 or str(folder) in said, said
        refused += code != 0
        shutil.rmtree(folder)
    assert refused > 15


def test_a_damaged_database_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from afterglow import live

    with live.open(tmp_path / "whole.db") as experiments:
        experiments.create("shop", variants=["a", "b"], window=2, horizon=9)
    data, random = (tmp_path / "whole.db").read_bytes(), Random(6)
    for turn in range(30):
        path = tmp_path / f"{turn}.db"
        path.write_bytes(mutated(data, random))
        for reader in ("verify", "export", "token"):
            code, said = answer(called(reader, path), capsys)
            assert code == 0 or said
