"""Results of different code never stand in one table: whatever a policy reads, a change of it is noticed."""

import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from afterglow.errors import BadValue
from afterglow.lab.study import runner
from afterglow.lab.study.code.digest import Unknown, content
from afterglow.lab.study.identity import identity
from afterglow.lab.study.study import Study
from afterglow.worlds.spreads import spread
from afterglow.worlds.world import World

PLACE = {"PYTHONPATH": ":".join(sys.path), "PATH": ""}
POLICY = """
import threading
from dataclasses import dataclass
from afterglow import Policy

FIRST = 0
LOCK = threading.Lock()


class Beginning:
    def tried(self):
        return 0


@dataclass(frozen=True)
class Settings:
    arms: int
    window: int
    trial: int = 20


@dataclass
class State:
    sums: list[float]
    tried: int


def start(settings):
    return State([0.0] * settings.arms, FIRST + Beginning().tried())


def next_hold(settings, state, draws):
    if state.tried < settings.arms:
        return state.tried, settings.window - 1 + settings.trial, settings.window - 1
    best = 0
    for arm in range(settings.arms):
        if state.sums[arm] > state.sums[best]:
            best = arm
    return best, settings.trial, 0


def learn(settings, state, arm, steps, split, head, body):
    state.sums[arm] += body
    state.tried += 1


def recommend(settings, state):
    return 0


policy = Policy("try-then-keep", Settings, State, start, next_hold, learn, recommend=recommend)
"""


def study_of(folder: Path, *edits: tuple[str, str]) -> Study:
    """A study of the policy above, with pieces of it replaced."""
    text = POLICY
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    (folder / "mine.py").write_text(text)
    return Study([str(folder / "mine.py")], [{"rewards": [0.9, 0.6], "window": 4}], 500, 4, checkpoints=3)


def stopped(study: Study, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Play it, but end before the tables are written."""

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
        patch.setattr(runner, "write_runs", stop)
        study.run(out, threads=1)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (("trial: int = 20", "trial: int = 40"), "setting try-then-keep.trial was 20 and is 40;"),
        (("FIRST = 0", "FIRST = 1"), "code of try-then-keep was"),
        (("return 0\n\n\n@", "return 1\n\n\n@"), "code of try-then-keep was"),
        (("    return 0\n\n\npolicy", "    return 1\n\n\npolicy"), "code of try-then-keep was"),
    ],
    ids=["a default setting", "a constant that start reads", "a class that start uses", "the recommendation"],
)
def test_a_stopped_study_does_not_go_on_with_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edit: tuple[str, str], said: str
) -> None:
    stopped(study_of(tmp_path), tmp_path / "out", monkeypatch)
    with pytest.raises(BadValue, match=f"has results of another study: {said}"):
        study_of(tmp_path, edit).run(tmp_path / "out")
    assert study_of(tmp_path).run(tmp_path / "out").complete


def test_code_that_can_not_be_compared_is_played_but_not_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked = study_of(tmp_path, ("    return State(", "    LOCK.locked()\n    return State("))
    stopped(locked, tmp_path / "out", monkeypatch)
    said = "perhaps of other code of try-then-keep: start reads LOCK, a _thread.lock, can't be compared; give another"
    with pytest.raises(BadValue, match=re.escape(said)):
        locked.run(tmp_path / "out")
    assert locked.run(tmp_path / "other").complete


def test_results_that_say_less_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def earlier(study: Study) -> dict[str, Any]:
        return {key: value for key, value in identity(study).items() if key != "settings"}

    with monkeypatch.context() as patch:
        patch.setattr(runner, "identity", earlier)
        study_of(tmp_path).run(tmp_path / "out")
    with pytest.raises(BadValue, match="results of an earlier Afterglow, which stored less about the code; give"):
        study_of(tmp_path).run(tmp_path / "out")


def test_another_process_finds_the_same_code(tmp_path: Path) -> None:
    study = study_of(tmp_path)
    program = (
        "import sys; from afterglow.lab.study.identity import mark; "
        "from afterglow.lab.study.code.policy_files import policy_from; "
    )
    program += "print(mark(policy_from(sys.argv[1])))"
    for seed in ("1", "2"):  # of the hashes of texts
        arguments = [sys.executable, "-c", program, str(tmp_path / "mine.py")]
        done = subprocess.run(
            arguments, capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed} | PLACE
        )
        assert done.stdout.strip() == identity(study)["code"]["try-then-keep"]


def test_a_spread_counts_with_all_that_it_reads() -> None:
    def late(by: Any) -> Callable[..., None]:
        def cut(reward: float, arm: int, best: int, age: int, draws: Any, parts: Any) -> None:
            parts[by[0]] = reward

        return cut

    def code(by: Any) -> str:
        world = World.of([0.9, 0.6], 4, spread(late(by)))
        found: str = identity(Study(["trim-ucb"], [world], 100))["code"]["cut"]
        return found

    assert code((1,)) == code((1,)) != code((2,))


class Slow:
    """Something of a user's."""

    def __init__(self, factor: float) -> None:
        self.factor = factor
        self.me = self

    def twice(self) -> float:
        return 2 * self.factor


@pytest.mark.parametrize(
    ("make", "one", "other"),
    [
        (lambda value: partial(max, value), 1, 2),
        (lambda value: Slow(value).twice, 1.0, 2.0),
        (lambda value: {"a": [np.array([value])]}, 1.0, 2.0),
        (lambda value: frozenset({"a", "b", value}), "c", "d"),
        (lambda value: lambda: value, 1, 1.0),
        (np.random.default_rng, 1, 2),
        (lambda value: lambda x, *, y=value: x + y, 1, 2),
    ],
    ids=["partial", "method", "array", "set", "closure", "generator", "default"],
)
def test_a_value_is_known_by_its_content(make: Callable[[Any], Any], one: Any, other: Any) -> None:
    assert content(make(one)) == content(make(one)) != content(make(other))


def test_what_has_no_content_is_named() -> None:
    def reader() -> Any:
        return stream

    with Path(__file__).open() as stream, pytest.raises(Unknown, match=r"reader reads stream, a _io\.TextIOWrapper"):
        content(reader)
