"""Machine code that can't be stale, and errors that say what is wrong."""

import logging
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from afterglow.engine.compiling import announce, digest, read
from afterglow.engine.layout import pack, unpack
from afterglow.engine.policies import has_our_verbs
from afterglow.engine.simulate import simulate
from afterglow.errors import BadValue, Disagreement
from afterglow.policies.policy import Policy
from afterglow.policies.registry import is_ours, named
from afterglow.policies.season import seasonal
from afterglow.worlds.world import World

WORLD = World.of([0.25, 0.75], 4, "uniform")
OWN = """
from dataclasses import dataclass
from afterglow import Policy

STEPS = {steps}
SALT = {salt}

@dataclass(frozen=True)
class Settings:
    arms: int

@dataclass
class State:
    pulls: list[int]

def start(settings):
    return State([0] * settings.arms)

def length():
    return STEPS + 0 * SALT

def next_hold(settings, state, draws):
    return {arm}, length(), 0

def learn(settings, state, arm, steps, split, head, body):
    state.pulls[arm] += steps

policy = Policy("own", Settings, State, start, next_hold, learn)
"""
RUN = """
import logging, sys
import own
from afterglow.engine.simulate import simulate
from afterglow.worlds.world import World
logging.basicConfig(level=logging.INFO, stream=sys.stdout)
outcome = simulate(own.policy, World.of([0.25, 0.75], 4, "uniform"), 100, 1)
print(outcome.pulls[0].tolist(), int(outcome.holds[0]))
"""


def run_own(folder: Path, **text: int) -> str:
    """What another process prints that runs the policy file as it is now."""
    (folder / "own.py").write_text(OWN.format(**text))
    paths = os.pathsep.join([str(folder), *sys.path])
    env = os.environ | {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", RUN], env=env, capture_output=True, text=True, check=True)
    return done.stdout


def test_an_edited_policy_is_never_run_from_a_stale_cache_and_a_revert_hits_again(tmp_path: Path) -> None:
    salt = time.time_ns()  # content that no earlier test has left in the cache
    first = run_own(tmp_path, arm=0, steps=10, salt=salt)
    assert "[100, 0] 10" in first
    assert "compiling" in first
    again = run_own(tmp_path, arm=0, steps=10, salt=salt)
    assert "[100, 0] 10" in again
    assert "compiling" not in again
    assert "[0, 100] 10" in run_own(tmp_path, arm=1, steps=10, salt=salt)  # code changed
    assert "[0, 100] 4" in run_own(tmp_path, arm=1, steps=25, salt=salt)  # a constant read by a helper changed
    reverted = run_own(tmp_path, arm=0, steps=10, salt=salt)
    assert "[100, 0] 10" in reverted
    assert "compiling" not in reverted


def test_a_renamed_policy_file_is_run_from_the_cache_too(tmp_path: Path) -> None:
    salt = time.time_ns()
    run_own(tmp_path, arm=0, steps=10, salt=salt)
    (tmp_path / "own.py").rename(tmp_path / "renamed.py")
    renamed = RUN.replace("import own", "import renamed as own")
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    done = subprocess.run([sys.executable, "-c", renamed], env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "[100, 0] 10\n"


@dataclass(frozen=True)
class Settings:
    arms: int


@dataclass
class State:
    count: int
    sums: list[float]


def start(settings: Settings) -> State:
    return State(0, [0.0] * settings.arms)


def learn(settings: Settings, state: State, arm: int, steps: int, split: int, head: float, body: float) -> None:
    state.sums[arm] += head + body


def policy_with(next_hold: Any, learn: Any = learn) -> Policy[Any, Any]:
    return Policy("own", Settings, State, start, next_hold, learn)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ((2, 1, 0), "own failed in a compiled run: next_hold named an arm that does not exist"),
        ((0, 0, 0), "next_hold must ask for at least 1 step"),
        ((0, 3, 4), "a split between 0 and the steps"),
    ],
)
def test_a_hold_that_cannot_be_is_refused(asked: tuple[int, int, int], sentence: str) -> None:
    arm, steps, split = asked
    with pytest.raises(BadValue, match=sentence):
        simulate(policy_with(lambda settings, state, draws: (arm, steps, split)), WORLD, 50, 1)


