"""Income that no arm causes: as described, whoever plays, in whatever way."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from afterglow.engine.episode import Episode
from afterglow.engine.simulate import simulate
from afterglow.errors import AfterglowWarning, BadValue
from afterglow.lab.study.study import Study
from afterglow.worlds.baseline import Baseline, Blocks, Constant, Noise, Seasonal, baseline
from afterglow.worlds.files import read_world
from afterglow.worlds.world import World

EXACT = [
    "constant:0.25",
    "seasonal:0.25,0.5,0.125",
    "constant:0.5 + seasonal:1,0,0.25,2",
    "seasonal:0.5,0.25 + seasonal:0.125,1,0.5",
    "blocks:5/3:0.25,0.5,0.75,1,0.125,0.125,0.5 + constant:0.25",
]
ROUNDED = ["noise:0.3", "seasonal:0.5,0.25 + noise:0.1,0.7", "blocks:4:0.1,-0.2,0.3 + constant:0.1 + noise:0.1"]
ARMS = [0.5, 0.75, 0.6]


def alone(text: str, steps: int, seed: int = 1, run: int = 0) -> list[float]:
    """The income of single steps: arms that bring nothing."""
    episode = Episode(World.of([0.0, 0.0], 1, baseline=text), seed, run)
    return [episode.pull(0) for _ in range(steps)]


@pytest.mark.parametrize("text", EXACT + ROUNDED)
def test_every_text_reads_back(text: str) -> None:
    assert baseline(text).text == text
    assert baseline(baseline(text)) == baseline(text)


def test_a_number_is_a_constant_and_nothing_is_nothing() -> None:
    assert baseline(0.25) == Baseline((Constant(0.25),))
    assert baseline(None) == baseline("") == Baseline()
    assert World.of(ARMS, 3).baseline.mean == 0


@pytest.mark.parametrize("text", EXACT)
@pytest.mark.parametrize("policy", ["trim-ucb", "lean-ucb", "phased-ucb"])
@pytest.mark.filterwarnings("ignore::afterglow.errors.AfterglowWarning")
def test_hold_equals_step_bit_for_bit_and_so_does_an_episode(policy: str, text: str) -> None:
    world = World.of(ARMS, 8, "uniform", text)
    step, hold, skip = (simulate(policy, world, 3_000, 4, 11, engine=tier) for tier in ("step", "hold", "skip"))
    for name in ("seen", "income", "pulls", "generated"):
        assert np.array_equal(getattr(step, name), getattr(hold, name)), name
    assert np.array_equal(step.income, skip.income)
    episode = Episode(world, 11)
    for _ in range(3_000):
        episode.pull(0)
    assert episode.income == step.income[0]


@pytest.mark.parametrize("text", EXACT + ROUNDED)
@pytest.mark.parametrize("tier", ["step", "hold", "skip"])
def test_what_is_seen_was_generated_and_has_arrived_or_is_income(tier: str, text: str) -> None:
    outcome = simulate("washout-ucb", World.of(ARMS, 8, "delay:uniform", text), 3_000, 5, 3, engine=tier)
    gap = np.abs(outcome.seen - (outcome.generated - outcome.pending + outcome.income)).max()
    assert gap == 0 if text in EXACT else gap < 1e-9
    assert (outcome.income > 0).all()


def test_a_world_without_baseline_has_no_income_and_the_same_rewards_as_one_with() -> None:
    bare, flowing = (simulate("ucb1", World.of(ARMS, 4, "last", text), 500, 3) for text in (None, "constant:0.25"))
    assert bare.income.tolist() == [0, 0, 0]
    assert flowing.income.tolist() == [125, 125, 125]
    first = [Episode(World.of(ARMS, 4, "last", text), 5) for text in (None, "seasonal:0.5,1")]
    totals = [[episode.pull(t % 3) for t in range(50)] for episode in first]
    assert [flow - plain for plain, flow in zip(*totals, strict=True)] == [0.5, 1] * 25


def test_income_comes_in_its_phases_and_cycles_of_different_length_are_added() -> None:
    assert alone("seasonal:0.25,0.5,1", 7) == [0.25, 0.5, 1, 0.25, 0.5, 1, 0.25]
    assert alone("seasonal:0,1 + seasonal:0,2,4 + constant:0.5", 6) == [0.5, 3.5, 4.5, 1.5, 2.5, 5.5]


def test_noise_has_its_deviation_and_correlation_and_is_never_negative() -> None:
    values = np.array(alone("constant:5 + noise:0.5,0.8", 40_000))
    away = values - 5
    assert abs(away.mean()) < 6 * 0.5 * 3 / math.sqrt(40_000)  # long-run deviation is (1 + 0.8) / (1 - 0.8) = 9 squared
    assert away.std() == pytest.approx(0.5, rel=0.05)
    assert np.corrcoef(away[1:], away[:-1])[0, 1] == pytest.approx(0.8, abs=0.02)
    fresh = np.array(alone("constant:5 + noise:0.5", 40_000))
    assert abs(np.corrcoef(fresh[1:], fresh[:-1])[0, 1]) < 6 / math.sqrt(40_000)
    assert min(alone("noise:1", 200)) == 0


def test_noise_differs_from_run_to_run_and_starts_at_its_deviation() -> None:
    first = np.array([alone("constant:9 + noise:1,0.95", 1, run=run)[0] - 9 for run in range(400)])
    assert first.std() == pytest.approx(1, rel=0.2)
    assert len(set(first)) == 400


def test_blocks_are_stretches_of_the_history_in_their_phase() -> None:
    history = tuple(float(value) for value in range(1, 13))
    values = alone(Blocks(history, 4).text, 400)
    for block in range(100):
        stretch = values[4 * block : 4 * block + 4]
        assert stretch == [1 + (stretch[0] - 1 + step) % 12 for step in range(4)]
    assert len({values[4 * block] for block in range(100)}) == 12
    kept = alone(Blocks(history, 5, 3).text, 300)
    assert [int(value - 1) % 3 for value in kept] == [t % 3 for t in range(300)]


def test_the_mean_of_a_baseline_is_that_of_its_parts() -> None:
    parts = (Constant(0.5), Seasonal((0, 1)), Noise(0.1), Blocks((1.0, 2.0, 3.0, 9.0), 2, 3))
    assert Baseline(parts).mean == 0.5 + 0.5 + 2.0


def test_a_file_names_its_baseline(tmp_path: Path) -> None:
    path = tmp_path / "world.toml"
    text = "window = 4\nbaseline = {}\n[[arms]]\nreward = 0.5\n[[arms]]\nreward = 0.4\n"
    path.write_text(text.format('"seasonal:0.25,0.5"'))
    assert read_world(path).baseline == Baseline((Seasonal((0.25, 0.5)),))
    path.write_text(text.format("0.25"))
    assert read_world(path).baseline == Baseline((Constant(0.25),))
    path.write_text(text.format("[1]"))
    with pytest.raises(BadValue, match="baseline must be a text such as"):
        read_world(path)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("seasonl:1", "no baseline named 'seasonl'; did you mean 'seasonal'?"),
        ("constant:a", "baseline 'constant:a' has a part that is not a number"),
        ("constant:1,2", "baseline 'constant:1,2' must have 1 numbers, got 2"),
        ("constant:-1", "a baseline must not be negative in any step, got 'constant:-1'; add a constant"),
        ("seasonal:1,-2 + constant:1", "a baseline must not be negative"),
        ("noise:-1", "deviation of a noisy baseline must be a number of at least 0, got -1.0"),
        ("noise:1,1", "correlation of a noisy baseline must be between 0 and 0.9999, got 1.0"),
        ("noise:1 + noise:2", "a baseline may have one noise part"),
        ("blocks:0:1,2", "length of a baseline's blocks must be a whole number of at least 1"),
        ("blocks:2/3:1,2", "season of a baseline's blocks must fit into its 2 values, got 3"),
        ("seasonal:nan", "values of a seasonal baseline must be a finite number"),
    ],
)  # fmt: skip
def test_what_can_not_be_income_is_refused_with_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(BadValue) as refusal:
        World.of(ARMS, 3, baseline=text)
    assert sentence in str(refusal.value)


@pytest.mark.parametrize("what", [lambda t: 1.0, [0.1, 0.2], object()])
def test_what_is_no_baseline_is_refused_and_never_ignored(what: Any) -> None:
    with pytest.raises(BadValue, match="baseline must be a number, a text") as refused:
        World.of([0.5, 0.7], 9, baseline=what)
    assert refused.value.field == "baseline"


def test_income_beyond_what_rewards_allow_is_told_and_a_divided_world_cures_it() -> None:
    world = World.of([0.5, 0.7, 0.6], 9, baseline=0.5)
    with pytest.warns(AfterglowWarning, match=r"up to 1\.5 a step together.*world\.divided\(1\.5\)"):
        misled = simulate("trim-ucb", world, 10**5, 20, seed=3)
    place = {"rewards": [0.5, 0.7], "window": 9, "baseline": "constant:0.5"}
    (warned,) = Study(policies=["trim-ucb"], worlds=[place], horizon=1000).warned
    assert "trim-ucb relies on at most 1" in warned
    told = simulate("trim-ucb", world.divided(1.5), 10**5, 20, seed=3)
    assert misled.regret.mean > 1000  # 0.1 or 0.2 a step, for good, in most runs
    assert 1.5 * told.regret.mean < 600
    assert isinstance(told.world, World)
    assert (told.world.means[1], told.world.most) == (0.7 / 1.5, 1.0)


def test_policies_that_rely_on_no_bound_are_not_warned() -> None:
    simulate("washout-ucb", World.of([0.5, 0.7], 9, baseline=0.5), 1000, 2)
