"""`Outcome`: the results of many runs of one policy in one world."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterglow.pictures import card, curve
from afterglow.worlds.units_world import UnitsWorld
from afterglow.worlds.world import World

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Mean:
    """A mean over runs and its standard error."""

    mean: float
    se: float

    @classmethod
    def of(cls, values: Numbers) -> "Mean":
        """Of one number a run; a single run has no standard error."""
        spread = float(values.std(ddof=1)) if values.size > 1 else math.nan
        return cls(float(values.mean()), spread / math.sqrt(values.size))


@dataclass(frozen=True)
class Outcome:
    """Arrays have one row for each run. Sums are in rewards: `seen` = `generated` - `pending` + `income`.

    `seen` and `pending` of attributed-ucb refer to its own feedback: each reward when its window closes.
    """

    policy: str
    settings: dict[str, Any]  # resolved: what the policy worked with
    options: dict[str, Any]  # as given
    world: World | UnitsWorld
    horizon: int
    runs: int
    seed: int
    first: int  # number of the first run
    engine: str
    threads: int
    seconds: float  # simulation alone, after compiling
    regrets: Numbers
    seen: Numbers
    pending: Numbers  # made before the horizon, arriving after it
    generated: Numbers
    income: Numbers  # of the baseline
    holds: Numbers
    switches: Numbers
    checkpoints: NDArray[np.int64]
    curves: Numbers  # regret at the checkpoints
    shares: Numbers  # share of steps so far on the best arm, at the checkpoints
    pulls: NDArray[np.int64]  # runs x arms
    recommended: NDArray[np.int64] | None
    kept: NDArray[Any] | None = None  # final values of a field of the policy's state, a row for each run

    def __repr__(self) -> str:
        """The main figures in one line; `summary()` has them all."""
        found = self.regret
        error = "" if math.isnan(found.se) else f" ± {found.se:.2g}"
        return f"<Outcome: {self.policy}, {self.horizon:,} steps, {self.runs:,} runs, regret {found.mean:,.6g}{error}>"

    def _repr_html_(self) -> str:
        points = list(zip(self.checkpoints.tolist(), self.curves.mean(axis=0).tolist(), strict=True))
        text = "mean regret by step" if len(points) > 1 else ""
        return card(repr(self)[1:-1], curve(points, text, 0.0), text)

    @property
    def regret(self) -> Mean:
        return Mean.of(self.regrets)

    @property
    def units(self) -> int:
        """How many units it has; a world without units is one."""
        return self.world.units if isinstance(self.world, UnitsWorld) else 1

    @property
    def best_arm_share(self) -> float:
        return float(self.pulls[:, self.world.best].mean() / (self.horizon * self.units))

    def summary(self) -> dict[str, Any]:
        """The main figures as plain data."""
        regret = self.regret
        return {
            "policy": self.policy,
            "settings": self.settings,
            "means": self.world.means,
            "horizon": self.horizon,
            "window": self.world.window,
            "spread": self.world.spread.text,
            **units_of(self.world),
            "runs": self.runs,
            "seed": self.seed,
            "engine": self.engine,
            "threads": self.threads,
            "regret": {"mean": regret.mean, "se": None if math.isnan(regret.se) else regret.se},
            "best_arm_share": self.best_arm_share,
            "holds": float(self.holds.mean()),
            "switches": float(self.switches.mean()),
            "seconds": self.seconds,
        }


def units_of(world: World | UnitsWorld) -> dict[str, Any]:
    """Baseline, or units and what they share, as plain data."""
    if isinstance(world, World):
        return {"baseline": world.baseline.text} if world.baseline.parts else {}
    texts = {"common": world.common.text, "own": world.own.text}
    return {"units": world.units} | {name: text for name, text in texts.items() if text}
