"""What deciding costs in process, with a hundred arms: `select` and `update` of an agent, step by step."""

import warnings
from pathlib import Path
from random import Random
from time import process_time
from typing import Any

from afterglow import Agent
from afterglow.errors import AfterglowWarning
from afterglow.policies.registry import WHERE, named
from bench.report.figures import Figure, Item, digits

ARMS = 100
WINDOW = 10
HORIZON = 100_000
STEPS = 5_000
BUDGET = 2.0  # seconds of CPU for a policy
DEFAULT = "trim-ucb"
EXCEPT = "lag-ridge-ucb"
OPTIONS: dict[str, dict[str, Any]] = {
    "odaaf": {"mean_delay": 4.5},
    "odaaf-bounded": {"mean_delay": 4.5},
    "odaaf-variance": {"mean_delay": 4.5, "delay_variance": 8.25},
}


def microseconds(policy: str) -> list[float]:
    """CPU time of every `select` and `update` in which a hold began or ended, sorted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AfterglowWarning)
        agent = Agent(ARMS, WINDOW, HORIZON, policy, **OPTIONS.get(policy, {}))
    random, times, began, fresh = Random(7), list[float](), process_time(), True
    for _ in range(STEPS):
        before = process_time()
        arm = agent.select()
        total = float(random.random() < 0.3 + 0.004 * int(arm))
        agent.update(total)
        after = process_time()
        ended = agent.hold is None
        if fresh or ended:
            times.append(1e6 * (after - before))
        fresh = ended
        if after - began > BUDGET:
            break
    return sorted(times)


def measure(folder: Path) -> Item:
    policies = [name for name in WHERE if not named(name).privileged]
    rows, slowest = list[list[str]](), dict[str, float]()
    for name in policies:
        times = microseconds(name)
        half, most = (times[int(share * (len(times) - 1))] for share in (0.5, 0.99))
        slowest[name] = most
        rows.append([name, digits(half), digits(most), f"{len(times):,}"])
    others = {name: most for name, most in slowest.items() if name != EXCEPT}
    worst = max(others, key=others.__getitem__)
    figures = [
        Figure(f"{DEFAULT}: `select` and `update` that begin or end a hold, p99", slowest[DEFAULT] / 1000, "ms",
               at_most=1),
        Figure(f"the slowest of the others but {EXCEPT}, {worst}", others[worst] / 1000, "ms", at_most=1),
        Figure(EXCEPT, slowest[EXCEPT] / 1000, "ms"),
    ]  # fmt: skip
    return Item(
        "decision", "A decision among 100 arms", figures, ["policy", "µs, median", "µs, p99", "decisions"], rows,
        [
            f"An agent with a window of {WINDOW} in plain Python, by CPU time. Only steps in which a hold begins or "
            f"ends are counted; the others take a few µs. {EXCEPT} keeps a regression of 500 unknowns up to date at "
            "every step, which is 250,000 operations.",
        ],
    )  # fmt: skip
