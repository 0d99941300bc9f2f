"""Effects by lag as priors: right on average, with deviations that are right, and readable by other programs."""

import csv
import io
import json

import numpy as np
import pytest

from afterglow.errors import BadValue
from afterglow.lab.fit.fitting import fit
from afterglow.lab.reading.tables import Steps
from support.worlds.recorded_steps import LEVEL_KERNELS, MEANS, recorded

FULL = fit(recorded(1, 3000, 60), window=24, reward_max=1.0)


def carried(seed: int, retention: float, lift: float = 0.5, steps: int = 6_000, window: int = 16) -> Steps:
    """An arm `on` whose lift over `off` carries over geometrically, in turns of random lengths."""
    random = np.random.default_rng(seed)
    on = np.concatenate([np.full(random.integers(2, 30), turn % 2) for turn in range(steps)])[:steps]
    weights = retention ** np.arange(window)
    effect = lift * np.convolve(on, weights / weights.sum())[:steps]
    totals = (2 + effect + random.normal(0, 0.1, steps)).tolist()
    return Steps(list(range(steps)), ["off" if one == 0 else "on" for one in on], totals, [])


def test_the_truth_lies_where_the_priors_say() -> None:
    truth = LEVEL_KERNELS * MEANS[:, None]
    scores = []
    for seed in range(20):
        made = fit(recorded(seed, 2000, 45), window=24).priors("A")
        for one in made.lags:
            arm = "ABC".index(one.arm)
            groups = next(row for row in fit_groups() if row[0] <= one.lag <= row[1])
            level = (truth[arm] - truth[0])[groups[0] : groups[1] + 1].mean()
            scores.append((one.mean - level) / one.sd)
    assert np.mean(np.abs(scores) < 2) > 0.85
    assert abs(float(np.mean(scores))) < 0.5


def fit_groups() -> list[tuple[int, int]]:
    return [(lags.first, lags.last) for lags in FULL.kernels["A"]]


def test_they_are_the_kernels_compared_with_one_arm() -> None:
    made = FULL.priors("B")
    for one in made.lags:
        groups = {arm: next(g for g in row if g.first <= one.lag <= g.last) for arm, row in FULL.kernels.items()}
        assert one.mean == pytest.approx(groups[one.arm].excess - groups["B"].excess)
        assert one.sd > 0
    assert [(one.arm, one.than) for one in made.total] == [("A", "B"), ("C", "B")]
    for whole in made.total:
        means = {one.arm: one.mean for one in FULL.means}
        assert whole.mean == pytest.approx(means[whole.arm] - means["B"])
        assert whole.mean == pytest.approx(sum(one.mean for one in made.lags if one.arm == whole.arm))


@pytest.mark.parametrize("retention", [0.3, 0.7])
def test_the_retention_of_geometric_carry_over_is_found(retention: float) -> None:
    (effect,) = fit(carried(3, retention), window=16).priors("off").total
    assert effect.mean == pytest.approx(0.5, abs=4 * effect.sd)
    assert effect.retention is not None
    assert effect.retention_sd is not None
    assert effect.retention == pytest.approx(retention, abs=0.02 + 4 * effect.retention_sd)
    assert effect.retention_sd < 0.1


def test_the_delay_of_an_effect_that_is_not_there_is_not_told() -> None:
    (effect,) = fit(carried(3, 0.5, lift=0.0, steps=1_500), window=16).priors("off").total
    assert abs(effect.mean) < 3 * effect.sd
    assert (effect.mean_lag, effect.retention, effect.retention_sd) == (None, None, None)


def test_other_programs_can_read_them() -> None:
    made = FULL.priors()
    assert {one.than for one in made.total} == {FULL.differences[0].than}
    rows = list(csv.DictReader(io.StringIO(made.to_csv())))
    assert len(rows) == 2 * 24 + 2
    assert [float(row["mean"]) for row in rows if row["lag"] != "total"] == [one.mean for one in made.lags]
    assert json.loads(made.to_json()) == made.to_dict()


def test_an_arm_that_is_not_there_is_refused() -> None:
    with pytest.raises(BadValue, match="than must be one of the arms A, B, C, got 'D'"):
        FULL.priors("D")
