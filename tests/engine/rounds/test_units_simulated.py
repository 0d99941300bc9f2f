"""Worlds of several units, simulated by the compiled driver of rounds."""

from typing import Any

import numpy as np
import pytest

from afterglow import Units, UnitsWorld, simulate
from afterglow.engine.job import JobResults
from afterglow.engine.rounds.agreement import agree
from afterglow.engine.rounds.job import RoundJob
from afterglow.engine.tiers import STEP
from afterglow.errors import BadValue
from afterglow.policies import round_policy

PANEL = round_policy("panel-elimination")
STEADY = ["discrete:0.4@1", "discrete:0.388@1", "discrete:0.388@1"]
SHAKEN: dict[str, Any] = {"common": "noise:0.04,0.9", "own": "noise:0.02"}


@pytest.mark.parametrize(
    ("world", "horizon", "options"),
    [
        (UnitsWorld.of(STEADY, 24, 8, **SHAKEN), 1_000, {}),
        (UnitsWorld.of([0.3, 0.5, 0.6, 0.2, 0.4], 7, 3, "hoard", told=None, sizes=0.5), 3_000, {}),
        (UnitsWorld.of([0.3, 0.5], 1, 2), 400, {"season": 7}),
        (UnitsWorld.of([0.3, 0.5, 0.4], 9, 20, loadings=(0.5, 1.5), interaction=0.1, **SHAKEN), 800, {"commit": 300}),
        (UnitsWorld.of(STEADY, 9, 45, **SHAKEN), 400, {}),
    ],
)
def test_plain_and_compiled_agree_to_the_bit(world: UnitsWorld, horizon: int, options: dict[str, int]) -> None:
    assert agree(PANEL, world, horizon, options, seed=5) >= 10


def test_units_step_by_step_decide_as_the_simulated_run_on_its_totals() -> None:
    world = UnitsWorld.of(STEADY, 24, 4, **SHAKEN)
    job = RoundJob(PANEL, {}, world, 24, 600, 3, STEP, first=2).compiled()
    trace = np.zeros((600, 14))
    results = JobResults.empty(1, 3, np.zeros(0, np.int64), recommend=True)
    job.play(results, 0, 1, np.zeros(1), trace)
    levels = dict(enumerate(job.draws(2).levels))
    team = Units(3, 4, 24, 600, levels, seed=3, run=2)
    for row in trace[trace[:, 0] > 0]:
        for step in range(int(row[0])):
            assert list(team.select().values()) == row[2:6].astype(int).tolist()
            team.update(dict(enumerate((row[10:] if step == 0 else 0 * row[10:]).tolist())))
    assert team.finished
    assert results.recommended is not None
    assert team.recommend() == results.recommended[0]


@pytest.mark.parametrize("spread", ["uniform", "last", "hoard"])
def test_what_was_generated_is_seen_or_pending_and_tiers_share_one_law(spread: str) -> None:
    world = UnitsWorld.of([0.5, 0.75, 0.6], 8, 5, spread, sizes=0.3, **SHAKEN)
    step, hold, skip = (
        simulate("panel-elimination", world, 1_500, 60, 4, engine=tier, recommend=True)
        for tier in ("step", "hold", "skip")
    )
    for one in (step, hold, skip):
        assert np.abs(one.seen - one.income + one.pending - one.generated).max() < 1e-7
        assert one.pulls.sum(axis=1).tolist() == [5 * 1_500] * 60
    assert np.allclose(step.generated, hold.generated)
    assert np.allclose(step.seen, hold.seen)
    spread_of = float(np.std(step.regrets) + np.std(skip.regrets)) / 60**0.5
    assert abs(step.regret.mean - skip.regret.mean) <= 6 * spread_of + 1e-9


def test_a_unit_alone_pays_what_the_world_of_one_total_pays() -> None:
    """With window 1 and rewards that don't vary, the sums are known."""
    world = UnitsWorld.of(["discrete:0.25@1", "discrete:0.5@1"], 1, 2, "immediate", own="constant:1", told=0.0)
    outcome = simulate("panel-elimination", world, 64, 3, checkpoints=[1, 64])
    assert outcome.seen.tolist() == (2 * 64 + 0.25 * outcome.pulls[:, 0] + 0.5 * outcome.pulls[:, 1]).tolist()
    assert outcome.regrets.tolist() == (0.25 * outcome.pulls[:, 0]).tolist() == outcome.curves[:, 1].tolist()
    assert outcome.curves[:, 0].tolist() == [0.25] * 3
    assert outcome.best_arm_share == outcome.pulls[:, 1].mean() / 128


def test_a_shock_that_units_share_costs_nothing() -> None:
    quiet, shaken = (
        simulate(
            "panel-elimination", UnitsWorld.of(STEADY, 24, 8, common=common, own="noise:0.04", told=0.0), 1_000, 50
        )
        for common in (None, "noise:0.4,0.9 + seasonal:-0.1,0.2,-0.1")
    )
    assert abs(quiet.regret.mean - shaken.regret.mean) < 1e-9


def test_results_do_not_depend_on_threads_or_on_how_runs_are_shared() -> None:
    world = UnitsWorld.of(STEADY, 24, 3, told=None, **SHAKEN)
    one = simulate("panel-elimination", world, 500, 30, 5, threads=1)
    assert one.regrets.tolist() == simulate("panel-elimination", world, 500, 30, 5, threads=3).regrets.tolist()
    assert one.regrets[20:].tolist() == simulate("panel-elimination", world, 500, 10, 5, first=20).regrets.tolist()


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"policy": "lean-ucb"}, "policy must decide for several units, lean-ucb decides for one"),
        ({"engine": "fast"}, "no engine named 'fast'"),
        ({"horizon": 30}, "panel-elimination needs 3 slots of 12 steps = 36 to count anything, the horizon is 30"),
    ],
)
def test_what_can_not_be_simulated_is_refused(wrong: dict[str, Any], sentence: str) -> None:
    call: dict[str, Any] = {"policy": "panel-elimination", "world": UnitsWorld.of(STEADY, 24, 3), "horizon": 500}
    with pytest.raises(BadValue) as refusal:
        simulate(**call | wrong)
    assert sentence in str(refusal.value)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"units": 1}, "units must be a whole number of at least 2, got 1"),
        ({"units": 300}, "units must be at most 200, got 300"),
        ({"loadings": (1, 0.5)}, "loadings must be a number of at least 1, got 0.5"),
        ({"common": "noise"}, "baseline 'noise' has a part that is not a number"),
    ],
)
def test_what_is_no_world_of_units_is_refused(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadValue) as refusal:
        UnitsWorld.of(STEADY, 24, **wrong)
    assert sentence in str(refusal.value)
