"""What the dashboard says of variants that are compared by ordinary statistics."""

from random import Random
from typing import Any

import pytest

from afterglow.estimation.estimates import Estimates
from afterglow.live.domain import commands
from afterglow.live.domain.commands import Reported
from afterglow.live.domain.spec import Spec, specify
from afterglow.live.domain.state import Phase, initial
from afterglow.live.domain.status import Status, estimates, status
from afterglow.live.domain.transitions import apply
from afterglow.service.dashboard.comparison import ComparisonChart, ComparisonRow, comparison
from afterglow.service.dashboard.rendering import ENVIRONMENT
from afterglow.service.dashboard.sentences import result


def played(means: dict[str, float], horizon: int = 600, **settings: Any) -> tuple[Spec, Status, Estimates]:
    """An experiment that is over."""
    spec = specify("shipping", list(means), 4, horizon, policy="lean-ucb", reward_max=100.0, **settings)
    state, random = initial(spec), Random(3)
    for event in commands.start(spec, state, 0):
        apply(spec, state, *event)
    while state.phase is not Phase.OVER:
        total = means[spec.variants[state.served]] + random.gauss(0, 4)
        apply(spec, state, *commands.close(spec, state, total, Reported(0, 0)))
    return spec, status(spec, state), estimates(spec, state)


def test_an_end_without_a_proof_has_a_sentence_to_go_by() -> None:
    said = result(*played({"49": 20.0, "59": 26.0, "69": 20.0}))
    assert said.startswith("Finished. 59 is recommended: +")
    assert " per step compared with " in said
    assert "(95 % interval +" in said
    assert "valid for one look at the end, assuming that periods as long as the window vary independently). Not" in said
    assert said.endswith(" Not proven under worst-case assumptions: the intervals overlap.")


def test_what_may_be_no_better_is_not_praised() -> None:
    spec, now, found = played({"A": 20.0, "B": 20.0}, step_seconds=3600, starts=0)
    said = result(spec, now, found)
    assert " per hour compared with " in said
    assert "vary independently), so it may not be better. Not proven" in said


def test_without_numbers_the_recommendation_stands_alone() -> None:
    spec, now, found = played({"A": 20.0, "B": 20.0}, horizon=16)
    assert now.lead is not None
    assert now.lead.mean is None
    said = result(spec, now, found)
    assert said.startswith(f"Finished. {now.recommended} is recommended. Not proven under worst-case assumptions: ")
    assert comparison(found, now.recommended) is None


def test_the_picture_has_a_row_for_each_other_variant_around_zero() -> None:
    _, now, found = played({"49": 20.0, "59": 26.0, "69": 20.0})
    picture = comparison(found, now.recommended, ("49",))
    assert picture is not None
    assert [(row.variant, row.number) for row in picture.rows] == [("69", 2)]
    (row,) = picture.rows
    assert row.mean is not None
    assert picture.zero <= row.low < row.mean < row.low + row.width
    assert row.text.startswith("+")
    assert comparison(found, None) is None


@pytest.mark.parametrize("reads", ["59 compared with the others", "−", "ordinary statistics", "one look at the end"])
def test_the_table_says_what_kind_of_interval_it_has(reads: str) -> None:
    _, _, found = played({"49": 20.0, "59": 21.0, "69": 20.0})
    parts: Any = ENVIRONMENT.get_template("parts.html").module
    shown = parts.differences(comparison(found, "59"))
    assert reads in shown


def test_a_difference_that_is_missing_is_a_row_with_its_reason() -> None:
    rows = [ComparisonRow("69", 2, None, 0.0, 0.0, "–", "'69' hasn't run for a full window yet")]
    parts: Any = ENVIRONMENT.get_template("parts.html").module
    shown = parts.differences(ComparisonChart("59", rows, 0.0, [], "95 %"))
    assert '<td class="missing" colspan="3">&#39;69&#39; hasn&#39;t run for a full window yet.</td>' in shown