def test_reading_past_a_list_is_an_error_not_a_wrong_number() -> None:
    with pytest.raises(BadValue, match="next_hold raises IndexError: list index out of range at hold 0, line"):
        simulate(policy_with(lambda settings, state, draws: (int(state.sums[5]), 1, 0)), WORLD, 50, 1)


def learn_too_far(settings: Settings, state: State, arm: int, steps: int, split: int, head: float, body: float) -> None:
    state.count += 1
    state.sums[state.count - 1] += body


def test_a_failure_in_a_compiled_verb_is_replayed_with_its_line_and_values() -> None:
    with pytest.raises(BadValue, match="out of bounds") as failed:
        simulate(policy_with(lambda settings, state, draws: (0, 5, 0), learn_too_far), WORLD, 50, 1)
    assert "learn raises IndexError: list index out of range at hold 2, line " in str(failed.value)
    assert "(state.sums[state.count - 1] += body), with settings = Settings(arms=2), " in str(failed.value)
    assert "state = State(count=3, " in str(failed.value)
    assert failed.value.field == "policy"


def test_wrong_returns_are_named_for_what_they_are() -> None:
    with pytest.raises(BadValue, match=r"next_hold of own must return \(arm, steps, split\), .* got None"):
        simulate(policy_with(lambda settings, state, draws: None), WORLD, 50, 1)
    wrong: Any = lambda settings: {"count": 0}  # noqa: E731
    with pytest.raises(BadValue, match="start of own must return a State, got dict"):
        simulate(Policy("own", Settings, State, wrong, lambda *_: (0, 1, 0), learn), WORLD, 50, 1)


def test_randomness_of_its_own_is_named() -> None:
    def next_hold(settings: Settings, state: State, draws: list[float]) -> tuple[int, int, int]:
        return 0, random.randint(1, 1 << 40), 0

    with pytest.raises(Disagreement, match=r"next_hold of own draws random numbers of its own \(random in next_hold\)"):
        simulate(policy_with(next_hold), WORLD, 50, 1)


def test_a_number_of_numpy_is_named() -> None:
    with pytest.raises(Disagreement, match="next_hold of own returns NumPy's int64 at hold 0"):
        simulate(policy_with(lambda settings, state, draws: (0, np.int64(5), 0)), WORLD, 50, 1)


def learn_badly(settings: Settings, state: State, arm: int, steps: int, split: int, head: float, body: float) -> None:
    state.count = state.count + 0.5  # type: ignore[assignment]


def test_a_float_kept_in_an_int_field_is_found_before_a_run() -> None:
    with pytest.raises(Disagreement, match="own ends in another state compiled than in plain Python"):
        simulate(policy_with(lambda settings, state, draws: (0, 5, 0), learn_badly), WORLD, 50, 1)


@dataclass
class Wordy:
    name: str


def test_a_field_that_has_no_cell_is_named() -> None:
    with pytest.raises(BadValue, match=r"Wordy.name must be int, float, list\[int\] or list\[float\].*got str"):
        pack(Wordy("x"))
    with pytest.raises(BadValue, match=r"State\.count is declared int, got 1\.5"):
        pack(State(1.5, []))  # type: ignore[arg-type]


def test_a_record_survives_its_row() -> None:
    for record in (State(-3, [1.5, float("inf"), 0.1]), State(2**62, []), Settings(4)):
        assert unpack(type(record), pack(record)) == record


def test_a_digest_tells_content_apart() -> None:
    def of(number: int) -> str | None:
        return digest(lambda x: x + number)

    assert of(1) == of(1)
    assert of(1) != of(2)
    assert digest(np.arange(3)) != digest(np.arange(4))
    assert digest(object()) is None
    assert digest(np.sqrt, len, range(3)) is not None
    assert digest(slice(1, 4)) not in (None, digest(slice(1, 5)))  # a constant in code since Python 3.14


