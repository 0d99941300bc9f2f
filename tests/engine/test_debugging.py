"""A mistake in a user's policy or spread is named for what it is, and each for itself."""

import math
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from afterglow.engine.simulate import simulate
from afterglow.errors import BadValue, Disagreement
from afterglow.policies.policy import Policy
from afterglow.worlds.spreads import Spread
from afterglow.worlds.world import World

WORLD = World.of([0.4, 0.5], 10)


@dataclass(frozen=True)
class Settings:
    arms: int
    window: int


@dataclass
class State:
    pulls: list[int]
    clock: int


def start(settings: Any) -> State:
    return State([0] * settings.arms, 0)


def in_turns(settings: Any, state: Any, draws: Any) -> Any:
    return state.clock % 2, 5, 0


def count(settings: Any, state: Any, arm: int, steps: int, split: int, head: float, body: float) -> None:
    state.pulls[arm] += steps
    state.clock += 1


def own(next_hold: Callable[..., Any] = in_turns, learn: Callable[..., None] = count, **more: Any) -> Policy[Any, Any]:
    return Policy("own", Settings, State, start, next_hold, learn, **more)


def by_chance(settings: Any, state: Any, draws: Any) -> Any:
    return int(random.random() * 2), 5, 0


def by_numpy(settings: Any, state: Any, draws: Any) -> Any:
    return int(np.random.random() * 2), 5, 0  # noqa: NPY002


@pytest.mark.parametrize(("verb", "where"), [(by_chance, "random in by_chance"), (by_numpy, "np in by_numpy")])
def test_randomness_of_a_policys_own_is_named(verb: Callable[..., Any], where: str) -> None:
    with pytest.raises(Disagreement, match=rf"next_hold of own draws random numbers of its own \({where}\)"):
        simulate(own(verb), WORLD, 1_000, runs=1)


def tripled(settings: Any, state: Any, arm: int, steps: int, split: int, head: float, body: float) -> None:
    state.clock = state.clock * 3 + 1


def test_a_number_beyond_64_bits_is_named() -> None:
    with pytest.raises(Disagreement, match="own counts further than 64 bits in clock, by hold"):
        simulate(own(lambda settings, state, draws: (0, 5, 0), tripled), WORLD, 1_000, runs=1)


def late(settings: Any, state: Any, arm: int, steps: int, split: int, head: float, body: float) -> None:
    state.clock += 1
    if state.clock == 9_000:
        state.pulls[7] += 1


def test_a_failure_long_after_the_first_use_has_its_verb_line_and_values() -> None:
    with pytest.raises(BadValue) as failed:
        simulate(own(learn=late), WORLD, 50_000, runs=3, first=2)
    said = str(failed.value)
    assert failed.value.field == "policy"
    assert "in plain Python, learn raises IndexError: list index out of range at hold 8999, line " in said
    assert "(state.pulls[7] += 1)" in said
    assert "state = State(pulls=[0, 0], clock=9000), arm = 1, steps = 5" in said


def gives_up(settings: Any, state: Any, arm: int, steps: int, split: int, head: float, body: float) -> None:
    state.clock += 1
    if state.clock == 6_000:
        raise RuntimeError("gave up")


def claims(settings: Any, state: Any, arm: int, steps: int, split: int, head: float, body: float) -> None:
    state.clock += 1
    if state.clock == 40:
        raise AssertionError


@pytest.mark.parametrize(
    ("verb", "said"),
    [
        (gives_up, "learn raises RuntimeError: gave up at hold 5999, line"),
        (claims, "learn raises AssertionError at hold 39, line"),
    ],
)
def test_exceptions_of_every_kind_are_replayed(verb: Callable[..., None], said: str) -> None:
    with pytest.raises(BadValue) as failed:
        simulate(own(learn=verb), WORLD, 50_000, runs=1)
    assert said in str(failed.value)


