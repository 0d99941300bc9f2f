import math

import pytest

from afterglow.errors import BadValue
from afterglow.theory import hidden_pulls, hiding_holds, hiding_regret, lai_robbins


def test_lai_and_robbins_by_hand() -> None:
    kl = 0.5 * math.log(0.5 / 0.75) + 0.5 * math.log(0.5 / 0.25)
    assert lai_robbins([0.75, 0.5, 0.75], 1000) == pytest.approx(math.log(1000) * 0.25 / kl)
    assert lai_robbins([1.0, 0.5], 1000) == 0.0


def test_the_theorem_of_hiding_holds_within_its_conditions_only() -> None:
    assert hidden_pulls(1601, 0.125) == 800
    assert hiding_holds(100_000, 1601, 0.125)
    assert hiding_regret(3, 100_000, 1601, 0.125) == 100.0
    assert hiding_regret(3, 100_000, 100, 0.125) is None  # the window is too short for the horizon
    assert hiding_regret(3, 2_000, 1601, 0.125) is None  # too much of the horizon would be hidden


def test_what_is_no_mean_or_gap_is_refused() -> None:
    with pytest.raises(BadValue, match="means must be at least 2"):
        lai_robbins([0.5], 10)
    with pytest.raises(BadValue, match="gap must be"):
        hidden_pulls(10, 0.2)
    with pytest.raises(BadValue, match="gap must be above 0"):
        hidden_pulls(10, 0)
