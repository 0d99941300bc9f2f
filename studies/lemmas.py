"""How far can a hold's mean be off? The largest |mean of totals - mean of rewards| seen, beside Lemmas 1 and 2.

Arms are held in turn for k steps each. For every single hold the totals seen are compared with the rewards that its own
pulls brought (Lemma 1: at most d/k, sharp (d - 1)/k), and so are those of all m holds of an arm together (Lemma 2: at
most m(d - 1)/n_m after n_m pulls). The last world is the adversary that reaches both: one arm always pays 1, at the
end of its window, and the other never pays, so every hold of the second sees d - 1 rewards that it did not earn.

    python studies/lemmas.py [--out DIR]
"""

import argparse
import csv
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path

from afterglow import World
from afterglow.engine.episode import Episode
from afterglow.theory import leak, lemma_1, lemma_1_paper

SPREADS = (
    "immediate", "uniform", "last", "geometric:0.8", "kernel:3,1", "dirichlet", "delay:uniform", "hoard", "handicap",
    "chameleon",
)  # fmt: skip
WORLDS = [*product(((0.9, 0.8, 0.7),), SPREADS), ((1.0, 0.0), "handicap")]


@dataclass(frozen=True)
class Observed:
    """The largest errors in one world, each beside the most it can be."""

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


def observe(rewards: Sequence[float], spread: str, window: int, hold: int, holds: int, seed: int = 1) -> Observed:
    """Hold the arms in turn, and compare what is seen with what is earned."""
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
    text = " ".join(f"{mean:g}" for mean in rewards)
    most = lemma_1(window, hold)
    printed = lemma_1_paper(window, hold)
    return Observed(text, spread, window, hold, holds, single, most, printed, pooled, single / most if most else 0.0)


def study(windows: Sequence[int] = (4, 16), holds: int = 60, times: Sequence[int] = (1, 4)) -> list[Observed]:
    """Every world, window and hold length; `times` are hold lengths in windows."""
    return [
        observe(rewards, spread, window, time * window, holds)
        for (rewards, spread), window, time in product(WORLDS, windows, times)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="write lemmas.csv into this folder")
    out = parser.parse_args().out
    rows = study()
    head = f"{'rewards':12} {'spread':14} {'d':>3} {'k':>4} {'largest':>8} {'(d-1)/k':>8} {'d/k':>6} {'lemma 2':>8}"
    lines = [
        f"{row.rewards:12} {row.spread:14} {row.window:3} {row.hold:4} {row.single:8.3f} {row.lemma_1:8.3f} "
        f"{row.lemma_1_paper:6.3f} {row.pooled:8.0%}"
        for row in rows
    ]
    sys.stdout.write("\n".join([head, *lines, ""]))
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        with (out / "lemmas.csv").open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, list(asdict(rows[0])))
            table.writeheader()
            table.writerows(asdict(row) for row in rows)


if __name__ == "__main__":
    main()
