"""Plans with a column of expected totals: what they explain is taken out, and the agent is told how."""

from pathlib import Path

import numpy as np
import pytest

from afterglow import Agent
from afterglow.errors import BadValue
from afterglow.lab.history.forecast import trust_in
from afterglow.lab.plan.planner import plan


def written(path: Path, share: float) -> Path:
    """Totals of which a forecast explains a share of the noise; the forecast is 80 % of what it tells, plus 50."""
    random = np.random.default_rng(6)
    shocks = np.convolve(random.normal(0, 30, 700), 0.8 ** np.arange(20))[:600]
    told = share**0.5 * shocks
    total = 1000 + told + (1 - share) ** 0.5 * np.roll(shocks, 311)
    rows = [f"{t},{x:.3f},{1050 + e / 0.8:.3f}" for t, (x, e) in enumerate(zip(total, told, strict=True))]
    path.write_text("step,sales,forecast\n" + "\n".join(rows) + "\n")
    return path


def test_a_good_forecast_is_taken_out_and_a_useless_one_is_left_out(tmp_path: Path) -> None:
    reading = {"column": "sales", "expected": "forecast"}
    good = plan(2, 6, 500, 0.02, history=written(tmp_path / "good.csv", 0.8), reading=reading, runs=40)
    assert good.forecast is not None
    assert good.forecast.explained == pytest.approx(0.8, abs=0.1)
    assert good.forecast.trust == pytest.approx(0.8, abs=0.11)
    assert f"typical={good.forecast.typical:.15g}, trust={good.forecast.trust:g}" in good.agent
    assert eval(good.agent, {"Agent": Agent}).expected.trust == good.forecast.trust
    assert any(note.startswith("expected: column 'forecast' explains ") for note in good.notes)
    assert "trim-ucb" not in [each.policy for each in good.candidates]
    bad = plan(2, 6, 500, 0.02, history=written(tmp_path / "bad.csv", 0.02), reading=reading, runs=40)
    assert bad.forecast is None
    assert any(note.endswith("which is not worth it; the plan leaves it out") for note in bad.notes)
    assert bad.found < good.found


def test_trust_is_the_slope_of_sums_kept_in_bounds_and_needs_windows() -> None:
    random = np.random.default_rng(1)
    told = random.normal(size=400)
    assert trust_in(2 * told, told, 5) == 1.5
    assert trust_in(-told, told, 5) == 0.0
    assert trust_in(0.62 * told + 3, told, 5) == 0.6
    assert trust_in(told, np.ones(400), 5) == 0.0
    with pytest.raises(BadValue, match="expected totals need 8 windows"):
        trust_in(told, np.full(400, np.nan), 5)
