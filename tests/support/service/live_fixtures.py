"""Experiments to test with, on every store: `address`, `experiments`, `experiment` and `clock`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import afterglow
from afterglow.live import Experiment, Experiments
from testbed.postgres import server
from testbed.quick_disk import quick_folder

STORES = ("sqlite", "postgresql")
ASKED: dict[str, Any] = {"variants": ["49", "59", "69"], "window": 4, "reward_max": 10.0}


class Clock:
    """Seconds since 1970, as the test wants."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def hours(self, hours: float) -> None:
        self.now += 3600 * hours


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=STORES)
def address(request: pytest.FixtureRequest) -> Iterator[str]:
    """A database that doesn't exist yet, or is empty."""
    if request.param == "postgresql":
        made = server().fresh()
        yield made
        server().drop(made)
    else:
        with quick_folder() as folder:
            yield str(Path(folder) / "experiments.db")


@pytest.fixture
def experiments(address: str) -> Iterator[Experiments]:
    with afterglow.live.open(address, clock=lambda: 1000.0) as made:
        yield made


@pytest.fixture
def experiment(experiments: Experiments) -> Experiment:
    return experiments.create("shipping", **ASKED, policy="ucb1")
