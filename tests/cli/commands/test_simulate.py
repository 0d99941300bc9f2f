"""`afterglow simulate`."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from afterglow.cli import run
from afterglow.engine.simulate import simulate
from afterglow.worlds.world import World

PLACE = ["--means", "0.9,0.5", "--window", "4", "--horizon", "2e3", "--runs", "20"]
OWN = '''
"""Play the arms in turn."""
from dataclasses import dataclass
from afterglow import Policy

@dataclass(frozen=True)
class Settings:
    arms: int
    steps: int = 10

@dataclass
class State:
    turn: int

def start(settings):
    return State(0)

def next_hold(settings, state, draws):
    return state.turn % settings.arms, settings.steps, 0

def learn(settings, state, arm, steps, split, head, body):
    state.turn += 1

policy = Policy("in-turn", Settings, State, start, next_hold, learn)
'''


def found(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert run(["simulate", *arguments, "--json"]) == 0
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    return data


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert run(["simulate", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    return printed.err.rstrip("\n")


def test_the_json_object_says_what_was_played_and_what_came_out(capsys: pytest.CaptureFixture[str]) -> None:
    data = found(["--policy", "phased-ucb", "--set", "constants=corrected", "--set", "hold=50", *PLACE], capsys)
    world = World.of([0.9, 0.5], 4, "uniform")
    outcome = simulate("phased-ucb", world, 2000, 20, 1, {"constants": "corrected", "hold": 50})
    assert data["regret"] == {"mean": outcome.regret.mean, "se": outcome.regret.se}
    assert data["best_arm_share"] == outcome.best_arm_share
    assert data["holds"] == 40
    assert data["settings"]["hold"] == 50
    assert data["options"] == {"constants": "corrected", "hold": 50}
    assert data["rewards"] == ["bernoulli:0.9", "bernoulli:0.5"]
    place = ("policy", "horizon", "window", "spread", "runs", "seed", "engine")
    assert [data[name] for name in place] == ["phased-ucb", 2000, 4, "uniform", 20, 1, "skip"]
    assert data["seconds"] > 0


def test_a_curve_ends_at_the_horizon_with_the_final_regret(capsys: pytest.CaptureFixture[str]) -> None:
    data = found(["--policy", "ucb1", *PLACE, "--curve", "6"], capsys)
    curve = data["curve"]
    assert curve["t"][-1] == 2000
    assert (curve["mean"][-1], curve["se"][-1]) == (data["regret"]["mean"], data["regret"]["se"])
    assert len(curve["t"]) == len(curve["mean"]) == len(curve["se"]) == 6


def test_the_same_seed_gives_the_same_numbers_on_any_number_of_threads(capsys: pytest.CaptureFixture[str]) -> None:
    def without_the_clock(threads: str) -> dict[str, Any]:
        data = found(["--policy", "trim-ucb", *PLACE, "--seed", "7", "--threads", threads], capsys)
        return {name: value for name, value in data.items() if name not in ("seconds", "threads")}

    assert without_the_clock("1") == without_the_clock("2")


def test_one_run_has_no_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    data = found(["--policy", "ucb1", *PLACE, "--runs", "1", "--curve", "3"], capsys)
    assert data["regret"]["se"] is None
    assert data["curve"]["se"] == [None, None, None]


def test_arms_may_have_any_reward_law(capsys: pytest.CaptureFixture[str]) -> None:
    data = found(["--policy", "ucb1", "--arm", "beta:2,3", "--arm", "0.8", *PLACE[2:]], capsys)
    assert data["rewards"] == ["beta:2,3", "bernoulli:0.8"]
    assert data["means"] == [0.4, 0.8]


def test_a_world_file_gives_the_arms_and_may_be_overruled(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "world.toml"
    path.write_text('window = 3\nspread = "last"\n[[arms]]\nreward = "uniform:0,0.5"\n[[arms]]\nreward = 0.7\n')
    rest = ["--policy", "ucb1", "--world", str(path), "--horizon", "100", "--runs", "2"]
    data = found(rest, capsys)
    assert (data["rewards"], data["window"], data["spread"]) == (["uniform:0,0.5", "bernoulli:0.7"], 3, "last")
    data = found([*rest, "--window", "5", "--spread", "hoard"], capsys)
    assert (data["window"], data["spread"]) == (5, "hoard")


def test_a_policy_file_runs_like_a_name(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(OWN)
    data = found(["--policy", str(path), "--set", "steps=25", *PLACE], capsys)
    assert (data["policy"], data["settings"]) == ("in-turn", {"arms": 2, "steps": 25})
    assert data["regret"]["mean"] == pytest.approx(0.4 * 1000)


def test_the_text_gives_seed_and_regret_with_its_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", "--policy", "ucb1", *PLACE, "--seed", "5", "--curve", "3"]) == 0
    shown = capsys.readouterr().out
    assert "20 runs, seed 5" in shown
    assert " ± " in shown
    assert "2,000" in shown.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "give one of --means 0.9,0.8, --arm REWARD --arm REWARD, --world FILE.toml, got none"),
        (
            ["--means", "1,0", "--arm", "1"],
            "give one of --means 0.9,0.8, --arm REWARD --arm REWARD, --world FILE.toml, got --means and --arm",
        ),
        (["--means", "1,0"], "give --window, the steps over which one pull pays (1 = paid at once)"),
        (
            ["--means", "1,beta", "--window", "2"],
            "--means takes numbers, got 'beta'; write other rewards as --arm beta:2,3 --arm 0.8",
        ),
        (["--means", "0.5,1.5", "--window", "2"], "p of a Bernoulli reward must be between 0 and 1, got 1.5"),
        (["--means", "0.5", "--window", "2"], "a world needs at least 2 arms, got 1; give one reward law for each arm"),
    ],
)
def test_a_world_that_is_not_one_is_refused(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(["--policy", "ucb1", "--horizon", "100", *arguments], capsys) == sentence


def test_a_long_simulation_says_how_far_it_is(capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    monkeypatch.setattr("afterglow.cli.progress.EVERY", 0.0)
    assert run(["simulate", "--policy", "ucb1", *PLACE[:4], "--horizon", "1e6", "--runs", "4", "--threads", "1"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"\d+% done, \d of 4 runs, playing ucb1, 1,000,000 steps", lines[-1])


def test_a_misspelt_spread_is_guessed(capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(["--policy", "ucb1", *PLACE, "--spread", "hord"], capsys)
    assert said.startswith("no spread named 'hord'; did you mean 'hoard'? spreads are immediate, ")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("C", "--set must be key=value, got 'C'; leak-ucb: it takes C"),
        ("C=big", "--set C must be a number, got 'big'"),
        ("window=3", "--set is for a policy's own settings, got 'window=3'; give --window instead"),
    ],
)
def test_a_setting_that_can_not_be_read_is_refused(
    text: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(["--policy", "leak-ucb", *PLACE, "--set", text], capsys) == sentence


def test_a_setting_is_given_once(capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(["--policy", "leak-ucb", *PLACE, "--set", "C=1", "--set", "C=2"], capsys)
    assert said == "--set must name a setting once, got 'C' again"
