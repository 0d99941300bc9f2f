"""Plans of several units."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from afterglow.cli import run
from afterglow.engine.rounds.replay import statistics_of
from afterglow.errors import AfterglowError
from afterglow.lab.plan.units_noise import noise_of
from afterglow.lab.plan.units_plan import plan_units
from afterglow.lab.plan.units_power import different_plans, other_orders, rejections, too_few_plans
from afterglow.lab.reading.panel import Panel
from afterglow.policies.registry import round_policy
from afterglow.worlds.units_world import UnitsWorld


def history(seed: int = 1, common: float = 0.2, own: float = 0.1, steps: int = 2_000, units: int = 5) -> Panel:
    """Totals with known shares of common and own noise; sizes differ."""
    rng = np.random.default_rng(seed)
    sizes = np.array([100.0, 400, 200, 50, 250, 80, 90, 120][:units])
    shared = [0.0]
    for _ in range(steps - 1):
        shared.append(0.8 * shared[-1] + 0.6 * rng.normal(0, common))
    values = sizes * (1 + np.array(shared)[:, None] + rng.normal(0, own, (steps, units)))
    return Panel([f"u{i}" for i in range(units)], values.tolist(), None, None, [])


def test_common_and_own_noise_are_told_apart_whatever_the_sizes() -> None:
    found = noise_of(history(steps=20_000))
    assert found.common == pytest.approx(0.2, rel=0.1)
    assert found.own == pytest.approx(0.1, rel=0.03)
    assert found.common_correlation == pytest.approx(0.8, abs=0.05)
    assert found.own_correlation < 0.03
    assert found.sentence.endswith("% of the noise is common to all units and cancels")
    alone = noise_of(history(common=0.0, steps=20_000))
    assert alone.common < 0.01
    assert alone.own == pytest.approx(0.1, rel=0.03)


def test_a_plan_compares_units_with_what_one_total_can_do() -> None:
    found = plan_units(3, 5, 12, 300, 0.05, history(), runs=30)
    panel, crossover, together = found.candidates
    assert found.verdict == "yes"
    assert panel.lost < crossover.lost
    assert panel.found > together.found
    assert panel.tested is not None
    assert crossover.tested is not None
    assert 0.3 < panel.tested <= crossover.tested + 0.3
    assert (together.tested, together.tested_runs) == (None, 0)
    assert panel.tested_runs == crossover.tested_runs == 30
    assert panel.tested * 30 == pytest.approx(round(panel.tested * 30))
    assert found.smallest_gap is not None
    assert found.smallest_gap < 0.05
    assert "levels={'u0': " in found.code
    assert found.live.startswith("live.open(\"experiments.db\").create(\"my-experiment\", variants=['A', 'B'")
    assert "levels={'u0': " in found.live


@pytest.mark.parametrize(("units", "arms"), [(2, 2), (2, 3), (4, 2), (5, 2), (3, 3), (4, 3), (3, 4), (4, 4)])
def test_different_plans_are_counted_as_replays_tell_them_apart(units: int, arms: int) -> None:
    policy = round_policy("panel-elimination")
    settings = policy.configure(arms=arms, units=units, window=4, horizon=80, levels=[1.0] * units, commit=60)
    totals = np.random.default_rng(1).normal(4, 0.4, (20, units))
    dealt = [replace(settings, order=order, labels=labels) for order, labels in other_orders(units, arms, 0, 1)]
    found = np.sort(statistics_of(policy, dealt, 4, np.full(totals.shape, 4), totals))
    assert 1 + (np.diff(found) > policy.rounding * found[1:]).sum() == different_plans(units, arms)


def test_a_plan_says_that_few_units_can_not_be_tested_and_counts_no_test_by_chance() -> None:
    assert too_few_plans(4, 3).startswith("the exact test of 4 units and 3 arms can't have p below 0.083")
    assert too_few_plans(4, 3).endswith("from 5 units on it can be below 5 %")
    assert too_few_plans(6, 2).endswith("there are 10 different plans; from 7 units on it can be below 5 %")
    assert too_few_plans(5, 3) == too_few_plans(7, 2) == ""
    world = UnitsWorld.of(["discrete:0.4@1", *["discrete:0.2@1"] * 2], 4, 4, own="noise:0.01")
    assert rejections(world, 4, 120, 40, 1, options={"commit": 80}) == 0


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"history": history(), "noise": 0.1}, "history gives the noise; leave noise and the others out"),
        ({"history": history(units=4)}, "units must be the number of units in the history, which has 4"),
        ({}, "noise is needed without a history"),
        ({"history": history(steps=5)}, "must have at least 10 steps in which all units have a total, got 5"),
    ],
)
def test_what_can_not_be_planned_is_refused(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(AfterglowError) as refusal:
        plan_units(3, 5, 12, 600, 0.05, **given)
    assert sentence in str(refusal.value)


def test_the_command_reads_a_file_and_prints_what_is_shared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    panel, file = history(steps=200), tmp_path / "regions.csv"
    rows = [",".join(["step", *panel.units])]
    rows += [",".join([str(step), *(f"{one:.2f}" for one in row)]) for step, row in enumerate(panel.values)]
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    call = ["plan", "--arms", "2", "--window", "4", "--horizon", "200", "--gap", "10%", "--units", "5", "--runs", "20"]
    assert run([*call, "--history", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "of the noise is common to all units and cancels" in shown
    assert "panel-elimination" in shown
    assert re.search(r"crossover .* \d+ of 20 runs\b", shown)  # few runs are tested: a count, not a percentage
    assert run([*call, "--noise", "0.1", "--shared-noise", "0.2", "--json"]) == 0
    assert '"shared": 0.8' in capsys.readouterr().out
    assert run([*call[:-4], "--shared-noise", "0.2"]) == 2
    assert "--shared-noise describes units; give --units too" in capsys.readouterr().err
