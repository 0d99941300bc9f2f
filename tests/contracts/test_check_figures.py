"""Regret at T = 100,000 on means 0.9 … 0.5, against figures of two earlier, independent implementations."""

from typing import Any

import numpy as np
import pytest

from afterglow.engine.simulate import simulate
from afterglow.worlds.world import World

MEANS = [0.9, 0.8, 0.7, 0.6, 0.5]
COLUMNS = [(1, "uniform"), (10, "uniform"), (10, "last"), (10, "handicap"),
           (200, "uniform"), (200, "last"), (200, "handicap")]  # fmt: skip
FIGURES: dict[tuple[str, tuple[tuple[str, Any], ...]], list[tuple[float, float]]] = {
    ("ucb1", ()): [(394, 4), (854, 5), (980, 8), (10355, 5), (11326, 308), (5766, 550), (10351, 5)],
    ("improved-ucb", ()): [(670, 8), (743, 9), (817, 10), (739, 22), (2155, 14), (11801, 13), (10490, 14)],
    ("phased-ucb", ()): [(2323, 8), (2583, 12), (2597, 12), (2927, 13), (9320, 0), (9327, 7), (10169, 24)],
    ("phased-ucb", (("constants", "corrected"),)): [
        (732, 5), (1249, 7), (1243, 8), (1287, 9), (18547, 0), (18547, 0), (18547, 0)],
    ("phased-elimination", ()): [(682, 9), (1253, 12), (1277, 14), (1263, 12), (9298, 47), (11557, 34), (9189, 13)],
    ("odaaf", ()): [(2991, 6), (3821, 0), (4583, 0), (4583, 0), (12677, 0), (13994, 0), (13994, 0)],
    ("odaaf-bounded", ()): [(2997, 0), (3200, 0), (3397, 0), (3397, 1), (6851, 23), (9655, 29), (10378, 52)],
    ("ars-ucb", ()): [(452, 1.4), (486, 1.4), (516, 1.5), (585, 2.6), (778, 6), (20594, 3), (10399, 2)],
    ("composite-exp3", ()): [
        (3178, 37), (12287, 148), (12431, 133), (12558, 154), (18367, 144), (18320, 156), (18179, 155)],
    ("leak-ucb", (("C", 2.0),)): [(516, 2.5), (910, 4), (922, 4), (912, 4), (3312, 11), (3322, 13), (3030, 13)],
    ("washout-ucb", (("C", 2.0),)): [
        (489, 1.8), (535, 1.9), (540, 1.9), (537, 1.9), (932, 2.4), (927, 2.8), (927, 2.8)],
    ("attributed-ucb", ()): [(399, 4), (405, 4), (399, 4), (398, 4), (497, 5), (490, 5), (492, 5)],
}  # fmt: skip
TRIM = [(88, 4), (171, 5), (167, 6), (195, 6), (1156, 26), (1093, 24), (1249, 43)]
pytestmark = pytest.mark.filterwarnings("ignore::afterglow.errors.AfterglowWarning")


def close(mean: float, se: float, figure: tuple[float, float]) -> bool:
    """Within 4 combined standard errors; a figure in which no run differed is allowed 1 %."""
    known, error = figure
    return abs(mean - known) <= (4 * np.hypot(se, error) if error else max(0.01 * known, 4 * se))


@pytest.mark.parametrize("column", range(7), ids=[f"{spread}-{window}" for window, spread in COLUMNS])
@pytest.mark.parametrize("row", FIGURES, ids=lambda row: "-".join([row[0], *(str(value) for _, value in row[1])]))
def test_regret_agrees_with_the_known_figure(row: tuple[str, Any], column: int) -> None:
    (policy, options), (window, spread) = row, COLUMNS[column]
    told = dict(options)
    if policy.startswith("odaaf"):
        told["mean_delay"] = (window - 1) / 2 if spread == "uniform" else window - 1
    regret = simulate(policy, World.of(MEANS, window, spread), 1e5, 100, 2019, told).regret
    assert close(regret.mean, regret.se, FIGURES[row][column]), (regret, FIGURES[row][column])


@pytest.mark.parametrize("column", range(7), ids=[f"{spread}-{window}" for window, spread in COLUMNS])
def test_trim_ucb_agrees_with_the_known_figure_over_random_orders_of_the_arms(column: int) -> None:
    window, spread = COLUMNS[column]
    order = np.random.default_rng(7)
    regrets = []
    for run in range(100):
        world = World.of(order.permutation(MEANS).tolist(), window, spread)
        regrets.append(simulate("trim-ucb", world, 1e5, 1, 2019, {"endgame": 0}, first=run).regrets[0])
    mean, se = float(np.mean(regrets)), float(np.std(regrets, ddof=1) / 10)
    assert close(mean, se, TRIM[column]), (mean, se, TRIM[column])
