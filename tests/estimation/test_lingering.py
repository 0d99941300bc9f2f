"""Noise that lingers: the fast solution is that of dense matrices, and drift is told from independent noise."""

import math
import random
from typing import Any

import numpy as np
import pytest

from afterglow.estimation.lingering import local, weigh
from afterglow.estimation.lingering_fit import fit_all


def dense(
    blocks: list[int], arms: list[int], steps: list[int], means: Any, rates: list[float],
    scale: float, variance: float, correlation: float,
) -> tuple[float, Any, Any]:  # fmt: skip
    """Restricted likelihood, means and covariances, by inverting the covariance of all cells."""
    lags = np.abs(np.subtract.outer(blocks, blocks))
    shared = variance * np.power(correlation, lags) if variance else np.zeros_like(lags, dtype=float)
    whole = shared + np.diag([scale * rates[arm] / count for arm, count in zip(arms, steps, strict=True)])
    design = np.eye(len(rates))[arms]
    inverse = np.linalg.inv(whole)
    normal = design.T @ inverse @ design
    found = np.linalg.solve(normal, design.T @ inverse @ means)
    rest = means - design @ found
    logs = np.linalg.slogdet(whole)[1] + np.linalg.slogdet(normal)[1]
    return -0.5 * (logs + rest @ inverse @ rest), found, np.linalg.inv(normal)


@pytest.mark.parametrize(("scale", "variance", "theta"), [(1.3, 0.0, 0.0), (1.0, 0.5, 1.5), (0.3, 40.0, 24.0)])
def test_means_and_likelihood_are_those_of_dense_matrices(scale: float, variance: float, theta: float) -> None:
    chance = random.Random(4)
    for arms_tried in (1, 2, 5):
        blocks, place = [], 0
        for _ in range(40):
            place += chance.choice((0, 1, 1, 3))
            blocks.append(place)
        arms = [i % arms_tried if i < arms_tried else chance.randrange(arms_tried) for i in range(40)]
        steps = [chance.randint(1, 9) for _ in range(40)]
        means = np.array([chance.gauss(0, 1) for _ in range(40)])
        rates = [chance.uniform(0.5, 2) for _ in range(arms_tried)]
        correlation = math.exp(-1 / theta) if theta else 0.0
        found = fit_all(blocks, arms, steps, means.tolist(), rates, [scale], [variance], [correlation])
        logs, centre, covariances = dense(blocks, arms, steps, means, rates, scale, variance, correlation)
        assert found[0] == pytest.approx(logs, rel=1e-8)
        assert found[1 : arms_tried + 1] == pytest.approx(centre, rel=1e-7)
        assert found[arms_tried + 1 :] == pytest.approx(covariances.ravel(), rel=1e-6, abs=1e-12)


def test_kinds_of_noise_that_are_solved_together_are_those_solved_one_by_one_to_the_bit() -> None:
    """What kinds share is computed once, also where scales and correlations come back in another order."""
    chance = random.Random(8)
    kinds = [(1.3, 0.0, 0.0), (0.7, 0.5, 0.5), (0.7, 2.0, 0.5), (0.7, 2.0, 0.9), (1.3, 2.0, 0.9), (0.7, 0.0, 0.0)]
    for arms_tried in (1, 3):
        blocks = sorted(chance.choices(range(30), k=40))
        arms = [i % arms_tried for i in range(40)]
        steps, means = [chance.randint(1, 9) for _ in blocks], [chance.gauss(0, 1) for _ in blocks]
        known = (blocks, arms, steps, means, [chance.uniform(0.5, 2) for _ in range(arms_tried)])
        together = fit_all(*known, *([kind[part] for kind in kinds] for part in range(3)))
        alone = [fit_all(*known, [scale], [variance], [fade]) for scale, variance, fade in kinds]
        assert together == [value for found in alone for value in found]


def cells(drift: float, seed: int) -> tuple[list[int], list[int], list[float], list[float]]:
    """Two arms, each in two runs of eight blocks of six steps; noise of 0.04 a block and a random walk."""
    chance, level = random.Random(seed), 0.0
    means = []
    for _ in range(32):
        level += drift * chance.gauss(0, 1)
        means.append(0.5 + level + chance.gauss(0, 0.04))
    return list(range(32)), [block // 8 % 2 for block in range(32)], [6.0] * 32, means


def test_a_drift_within_runs_is_taken_for_one_though_it_inflates_the_scatter_of_batches() -> None:
    slow = []
    for seed in range(10):
        blocks, arms, steps, means = cells(0.12, seed)
        rows = [[y for y, arm in zip(means, arms, strict=True) if arm == one] for one in (0, 1)]
        rates = [6 * float(np.var(row, ddof=1)) for row in rows]  # what batches say
        assert local(blocks, arms, steps, means, rates) < 0.8
        slow.append(weigh(blocks, arms, steps, means, rates, 6).slow)
    assert min(slow) > 0.5
    assert sorted(slow)[2] > 0.9


def test_independent_noise_is_not_taken_for_a_drift() -> None:
    for seed in range(10):
        blocks, arms, steps, means = cells(0.0, seed)
        assert weigh(blocks, arms, steps, means, [6 * 0.04**2] * 2, 6).slow < 0.5


def test_totals_that_do_not_vary_are_no_sign_of_noise_that_lingers() -> None:
    """Also if they vary by rounding, or by much less than the noise that rare rewards must be allowed for."""
    for wobble in (0.0, 1e-15, 1e-4):
        chance = random.Random(1)
        means = [0.4 + 0.2 * (block // 8 % 2) + wobble * chance.gauss(0, 1) for block in range(32)]
        found = weigh(list(range(32)), [block // 8 % 2 for block in range(32)], [6.0] * 32, means, [0.01, 0.01], 6.0)
        assert found.slow < 0.3
        widths = [member.covariances[0] for member in found.members if member.weight > 0.1]
        assert min(widths) > 0.5 * 0.01 / 96  # the width is that of the rates, not of what was seen
