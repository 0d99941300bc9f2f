"""The study of `afterglow compare`: all policies in one world with several spreads.

Five Bernoulli arms, one window, seven spreads: four that follow a fixed law and three adversaries. The policies of
the ODAAF family are given the mean delay of the spread, or the largest possible where it depends on the player.
"""

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from afterglow.lab.study.identity import identity
from afterglow.lab.study.study import Study
from afterglow.policies.registry import named, names
from afterglow.worlds.spreads import ADVERSARIAL

QUESTION = "Which policy has the smallest regret when rewards are delayed, pooled and anonymous?"
REWARDS = (0.9, 0.8, 0.7, 0.6, 0.5)
WINDOW = 10
SPREADS = ("immediate", "uniform", "dirichlet", "last", *ADVERSARIAL)
COSTLY = {  # policies that take long have fewer runs: the usual number is divided by this
    "attributed-ucb": 2, "kl-ucb": 8, "lag-ridge-ucb": 4, "lean-ucb": 4, "random-turns": 20, "switchback": 8,
    "thompson": 8, "ucb1": 2,
}  # fmt: skip


@dataclass(frozen=True)
class Size:
    """How much is played."""

    name: str
    horizon: int
    runs: int
    stepwise_runs: int  # of policies that decide at every step, which take a hundred times as long
    checkpoints: int


FULL = Size("compare", 100_000, 400, 80, 60)
QUICK = Size("compare-quick", 10_000, 100, 40, 40)


def comparison(seed: int = 1, size: Size = FULL) -> Study:
    """The study with a seed."""
    world = {"rewards": list(REWARDS), "window": WINDOW, "spread": list(SPREADS)}
    return Study(
        policies(size), [world], size.horizon, size.runs, seed, size.checkpoints, name=size.name, question=QUESTION
    )


def policies(size: Size) -> list[str | dict[str, Any]]:
    """Every policy, phased-ucb with both constants."""
    found: list[str | dict[str, Any]] = [
        {"policy": "phased-ucb", "constants": constants, "label": f"phased-ucb {constants}"}
        for constants in ("paper", "corrected")
    ]
    for name in names():
        runs = (size.stepwise_runs if named(name).every_step else size.runs) // COSTLY.get(name, 1)
        if name != "phased-ucb":
            found.append(name if runs == size.runs else {"policy": name, "runs": runs})
    return found


def folder_for(study: Study, out: Path) -> Path:
    """Where its results go: every seed and size, and every version, has a folder of its own."""
    digest = sha256(json.dumps(identity(study), sort_keys=True).encode()).hexdigest()
    return out / "results" / f"{study.name}-seed-{study.seed}-{digest[:8]}"