LONG = """
from afterglow.engine.simulate import simulate
from afterglow.worlds.world import World
world = World.of([0.5, 0.6], 4, "uniform")
simulate("trim-ucb", world, 1000, 1, engine="{tier}")
try:
    print("ready", flush=True)
    simulate("trim-ucb", world, 1e13, 4, engine="{tier}")
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


@pytest.mark.parametrize("tier", ["step", "hold"])
def test_ctrl_c_stops_at_once_and_cleanly(tier: str) -> None:
    command = [sys.executable, "-c", LONG.format(tier=tier)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "stopped\n"
        assert process.wait(timeout=20) == 0


def test_compiling_is_said_once_on_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    monkeypatch.setenv("AFTERGLOW_CACHE", str(tmp_path))
    caplog.set_level(logging.INFO, "afterglow")
    announce.cache_clear()
    for steps in (9, 10):
        simulate(policy_with(lambda settings, state, draws, steps=steps: (1, steps, 0)), WORLD, 90, 1)
    assert ["compiling kernels" in message for message in caplog.messages] == [True]


def test_our_own_policies_are_not_checked_again_at_every_start() -> None:
    assert is_ours(named("ucb1"))
    assert not is_ours(policy_with(lambda settings, state, draws: (1, 9, 0)))


def test_a_policy_that_cannot_be_compiled_is_refused_with_the_line_named() -> None:
    def grows(settings: Settings, state: State, draws: Any) -> tuple[int, int, int]:
        state.sums.append(1.0)
        return 0, 1, 0

    with pytest.raises(BadValue, match=r"own can't be compiled: Unknown attribute 'append'.*test_compiling\.py"):
        simulate(policy_with(grows), WORLD, 50, 1)


def test_a_float_where_a_hold_needs_a_whole_number_is_found_before_a_run() -> None:
    with pytest.raises(BadValue, match=r"three whole numbers, got \(0, 1\.0, 0\)"):
        simulate(policy_with(lambda settings, state, draws: (0, settings.arms / 2, 0)), WORLD, 50, 1)


def test_what_is_read_through_modules_however_deep_belongs_to_the_content() -> None:
    inner, outer = ModuleType("inner"), ModuleType("outer")
    inner.LAG, outer.inner, inner.outer = 3, inner, outer  # type: ignore[attr-defined]
    reader = eval("lambda: outer.inner.LAG", {"outer": outer})
    assert read(reader)["outer.inner.LAG"] == 3
    before = digest(reader)
    inner.LAG = 4  # type: ignore[attr-defined]
    assert digest(reader) != before


LENGTH = 10


def test_a_global_changed_in_a_running_process_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    policy = policy_with(lambda settings, state, draws: (0, LENGTH, 0))
    assert simulate(policy, WORLD, 100, 1).holds.tolist() == [10]
    monkeypatch.setitem(globals(), "LENGTH", 25)
    assert simulate(policy, WORLD, 100, 1).holds.tolist() == [4]


@dataclass(frozen=True)
class Timed:
    arms: int
    horizon: int  # 0 if not known


def test_the_check_of_a_users_policy_is_not_empty_without_a_horizon() -> None:
    policy: Any = Policy[Any, Any]("own", Timed, State, start, lambda settings, state, draws: (0, 5, 0), learn_badly,
                    lambda arms, horizon=0: Timed(arms, horizon))  # fmt: skip
    with pytest.raises(Disagreement):
        simulate(policy, WORLD, 50, 1, told_horizon=False)


def test_only_verbs_of_our_own_are_taken_as_unchanging() -> None:
    ours = named("washout-ucb")
    assert has_our_verbs(ours)
    assert has_our_verbs(seasonal(ours, 24))

    def next_hold(settings: Any, state: Any, draws: Any) -> tuple[int, int, int]:
        return 0, 1, 0

    own = replace(ours, next_hold=next_hold)
    assert not has_our_verbs(own)
    assert not has_our_verbs(seasonal(own, 24))
