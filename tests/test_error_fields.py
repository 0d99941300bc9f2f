"""Errors about an argument say which one, and of what kind they are, so that no program reads their sentences."""

from collections.abc import Callable
from typing import Any

import pytest

from afterglow import Agent, Study, World, fit, plan, simulate
from afterglow.errors import AfterglowError

PLAN: dict[str, Any] = {"arms": 2, "window": 4, "horizon": 400, "gap": 0.2, "mean": 0.5, "noise": 0.1, "runs": 20}
STUDY: dict[str, Any] = {"policies": ["trim-ucb"], "worlds": [{"rewards": [0.9, 0.5], "window": 4}], "horizon": 1000}
STEPS = "step,arm,total\n" + "".join(f"{step},{'AB'[step // 4 % 2]},{step % 3}\n" for step in range(40))


def agent(**given: Any) -> object:
    arguments: dict[str, Any] = {"arms": ["A", "B"], "window": 4}
    return Agent(**arguments | given)


def simulated(**given: Any) -> object:
    arguments: dict[str, Any] = {"policy": "ucb1", "world": World.of([0.9, 0.5], 4), "horizon": 100}
    return simulate(**arguments | given)


def world(**given: Any) -> object:
    arguments: dict[str, Any] = {"rewards": [0.9, 0.5], "window": 4}
    return World.of(**arguments | given)


def study(**given: Any) -> object:
    return Study(**STUDY | given)


def planned(**given: Any) -> object:
    return plan(**PLAN | given)


def fitted(**given: Any) -> object:
    arguments: dict[str, Any] = {"source": STEPS, "window": 2}
    return fit(**arguments | given)


