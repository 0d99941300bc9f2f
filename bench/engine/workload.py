"""The world that the items share, and one call to play it."""

from afterglow.engine.outcome import Outcome
from afterglow.engine.simulate import simulate
from afterglow.worlds.spreads import Spread
from afterglow.worlds.world import World

MEANS = [0.9, 0.8, 0.7, 0.6, 0.5]
WINDOW = 10
SEED = 2019


def play(
    engine: str,
    horizon: float,
    runs: int,
    spread: str | Spread = "uniform",
    policy: str = "phased-ucb",
    window: int = WINDOW,
    threads: int = 1,
) -> Outcome:
    """Bernoulli rewards, five arms, one thread unless told."""
    world = World.of(MEANS, window, spread)
    return simulate(policy, world, horizon, runs, SEED, engine=engine, threads=threads)
