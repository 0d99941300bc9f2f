"""Fits of several units: two-way fixed effects on washed batches."""

from typing import Any

import numpy as np
import pytest

from afterglow.cli import run
from afterglow.errors import BadValue
from afterglow.lab.fit.panel import fit_units
from afterglow.lab.reading.panel import Panel

ARMS = ["A", "B", "C"]


def recorded(
    seed: int, steps: int = 600, window: int = 6, effects: Any = (0.0, -0.1, 0.05), interaction: float = 0.0,
    own: float = 0.05, true_window: int | None = None,
) -> Panel:  # fmt: skip
    """A crossover of six units in blocks of four windows, under a large shock that all share."""
    rng = np.random.default_rng(seed)
    units, block, reach = 6, 4 * window, true_window or window
    sizes = rng.lognormal(4, 0.8, units)
    effect = 1 + np.array(effects)[None, :] + interaction * rng.normal(size=(units, 3))
    plan = (np.arange(units)[None, :] + np.arange(steps)[:, None] // block) % 3
    paid = np.array([effect[unit, plan[:, unit]] for unit in range(units)]).T
    sums = np.cumsum(np.vstack([np.repeat(paid[:1], reach, axis=0), paid]), axis=0)
    shared = rng.normal(0, 1, steps)
    shown = (sums[reach:] - sums[:-reach]) / reach + (shared - shared.mean())[:, None]
    values = sizes * (shown + rng.normal(0, own, (steps, units)))
    arms = [[ARMS[arm] for arm in row] for row in plan]
    return Panel([f"u{i}" for i in range(units)], values.tolist(), arms, None, [])


def test_intervals_of_all_pairs_hold_the_truth_together_under_any_shared_shock() -> None:
    truth = {("A", "B"): 0.1, ("A", "C"): -0.05, ("B", "C"): -0.15}
    held = alike = short = 0
    for seed in range(60):
        found = fit_units(recorded(seed), 6)
        scale = 1 / (1 + sum((0.0, -0.1, 0.05)) / 3)
        held += all(one.low <= scale * truth[one.arm, one.than] <= one.high for one in found.differences)
        alike += found.alike is None or found.alike < 0.01
        short += found.window_p is None or found.window_p < 0.01
        assert found.best == "C"
    assert held >= 48
    assert alike <= 6
    assert short <= 6


def test_units_that_react_otherwise_and_a_window_too_short_are_noticed() -> None:
    other = [fit_units(recorded(seed, interaction=0.2), 6).alike or 1.0 for seed in range(5)]
    assert max(other) < 1e-6
    late = [fit_units(recorded(seed, window=6, true_window=16, own=0.01), 6) for seed in range(5)]
    assert max(one.window_p or 1.0 for one in late) < 0.01
    assert "too short" in late[0].window_sentence


def test_a_unit_whose_totals_are_unknown_for_a_while_is_left_out_there() -> None:
    panel = recorded(1)
    values = [[float("nan") if unit == 2 and step > 100 else one for unit, one in enumerate(row)] for step, row in
              enumerate(panel.values)]  # fmt: skip
    found = fit_units(Panel(panel.units, values, panel.arms, None, []), 6)
    assert found.best == "C"
    assert sum(found.unit_steps.values()) < sum(fit_units(panel, 6).unit_steps.values())


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"steps": 5}, "window must leave more washed batches"),
        ({"effects": (-9.0, -9.0, -9.0)}, "must have totals above 0 on average"),
    ],
)
def test_what_can_not_be_fitted_is_refused(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadValue, match=sentence):
        fit_units(recorded(1, **change), 6)


def test_arms_that_no_unit_compares_are_refused() -> None:
    panel = recorded(1)
    apart = [["A" if step < 300 else "B"] * 6 for step in range(600)]
    with pytest.raises(BadValue, match="units must play different arms in the same steps"):
        fit_units(Panel(panel.units, panel.values, apart, None, []), 6)


def test_differences_are_shown_by_unit_where_units_change_at_times_of_their_own(
    tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    panel = recorded(3)
    rows = ["step,region,variant,total"]
    for step, totals in enumerate(panel.values):
        for place, (unit, total) in enumerate(zip(panel.units, totals, strict=True)):
            rows.append(f"{step},{unit},{'ABC'[(step + 8 * place) // 24 * (1 + place % 2) % 3]},{total:.3f}")
    file = tmp_path / "apart.csv"
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert run(["fit", str(file), "--unit", "region", "--window", "6"]) == 0
    shown = capsys.readouterr().out
    assert "can't be told" not in shown
    assert ", by unit\n unit" in shown


def test_the_command_prints_differences_units_and_both_tests(
    tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    panel = recorded(3)
    rows = ["step,region,variant,total"]
    for step, (names, totals) in enumerate(zip(panel.arms or [], panel.values, strict=True)):
        rows += [f"{step},{u},{arm},{total:.3f}" for u, arm, total in zip(panel.units, names, totals, strict=True)]
    file = tmp_path / "ran.csv"
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert run(["fit", str(file), "--unit", "region", "--window", "6"]) == 0
    shown = capsys.readouterr().out
    assert "nothing speaks against a window of 6 steps" in shown
    assert "differences can't be told by unit: units moved through the arms in a fixed pattern" in shown  # all at once
    assert run(["fit", str(file), "--unit", "region", "--window", "6", "--json"]) == 0
    assert '"best": "C"' in capsys.readouterr().out
    assert run(["fit", str(file), "--unit", "region", "--window", "6", "--season", "24"]) == 2
    assert "--season is for one total" in capsys.readouterr().err