def gives_up_late(settings: Any, state: Any, arm: int, steps: int, split: int, head: float, body: float) -> None:
    state.clock += 1
    if state.clock == 30_000:
        raise RuntimeError("at last")


def every_step(settings: Any, state: Any, draws: Any) -> Any:
    return 0, 1, 0


@pytest.mark.parametrize(
    ("horizon", "most", "said"),
    [
        (30_000, 40_000, "learn raises RuntimeError: at last at hold 29999, line"),  # in the last hold
        (35_000, 25_000, "at last; it failed after 25,000 holds, too many to replay"),
    ],
)
def test_a_failure_is_replayed_unless_it_comes_after_too_many_holds(
    monkeypatch: pytest.MonkeyPatch, horizon: int, most: int, said: str
) -> None:
    monkeypatch.setattr("afterglow.engine.job.REPLAYED", most)
    with pytest.raises(BadValue, match=said):
        simulate(own(every_step, gives_up_late), WORLD, horizon, runs=1)


@pytest.mark.parametrize("error", [MemoryError("no room"), BadValue("own has no start for 2 arms")])
def test_a_lack_of_memory_and_a_refusal_are_not_taken_for_a_failed_run(error: Exception) -> None:
    calls, last = 0, 0

    def refuses(settings: Any) -> State:
        nonlocal calls
        calls += 1
        if calls == last:
            raise error
        return start(settings)

    policy = Policy("own", Settings, State, refuses, in_turns, count)
    simulate(policy, WORLD, 100, runs=1)
    calls = 0
    simulate(policy, WORLD, 100, runs=1)  # it is known by now; the last call is that of the run
    calls, last = 0, calls
    with pytest.raises(type(error), match=f"^{error}$"):
        simulate(policy, WORLD, 100, runs=1)


def rooted(settings: Any, state: Any, arm: int, steps: int, split: int, head: float, body: float) -> None:
    state.clock += 1
    state.clock += int(math.sqrt(30.0 - state.clock) < 0.0)


def test_what_fails_in_plain_python_alone_is_named_too() -> None:
    with pytest.raises(BadValue, match=r"learn raises ValueError: .* at hold 30, line \d+"):
        simulate(own(learn=rooted), WORLD, 1_000, runs=1)


@dataclass
class Sums:
    sums: list[float]


def test_a_list_in_place_of_another_is_refused_without_machine_code() -> None:
    def replaces(settings: Any, state: Any, arm: int, steps: int, split: int, head: float, body: float) -> None:
        state.sums = [head, body]

    policy = Policy("own", Settings, Sums, lambda settings: Sums([0.0, 0.0]), lambda *_: (0, 5, 0), replaces)
    with pytest.raises(BadValue, match="own can't be compiled: ") as failure:
        simulate(policy, WORLD, 100, runs=1)
    assert "= load" not in str(failure.value)


def test_numbers_of_numpy_in_a_state_are_named() -> None:
    def keeps(settings: Any, state: Any, arm: int, steps: int, split: int, head: float, body: float) -> None:
        state.sums[arm] += np.float64(0.75)

    policy = Policy("own", Settings, Sums, lambda settings: Sums([0.0, 0.0]), lambda *_: (0, 5, 0), keeps)
    with pytest.raises(Disagreement, match="own keeps NumPy's float64 in sums"):
        simulate(policy, WORLD, 100, runs=1)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"learn": lambda settings, state: None},
            r"learn of own must take \(settings, .*, body\), it takes \(",
        ),
        ({"next_hold": lambda settings: (0, 5, 0)}, r"next_hold of own must take .*, it takes \(settings\)"),
        ({"next_hold": lambda settings, state, draws: ("a", 5, 0)}, r"must return \(arm, .* got \('a', 5, 0\)"),
        ({"draws": -1}, "draws of own must be a whole number of at least 0, got -1"),
    ],
)
def test_wrong_arguments_returns_and_draws_are_named(given: dict[str, Any], said: str) -> None:
    with pytest.raises(BadValue, match=said):
        simulate(own(**given), WORLD, 100, runs=1)


