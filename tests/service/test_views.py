"""What answers say of a verdict."""

from random import Random

import afterglow
from afterglow.estimation.verdict import Versus
from afterglow.service.views import TOO_WIDE, verdict_view
from testbed.quick_disk import quick_folder


def test_a_difference_of_which_nothing_is_known_is_missing_with_a_reason() -> None:
    """First its interval is as wide as rewards allow; then it is narrower, and shown."""
    random, wide, shown = Random(1), list[Versus](), list[Versus]()
    with quick_folder() as folder, afterglow.live.open(f"{folder}/experiments.db") as experiments:
        made = experiments.create("noisy", ["49", "59"], window=1, reward_max=100.0, policy="ucb1")
        while not (wide and shown) and made.status().step < 300:
            made.close_step(100.0 * (random.random() < (0.9 if made.current() == "59" else 0.3)))
            verdict = made.verdict()
            row = verdict.to_runner_up
            if row is None or row.low is None or row.high is None:
                continue
            view = verdict_view(verdict, made.spec)["to_runner_up"]
            numbers = (view["mean"], view["low"], view["high"], view["percent"])
            if (row.low, row.high) == (-100.0, 100.0):
                wide.append(row)
                assert (numbers, view["missing"]) == ((None, None, None, None), TOO_WIDE)
                assert view["more_steps"] == row.more_steps
            else:
                shown.append(row)
                assert (numbers[:3], view["missing"]) == ((row.mean, row.low, row.high), None)
    assert wide
    assert shown
