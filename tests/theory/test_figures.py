"""What `bounds` says of a policy."""

import json
import math

import pytest

from afterglow.errors import BadValue, UnknownName
from afterglow.policies.registry import names
from afterglow.theory import bounds, hold_length, schedule, theorem_1_corrected, theorem_1_paper, theorem_2_paper
from afterglow.theory.figures import COVERED

GAPS = [0.1, 0.2, 0.3, 0.4]
NEEDED = {"odaaf": {"mean_delay": 4.5}, "odaaf-bounded": {"mean_delay": 4.5}}
NEEDED["odaaf-variance"] = {"mean_delay": 4.5, "delay_variance": 8.25}


def test_phased_ucb_gives_its_hold_level_and_both_theorems() -> None:
    found = bounds("phased-ucb", 5, 10**5, 10, GAPS)
    assert found["hold"] == hold_length(10, 10**5) == 466
    assert found["log_delta"] == pytest.approx(8 * math.log(10**5))
    assert found["theorem_1_paper"] == theorem_1_paper(5, 10**5, 10, GAPS)
    assert found["theorem_1_corrected"] == theorem_1_corrected(5, 10**5, 10, GAPS)
    assert found["theorem_1_corrected"] < found["regret_as_set"] < found["theorem_1_paper"]
    assert found["trivial"] == pytest.approx(40_000)


def test_options_change_the_figures_of_the_settings_they_set() -> None:
    corrected = bounds("phased-ucb", 5, 10**5, 10, GAPS, {"constants": "corrected", "a": 0.75})
    assert corrected["hold"] == hold_length(10, 10**5, "corrected", 0.75)
    assert corrected["theorem_1_corrected"] == theorem_1_corrected(5, 10**5, 10, GAPS, 0.75)
    assert corrected["regret_as_set"] == pytest.approx(corrected["theorem_1_corrected"], rel=1e-3)
    too_short = bounds("phased-ucb", 5, 10**5, 10, GAPS, {"constants": "corrected", "hold": 50})
    assert too_short["hold"] == 50
    assert too_short["regret_as_set"] is None


def test_phased_elimination_gives_its_schedule_and_both_theorems() -> None:
    found = bounds("phased-elimination", 5, 10**5, 10, GAPS)
    assert found["schedule"] == schedule(10**5, 10) == [145, 529, 1696, 5100, 14574, 38767, 88593]
    assert found["theorem_2_paper"] == theorem_2_paper(5, 10**5, 10, GAPS)
    assert found["theorem_2_sharper"] < found["theorem_2_paper"]


@pytest.mark.parametrize("policy", ["improved-ucb", *NEEDED])
def test_the_rest_of_the_family_gives_its_schedule_and_no_theorem_of_another(policy: str) -> None:
    found = bounds(policy, 5, 10**5, 10, options=NEEDED.get(policy))
    assert found["schedule"] == sorted(found["schedule"])
    assert found["theorem_2_paper"] is None


def test_improved_ucb_has_a_bound_without_delay_only() -> None:
    assert bounds("improved-ucb", 5, 10**5, 1, GAPS)["auer_ortner"] > 0
    assert bounds("improved-ucb", 5, 10**5, 2, GAPS)["auer_ortner"] is None


def test_trim_ucb_gives_a_bound_for_its_level_and_for_the_strict_one() -> None:
    plain = bounds("trim-ucb", 5, 10**5, 10, GAPS)
    strict = bounds("trim-ucb", 5, 10**5, 10, GAPS, {"level": "strict"})
    assert strict["regret_as_set"] == strict["regret_strict"] == plain["regret_strict"] < plain["regret_as_set"]
    for options in ({"level": "plus"}, {"variance": "estimated"}):
        assert bounds("trim-ucb", 5, 10**5, 10, GAPS, options)["regret_as_set"] is None
    narrowed = bounds("trim-ucb", 5, 10**5, 10, GAPS, {"level": "strict", "variance": "0.01"})
    assert narrowed["regret_as_set"] > strict["regret_as_set"]


@pytest.mark.parametrize("policy", COVERED)
def test_bounds_are_plain_json_with_and_without_gaps(policy: str) -> None:
    for gaps in (None, GAPS, [0, *GAPS]):
        found = bounds(policy, 5, 10**5, 10, gaps, NEEDED.get(policy))
        assert json.loads(json.dumps(found, allow_nan=False)) == found
        assert found["gaps"] == (None if gaps is None else GAPS)
        assert (found["gaps_assumed"] is None) == (gaps is not None)


def test_bounds_for_any_gaps_are_not_below_those_for_some() -> None:
    for policy in COVERED:
        some, free = (bounds(policy, 5, 10**5, 10, gaps, NEEDED.get(policy)) for gaps in (GAPS, None))
        for name, value in some.items():
            if isinstance(value, float):
                assert free[name] >= value


def test_an_impossible_plan_still_has_figures() -> None:
    assert bounds("phased-ucb", 50, 1000, 100)["hold"] * 50 > 1000


def test_a_policy_without_a_bound_says_which_have_one() -> None:
    for policy in sorted(set(names()) - set(COVERED)):
        with pytest.raises(BadValue, match=f"no bound is written down for {policy}; there are bounds for phased-ucb"):
            bounds(policy, 5, 10**5, 10)


def test_wrong_calls_are_refused_by_name() -> None:
    with pytest.raises(UnknownName, match="did you mean 'phased-ucb'"):
        bounds("phased-ucv", 5, 10**5, 10)
    with pytest.raises(BadValue, match="window must be a whole number of at least 1"):
        bounds("phased-ucb", 5, 10**5, 0)
    with pytest.raises(BadValue, match="horizon must be a whole number of at least 3, got 2"):
        bounds("trim-ucb", 5, 2, 1)
    with pytest.raises(UnknownName, match="no setting of phased-ucb named 'alpha'"):
        bounds("phased-ucb", 5, 10**5, 10, options={"alpha": 2})
