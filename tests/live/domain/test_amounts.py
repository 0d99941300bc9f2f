"""Amounts and totals, however large they get."""

from typing import Any

import pytest

import afterglow
from afterglow.errors import BadValue
from support.service.live_fixtures import Clock

LARGE: dict[str, Any] = {"variants": ["A", "B"], "window": 1, "reward_max": 1e12, "policy": "ucb1"}
FULL = (2**63 - 1) / 1e6


@pytest.mark.parametrize("step_seconds", [None, 3600])
def test_a_sum_beyond_64_bits_is_kept_as_the_largest_total_and_the_experiment_goes_on(
    address: str, clock: Clock, step_seconds: float | None
) -> None:
    with afterglow.live.open(address, clock=clock) as experiments:
        shop = experiments.create("shop", **LARGE, step_seconds=step_seconds)
        shop.rewards((f"key {number}", 1e12) for number in range(10))
        clock.hours(1)
        if step_seconds:
            assert experiments.tick() == {}
        else:
            shop.close_step()
        assert [step.total for step in shop.steps(count=2)] == [FULL, None]
        assert shop.estimates()["A"].mean == 1e12  # what it can be at most
        assert "reward_max" in (shop.status().alarm or "")
        shop.rewards((f"late {number}", 1e12) for number in range(10))
        shop.stop("enough")
        assert [step.total for step in shop.steps()] == [FULL, FULL]
        assert shop.verify().ok


def test_a_total_that_is_told_is_compared_with_what_was_kept(address: str) -> None:
    with afterglow.live.open(address) as experiments:
        shop = experiments.create("shop", **LARGE)
        shop.rewards((f"key {number}", 1e12) for number in range(10))
        with pytest.raises(BadValue, match="at most window x reward_max"):
            shop.close_step(1e13)
        shop.close_step(step=0)
        shop.close_step(step=0)
        assert shop.steps()[0].total == FULL