@pytest.mark.parametrize(
    ("call", "given", "kind", "field"),
    [
        (agent, {"arms": ["A"]}, "bad-value", "arms"),
        (agent, {"arms": 3.5}, "bad-value", "arms"),
        (agent, {"window": 0}, "bad-value", "window"),
        (agent, {"horizon": -1}, "bad-value", "horizon"),
        (agent, {"seed": 2**64}, "bad-value", "seed"),
        (agent, {"reward_max": 0}, "bad-value", "reward_max"),
        (agent, {"confidence": 1}, "bad-value", "confidence"),
        (agent, {"season": 0}, "bad-value", "season"),
        (agent, {"policy": "trim"}, "unknown-policy", "policy"),
        (agent, {"policy": 7}, "bad-value", "policy"),
        (agent, {"policy": "attributed-ucb"}, "simulation-only", "policy"),
        (agent, {"policy": "phased-ucb"}, "missing-setting", "horizon"),
        (agent, {"levl": "strict"}, "unknown-setting", "levl"),
        (agent, {"options": {"levl": "strict"}}, "unknown-setting", "levl"),
        (agent, {"options": {"level": "plus"}, "level": "plus"}, "bad-value", "level"),
        (agent, {"options": ["level"]}, "bad-value", "options"),
        (simulated, {"options": "C"}, "bad-value", "options"),
        (study, {"policies": [{"policy": "trim-ucb", "options": {"levl": "plus"}}]}, "unknown-setting", "policies"),
        (
            study,
            {"policies": [{"policy": "trim-ucb", "level": "plus", "options": {"level": "plus"}}]},
            "bad-value",
            "policies",
        ),
        (agent, {"policy": "trim-ucb", "level": "stricter"}, "unknown-level", "level"),
        (agent, {"policy": "trim-ucb", "endgame": 4}, "bad-value", "endgame"),
        (agent, {"policy": "trim-ucb", "variance": 2}, "bad-value", "variance"),
        (agent, {"policy": "lean-ucb", "horizon": 10}, "horizon-too-short", "horizon"),
        (agent, {"policy": "lean-ucb", "horizon": 100, "season": 50}, "horizon-too-short", "season"),
        (agent, {"policy": "ucb1", "season": 7}, "bad-value", "season"),
        (simulated, {"policy": "ucb2"}, "unknown-policy", "policy"),
        (simulated, {"policy": 1}, "bad-value", "policy"),
        (simulated, {"world": [0.9, 0.5]}, "bad-value", "world"),
        (simulated, {"horizon": 1e16}, "bad-value", "horizon"),
        (simulated, {"runs": 0}, "bad-value", "runs"),
        (simulated, {"engine": "skp"}, "unknown-engine", "engine"),
        (simulated, {"checkpoints": [50, 20]}, "bad-value", "checkpoints"),
        (simulated, {"checkpoints": [0]}, "bad-value", "checkpoints"),
        (simulated, {"options": {"C": 1}}, "unknown-setting", "C"),
        (simulated, {"policy": "odaaf"}, "missing-setting", "mean_delay"),
        (world, {"rewards": [0.9]}, "bad-value", "rewards"),
        (world, {"rewards": [0.9, 1.5]}, "bad-value", "rewards"),
        (world, {"rewards": [0.9, "betta:2,3"]}, "unknown-reward", "rewards"),
        (world, {"window": 1.5}, "bad-value", "window"),
        (world, {"spread": "unifrm"}, "unknown-spread", "spread"),
        (world, {"spread": "kernel:1,2,3,4,5"}, "bad-value", "spread"),
        (world, {"spread": "delay:pareto"}, "unknown-delay", "spread"),
        (world, {"baseline": "constant:-1"}, "bad-value", "baseline"),
        (world, {"baseline": "tide:1"}, "unknown-baseline", "baseline"),
        (study, {"policies": []}, "bad-value", "policies"),
        (study, {"policies": ["ucb2"]}, "unknown-policy", "policies"),
        (study, {"policies": [{"policy": "trim-ucb", "levl": "plus"}]}, "unknown-setting", "policies"),
        (study, {"worlds": [{"rewards": [0.9, 0.5]}]}, "bad-value", "worlds"),
        (study, {"worlds": [{"rewards": [0.9, 0.5], "window": 0}]}, "bad-value", "worlds"),
        (study, {"worlds": [{"rewards": [0.9, 0.5], "windw": 4}]}, "unknown-key", "worlds"),
        (study, {"horizon": 0}, "bad-value", "horizon"),
        (study, {"runs": [10, 10]}, "bad-value", "runs"),
        (study, {"seed": -1}, "bad-value", "seed"),
        (study, {"told_window": "y2"}, "bad-value", "told_window"),
        (study, {"told_horizon": 1}, "bad-value", "told_horizon"),
        (study, {"engine": "fast"}, "unknown-engine", "engine"),
        (study, {"refused": "skip"}, "unknown-refused", "refused"),
        (study, {"name": "a/b"}, "bad-value", "name"),
        (study, {"policies": ["lean-ucb"], "horizon": 10}, "horizon-too-short", "policies"),
        (planned, {"arms": 1}, "bad-value", "arms"),
        (planned, {"window": 500}, "bad-value", "window"),
        (planned, {"gap": 0}, "bad-value", "gap"),
        (planned, {"mean": -1}, "bad-value", "mean"),
        (planned, {"mean": 2}, "bad-value", "mean"),
        (planned, {"noise": 3}, "bad-value", "noise"),
        (planned, {"swing": 0.3}, "bad-value", "swing"),
        (planned, {"season": 0}, "bad-value", "season"),
        (planned, {"spread": "unifrm"}, "unknown-spread", "spread"),
        (planned, {"history": [1.0] * 10, "mean": None, "noise": None}, "bad-value", "history"),
        (planned, {"history": [1.0] * 60}, "bad-value", "mean"),
        (planned, {"reading": {"column": "x"}}, "bad-value", "column"),
        (planned, {"reading": {"colour": "x"}}, "unknown-reading", "reading"),
        (planned, {"runs": 1}, "bad-value", "runs"),
        (fitted, {"window": 0}, "bad-value", "window"),
        (fitted, {"window": 20}, "too-few-steps", "window"),
        (fitted, {"season": 30}, "too-few-steps", "season"),
        (fitted, {"confidence": 0.2}, "bad-value", "confidence"),
        (fitted, {"reward_max": 0}, "bad-value", "reward_max"),
        (fitted, {"against": "C"}, "unknown-arm", "against"),
        (fitted, {"source": "step,arm,total\n0,A,1\n1,A,2\n"}, "too-few-arms", "source"),
        (fitted, {"reading": {"arm": "x"}}, "unknown-reading", "reading"),
        (fitted, {"reading": {"arm_column": "x"}}, "unknown-column", "arm_column"),
        (fitted, {"source": "nowhere.csv"}, "unreadable-file", "source"),
        (fitted, {"source": "a,b,c,d\n1,2,3,4\n3,4,5,6\n5,7,8,9\n"}, "unclear-column", "arm_column"),
    ],
)
def test_a_wrong_argument_is_named(call: Callable[..., object], given: dict[str, Any], kind: str, field: str) -> None:
    with pytest.raises(AfterglowError) as caught:
        call(**given)
    assert (caught.value.kind, caught.value.field) == (kind, field), caught.value
    assert "\x02" not in str(caught.value)
