"""Killed at any moment, under load, the service loses nothing that it acknowledged and counts nothing twice."""

from serving import Serving
from storm import killed_again_and_again

KILLS = 20


def test_kill_9_at_random_moments_loses_and_doubles_nothing(address: str) -> None:
    with Serving(address) as serving:
        figures = killed_again_and_again(serving, KILLS, seed=4)
    assert figures.retried > 0
