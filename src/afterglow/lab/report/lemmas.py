"""The largest observed |mean of totals - mean of rewards| of a hold, compared with Lemmas 1 and 2.

Arms are held in turn for k steps each. For every hold the totals are compared with the rewards of its own pulls (Lemma
1: at most d/k, sharp (d - 1)/k), and likewise for all m holds of an arm together (Lemma 2: at most m(d - 1)/n_m after
n_m pulls). The last world is the adversary that reaches both: one arm always pays 1, at the end of its window, and the
other never pays, so every hold of the second sees d - 1 rewards of the first.

>>> found = observe(ADVERSARY, "handicap", window=4, hold=8, holds=6)
>>> found.single == found.lemma_1 == 3 / 8
True
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from afterglow.engine.episode import Episode
from afterglow.theory import leak, lemma_1, lemma_1_paper
from afterglow.worlds.world import World

SPREADS = (
    "immediate", "uniform", "last", "geometric:0.8", "kernel:3,1", "dirichlet", "delay:uniform", "hoard", "handicap",
    "chameleon",
)  # fmt: skip
USUAL, ADVERSARY = (0.9, 0.8, 0.7), (1.0, 0.0)
WORLDS = [*product((USUAL,), SPREADS), (ADVERSARY, "handicap")]


@dataclass(frozen=True)
class Observed:
    """The largest errors in one world, with their bounds."""

    rewards: str
    spread: str
    window: int  # d
    hold: int  # k
    holds: int  # played in all
    single: float  # largest |error| of one hold's mean
    lemma_1: float  # (d - 1)/k
    lemma_1_paper: float  # d/k
    pooled: float  # largest |error| of an arm's mean over its m holds, as a multiple of its bound
    reached: float  # single / lemma_1

    @property
    def name(self) -> str:
        """The name of its spread, or of the adversary."""
        return "the adversary" if self.rewards == text(ADVERSARY) else self.spread


def text(rewards: Sequence[float]) -> str:
    return " ".join(f"{mean:g}" for mean in rewards)


def observe(rewards: Sequence[float], spread: str, window: int, hold: int, holds: int, seed: int = 1) -> Observed:
    """Hold the arms in turn, and compare totals with the rewards of each hold."""
    world = World.of(rewards, window, spread)
    episode = Episode(world, seed)
    single, pooled = 0.0, 0.0
    error, runs = [0.0] * world.arms, [0] * world.arms
    for number in range(holds):
        arm, before, seen = number % world.arms, episode.generated, 0.0
        for _ in range(hold):
            seen += episode.pull(arm)
        missed = seen - (episode.generated - before)
        error[arm] += missed
        runs[arm] += 1
        single = max(single, abs(missed) / hold)
        pooled = max(pooled, abs(error[arm]) / max(leak(window, runs[arm]), 1))
    most, printed = lemma_1(window, hold), lemma_1_paper(window, hold)
    reached = single / most if most else 0.0
    return Observed(text(rewards), spread, window, hold, holds, single, most, printed, pooled, reached)


def observe_all(windows: Sequence[int], holds: int, times: Sequence[int]) -> list[Observed]:
    """Every world, window and hold length; `times` are hold lengths in windows."""
    return [
        observe(rewards, spread, window, time * window, holds)
        for (rewards, spread), window, time in product(WORLDS, windows, times)
    ]
