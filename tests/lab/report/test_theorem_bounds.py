"""Bounds beside what was measured."""

from pathlib import Path

import pytest

from afterglow.lab.report.groups import Groups
from afterglow.lab.report.theorem_bounds import TheoremBound, bound, bounds_of, theorem_bounds_of
from afterglow.lab.study.study import Study
from support.worlds.small_study import SMALL


@pytest.fixture(scope="module")
def groups(tmp_path_factory: pytest.TempPathFactory) -> Groups:
    return Groups(SMALL.run(tmp_path_factory.mktemp("small")))


def test_every_policy_with_a_theorem_has_its_bounds_and_no_other(groups: Groups) -> None:
    found = {(one.label, one.theorem) for one in theorem_bounds_of(groups)}
    assert found == {
        ("phased-ucb paper", "theorem_1_paper"),
        ("phased-ucb paper", "regret_as_set"),
        ("phased-elimination", "theorem_2_paper"),
        ("trim-ucb", "regret_as_set"),
    }
    assert all(bound(group, "odaaf-variance") is None for group in groups.all)


def test_a_bound_stands_beside_the_regret_that_comes_closest_to_it(groups: Groups) -> None:
    for one in theorem_bounds_of(groups):
        regrets = [groups.regret(group, one.label).value for group in groups.all]
        assert one.regret.value == max(regrets)  # the bounds are the same under every spread
        assert one.ratio == one.bound / max(regrets) > 1
        assert one.empty == (one.bound > 2_000 * 0.4)


def test_figures_show_the_theorem_made_for_the_settings(groups: Groups) -> None:
    known = bounds_of(groups.all[0], "phased-ucb paper")
    assert bound(groups.all[0], "phased-ucb paper") == known["theorem_1_paper"] != known["regret_as_set"]


@pytest.mark.parametrize(("horizons", "telling"), [([1_000, 4_000], 0), ([4_000, 40_000, 400_000], 2)])
def test_among_places_of_other_sizes_the_closest_is_one_where_the_bound_says_something(
    tmp_path: Path, horizons: list[int], telling: int
) -> None:
    worlds = [{"rewards": [0.9, 0.5], "window": 4, "spread": "last"}]
    groups = Groups(Study(["trim-ucb"], worlds, horizons, 4, checkpoints=2).run(tmp_path))
    (one,) = theorem_bounds_of(groups)
    everywhere = [
        TheoremBound("trim-ucb", one.theorem, bound(group, "trim-ucb") or 0.0, groups.regret(group, "trim-ucb"), group)
        for group in groups.all
    ]
    full = [each for each in everywhere if not each.empty]
    assert len(full) == telling
    assert one.ratio == min(each.ratio for each in full or everywhere)
