"""What is left of a world when expected totals are taken out: smaller noise, or no season, and nothing else."""

import math

import pytest

from afterglow import World, simulate
from afterglow.errors import BadValue
from afterglow.worlds.explained import explained

SHOP = World.of(["normal:0.2,0.05", "normal:0.24,0.05"], 6, baseline="seasonal:0.2,0.5,0.8 + noise:0.08,0.9")


def test_a_share_of_zero_changes_no_decision_where_nothing_is_cut() -> None:
    plain = simulate("lean-ucb", SHOP, 600, 20)
    same = simulate("lean-ucb", SHOP, 600, 20, explained=0.0)
    assert same.regrets.tolist() == pytest.approx(plain.regrets.tolist(), rel=0.2)
    assert same.world.baseline.text == SHOP.baseline.text


def test_noise_shrinks_with_what_is_explained_and_the_level_stays() -> None:
    left = explained(SHOP, 0.75)
    assert left.baseline.text == "seasonal:0.2,0.5,0.8 + noise:0.04,0.9"
    flat = explained(SHOP, "season")
    assert flat.baseline.text == "constant:0.5 + noise:0.08,0.9"
    assert flat.baseline.mean == pytest.approx(SHOP.baseline.mean)
    blocks = explained(World.of([0.5, 0.4], 3, baseline="blocks:2:0.1,0.3,0.5"), 0.75).baseline
    assert blocks.text == "blocks:2:0.2,0.3,0.4"


def test_more_explained_means_less_regret() -> None:
    lost = [simulate(world=SHOP, horizon=600, runs=100, explained=share).regret.mean for share in (0.0, 0.9)]
    assert lost[1] < lost[0]
    season = simulate(world=SHOP, horizon=600, runs=100, explained="season").regret.mean
    assert math.isfinite(season)


@pytest.mark.parametrize("share", [-0.1, 1.1, "week", float("nan"), True])
def test_a_wrong_share_is_refused(share: float | str) -> None:
    with pytest.raises(BadValue, match="explained must be a share from 0 to 1 or 'season'"):
        simulate(world=SHOP, horizon=100, runs=2, explained=share)


def test_a_world_without_a_baseline_and_policies_that_bound_totals_are_refused() -> None:
    with pytest.raises(BadValue, match="takes out part of a baseline, and this world has none"):
        simulate(world=World.of([0.5, 0.4], 3), horizon=100, runs=2, explained=0.5)
    with pytest.raises(BadValue, match="trim-ucb bounds what came in"):
        simulate("trim-ucb", SHOP, 100, 2, explained=0.5)