def too_few_draws(reward: float, arm: int, best: int, age: int, draws: Any, parts: Any) -> None:
    parts[int(draws[1] * len(parts))] += reward


def test_a_spread_that_fails_is_not_taken_for_the_policy() -> None:
    world = World.of([0.4, 0.5], 10, Spread("own", too_few_draws, draws=1))
    with pytest.raises(BadValue) as failed:
        simulate("trim-ucb", world, 1_000, runs=2)
    assert failed.value.field == "spread"
    assert "the world's spread failed in a compiled run" in str(failed.value)
    assert "in plain Python, the spread raises IndexError: list index out of range at age 0, line" in str(failed.value)


def tires(reward: float, arm: int, best: int, age: int, draws: Any, parts: Any) -> None:
    parts[0] = reward
    if age > 300:
        raise ValueError("tired")


def by_luck(reward: float, arm: int, best: int, age: int, draws: Any, parts: Any) -> None:
    parts[int(random.random() * len(parts))] = reward


def twice(reward: float, arm: int, best: int, age: int, draws: Any, parts: Any) -> None:
    parts[0] = 2 * reward


def of_no_number(reward: Any, arm: int, best: int, age: int, draws: Any, parts: Any) -> None:
    parts[0] = reward.whole


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (tires, r"spread failed .* tired; in plain Python, the spread raises ValueError: tired at age 301, line"),
        (by_luck, r"the world's spread draws random numbers of its own \(random in by_luck\)"),
        (twice, "at age 0 of arm 0 it cuts a reward of 1 into parts that add up to 2"),
        (of_no_number, r"the world's spread can't be compiled: .*'whole' of type float64"),
    ],
)
def test_a_spread_is_named_for_what_is_wrong_with_it(function: Callable[..., None], said: str) -> None:
    with pytest.raises((BadValue, Disagreement), match=said):
        simulate("leak-ucb", World.of([0.4, 0.5], 10, Spread("own", function)), 100_000, runs=1)


def test_a_spread_with_other_arguments_is_refused_when_the_world_is_made() -> None:
    wrong = r"a spread's function takes \(reward, arm, best, age, draws, parts\), wrong takes \(reward, arm\)"

    def wrong_spread(reward: float, arm: int) -> None: ...

    wrong_spread.__name__ = "wrong"
    with pytest.raises(BadValue, match=wrong) as refused:
        World.of([0.4, 0.5], 10, Spread("own", wrong_spread))
    assert refused.value.field == "spread"
    with pytest.raises(BadValue, match=r"draws, parts, memory\), too_few_draws takes"):
        World.of([0.4, 0.5], 10, Spread("own", too_few_draws, memory=3))


def test_draws_may_depend_on_the_number_of_arms() -> None:
    def last(settings: Any, state: Any, draws: Any) -> Any:
        return int(draws[settings.arms - 1] * settings.arms), 5, 0

    assert simulate(own(last, draws=lambda arms: arms), WORLD, 200, runs=1).pulls.sum() == 200


ENDLESS = """
import sys
from afterglow import Policy, World, simulate
from afterglow.engine.policies import compiled
sys.path.insert(0, {folder!r})
from test_debugging import Settings, State, in_turns, start

def endless(settings, state, arm, steps, split, head, body):
    state.clock += 1
    while state.clock > 50:
        state.pulls[0] += 1

policy, world = Policy("endless", Settings, State, start, in_turns, endless), World.of([0.4, 0.5], 10)
simulate("ucb1", world, 100, runs=1)
compiled(policy)  # so that the signal doesn't meet the compiler
print("started", flush=True)
try:
    simulate(policy, world, 1_000, runs=1)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_ctrl_c_ends_a_verb_that_never_returns() -> None:
    code = ENDLESS.format(folder=str(Path(__file__).parent))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(2)
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == "interrupted\n"
        assert process.wait(60) == 0
