"""Regret at T = 100,000 on means 0.9 … 0.5, against figures of two earlier, independent implementations."""

from itertools import product
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


THRIFT = {  # (window, spread): regret at T = 100,000 as designed; the policy's second batch makes some of them smaller
    (10, "uniform"): (112, 4), (10, "last"): (123, 4), (10, "handicap"): (140, 4), (10, "chameleon"): (116, 5),
    (50, "uniform"): (292, 6), (50, "last"): (318, 8), (50, "handicap"): (319, 11), (50, "chameleon"): (388, 11),
    (200, "uniform"): (909, 13), (200, "last"): (1015, 13), (200, "handicap"): (1033, 19),
    (200, "chameleon"): (1236, 30),
}  # fmt: skip


def no_worse(mean: float, se: float, known: float, error: float) -> bool:
    """Below the figure, or above it by 4 combined standard errors plus 3 % at most; not below two thirds of it."""
    return known / 1.5 <= mean <= 1.03 * known + 4 * float(np.hypot(se, error))


@pytest.mark.parametrize(("window", "spread"), THRIFT)
def test_thrift_ucb_is_no_worse_than_the_figure_it_was_designed_for(window: int, spread: str) -> None:
    regret = simulate("thrift-ucb", World.of(MEANS, window, spread), 1e5, 100, 2019).regret
    assert no_worse(regret.mean, regret.se, *THRIFT[window, spread]), regret


@pytest.mark.parametrize(("told", "figure"), [(True, 9.5), (False, 13.0)])
def test_thrift_ucb_is_as_good_as_designed_in_a_small_shop(told: bool, figure: float) -> None:
    """Regret in % of random play's, 60."""
    shop = World.of(["normal:0.36,0.1", "normal:0.33,0.1", "normal:0.30,0.1"], 24)
    regret = simulate("thrift-ucb", shop, 2_000, 300, 2019, told_horizon=told).regret
    assert no_worse(regret.mean / 0.6, regret.se / 0.6, figure, 0.2), regret


@pytest.mark.parametrize(("told", "figure"), [(True, 33.4), (False, 35.3)])
def test_thrift_ucb_is_as_good_as_designed_in_the_small_study(told: bool, figure: float) -> None:
    """Regret in % of uniform play's, mean over the 44 places of studies/small.toml in which every arm fits twice."""
    shares, errors = [], []
    for horizon, window, other in product((200, 1_000, 5_000), (3, 12, 24, 72), (0.392, 0.38, 0.36, 0.32)):
        if horizon >= 2 * 3 * window:
            world = World.of([f"normal:{mean},0.1" for mean in (other, 0.4, other)], window, "geometric:0.9")
            regret = simulate("thrift-ucb", world, horizon, 30, 2019, told_horizon=told, threads=1).regret
            uniform = horizon * sum(world.gaps) / 300
            shares.append(regret.mean / uniform)
            errors.append(regret.se / uniform)
    assert len(shares) == 44
    assert no_worse(float(np.mean(shares)), float(np.hypot.reduce(errors)) / 44, figure, 0.3), np.mean(shares)
