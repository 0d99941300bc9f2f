"""A finished study is extended: only what is missing is played, and the bytes are those of a study run at once."""

from pathlib import Path
from typing import Any

import pytest

from afterglow.errors import BadValue, OutOfTurn
from afterglow.lab.study import play as playing
from afterglow.lab.study import runner
from afterglow.lab.study.folder import locked
from afterglow.lab.study.results import Results
from afterglow.lab.study.schedule import Progress
from afterglow.lab.study.study import Study

WORLD = {"rewards": [0.9, 0.8], "window": [4, 8]}


def small(**fields: Any) -> Study:
    usual: dict[str, Any] = {
        "policies": ["trim-ucb", "ars-ucb"], "worlds": [WORLD], "horizon": 500, "runs": 12, "checkpoints": 5,
    }  # fmt: skip
    return Study(**usual | fields)


MORE: dict[str, dict[str, Any]] = {
    "more runs": {"runs": 20},
    "a policy": {"policies": ["trim-ucb", "leak-ucb", "ars-ucb"]},
    "a policy with more runs": {"policies": [{"policy": "leak-ucb", "runs": 5}, "ars-ucb", "trim-ucb"]},
    "a world": {"worlds": [{"rewards": [0.7, 0.4, 0.1], "window": 3}, WORLD]},
    "a window": {"worlds": [{"rewards": [0.9, 0.8], "window": [2, 4, 8]}]},
    "a horizon": {"horizon": [250, 500]},
    "a seed": {"seed": [1, 2]},
    "a label": {"policies": [{"policy": "trim-ucb", "label": "ours"}, "ars-ucb"]},
    "the same under a second label": {"policies": ["trim-ucb", {"policy": "trim-ucb", "label": "ours"}, "ars-ucb"]},
    "a name": {"name": "renamed"},
    "numbers of runs": {"runs": [5, 30]},
    "all at once": {"runs": 15, "policies": ["leak-ucb", "ars-ucb", "trim-ucb"], "horizon": [500, 250], "seed": [2, 1]},
}
PLAYED = {"more runs": 32, "a label": 0, "the same under a second label": 0, "a name": 0, "numbers of runs": 72}


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("finished")
    small().run(folder)
    return contents(folder)


@pytest.fixture
def folder(finished: dict[str, bytes], tmp_path: Path) -> Path:
    place = tmp_path / "folder"
    place.mkdir()
    for name, content in finished.items():
        (place / name).write_bytes(content)
    return place


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of runs of each piece that is played."""
    runs: list[int] = []
    played = playing.played

    def count(piece: Any, stopped: Any) -> Any:
        runs.append(piece.runs)
        return played(piece, stopped)

    monkeypatch.setattr(playing, "played", count)
    return runs


def stopped_at(step: str, study: Study, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a study until a step of the runner."""

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(runner, step, stop)
        with pytest.raises(KeyboardInterrupt):
            study.run(folder)


@pytest.mark.parametrize("more", MORE)
def test_an_extended_study_has_the_bytes_of_one_run_at_once(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: str
) -> None:
    at_once = small(**MORE[more]).run(tmp_path / "at once")
    runs = counted(monkeypatch)
    small(**MORE[more]).run(folder)
    assert contents(folder) == contents(tmp_path / "at once")
    assert sum(runs) == PLAYED.get(more, at_once.runs_done()[1] - 48)


def test_stopped_anywhere_the_extension_ends_in_the_same_bytes(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = small(runs=300, policies=["trim-ucb", "ucb1", "ars-ucb"], horizon=[500, 3_000])
    more.run(tmp_path / "at once")
    before = contents(folder)

    for step in ("write_kept", "write_cells", "run_tasks"):
        stopped_at(step, more, folder, monkeypatch)
        if step == "write_kept":
            assert contents(folder) == before
        if step == "write_cells":
            with pytest.raises(BadValue, match="was stopped while it was extended; run `afterglow run` again"):
                Results(folder)

    def interrupt(now: Progress) -> None:
        if 48 < now.done < now.total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        more.run(folder, threads=1, progress=interrupt)
    assert 48 < Results(folder).runs_done()[0] < 12 * 300
    stopped_at("write_runs", more, folder, monkeypatch)
    more.run(folder)
    assert contents(folder) == contents(tmp_path / "at once")


def test_a_study_that_was_stopped_is_extended_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped_at("write_runs", small(), tmp_path / "stopped", monkeypatch)
    more = small(policies=["leak-ucb", "ars-ucb", "trim-ucb"], runs=15)
    runs = counted(monkeypatch)
    more.run(tmp_path / "stopped")
    assert sum(runs) == 6 * 15 - 48
    more.run(tmp_path / "at once")
    assert contents(tmp_path / "stopped") == contents(tmp_path / "at once")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"runs": 11}, "runs was 12 and is 11"),
        ({"policies": ["trim-ucb"]}, "policies was"),
        ({"policies": [{"policy": "trim-ucb", "level": "strict"}, "ars-ucb", "leak-ucb"]}, "policies was"),
        ({"worlds": [{"rewards": [0.9, 0.8], "window": 4}]}, r"worlds\[0\].window was \[4, 8\] and is 4"),
        ({"checkpoints": 6, "runs": 20}, "checkpoints was 5 and is 6; runs was 12 and is 20"),
        ({"told_horizon": False}, "told_horizon was True and is False"),
    ],
)
def test_nothing_is_dropped_and_nothing_is_mixed(
    folder: Path, finished: dict[str, bytes], fields: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadValue, match=f"has results of another study: {said}"):
        small(**fields).run(folder)
    assert contents(folder) == finished


def test_other_code_is_not_mixed_in_with_a_new_policy(tmp_path: Path) -> None:
    source = Path("src/afterglow/policies/washout_ucb.py").read_text("utf-8").replace('"washout-ucb"', '"mine"')
    (tmp_path / "mine.py").write_text(source, encoding="utf-8")
    mine = str(tmp_path / "mine.py")
    small(policies=[mine]).run(tmp_path / "out")
    before = contents(tmp_path / "out")
    changed = source.replace("settings.arms", "(settings.arms + 0)", 1)
    assert changed != source
    (tmp_path / "mine.py").write_text(changed, encoding="utf-8")
    with pytest.raises(BadValue, match="has results of another study: policies was"):
        small(policies=[mine, "trim-ucb"]).run(tmp_path / "out")
    assert contents(tmp_path / "out") == before
    (tmp_path / "mine.py").write_text(source, encoding="utf-8")
    assert small(policies=[mine, "trim-ucb"]).run(tmp_path / "out").labels == ["mine", "trim-ucb"]


def test_two_runs_do_not_extend_one_folder(folder: Path, finished: dict[str, bytes]) -> None:
    with locked(folder), pytest.raises(OutOfTurn, match="in use by another run"):
        small(runs=20).run(folder)
    assert contents(folder) == finished
