"""How often the ordinary interval holds the truth: `Agent.estimates().against` at 95 %, after policies have played.

Three arms, with means of 0.4, 0.4 and 0.44 if nothing is said; order, rewards and noise are drawn anew in each run.
Rewards have a standard deviation of 0.15 within [0, 1], or are yes/no; the noise of a step has 0.05 and may linger.
Printed for each world and policy: runs that had numbers; in how many of them the interval of the recommended arm over
the one that comes closest held the truth; of how many pairs of arms it did; in how many runs some arm seemed better
than one that is as good or better; how far that first interval reached to either side, in the median.

    python bench/interval_coverage.py [--runs 200] [--policies lean-ucb leak-ucb]
"""

import argparse
import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

import numpy as np

from afterglow import Agent, Difference

POLICIES = ("lean-ucb", "leak-ucb", "phased-ucb", "washout-ucb")
BASELINE, NOISE, REWARD = 0.3, 0.05, 0.15
EQUAL, CLOSE, APART = (0.4, 0.4, 0.4), (0.4, 0.4, 0.44), (0.4, 0.4, 0.88)
EVERY = 10  # steps between the looks of somebody who looks often


@dataclass(frozen=True)
class World:
    window: int
    steps: int
    spread: str = "uniform"
    correlation: float = 0.0  # of the noise, from step to step
    means: tuple[float, ...] = CLOSE
    yes_no: bool = False
    season: int = 1

    def __str__(self) -> str:
        more = [f"noise lingers, {self.correlation:g}"] if self.correlation else []
        more += [f"season {self.season}"] if self.season > 1 else []
        more += ["yes/no, far apart"] if self.yes_no else ["equal arms"] if self.means == EQUAL else []
        return ", ".join([f"window {self.window}", f"{self.steps} steps", self.spread, *more])

    def weights(self, random: np.random.Generator) -> np.ndarray:
        """What arrives of a reward in each step of its window."""
        weights = np.zeros(self.window)
        if self.spread == "uniform":
            weights += 1 / self.window
        elif self.spread == "ends":  # a batch shows least of this one
            weights[[0, -1]] += 0.5
        else:
            weights += random.dirichlet(np.ones(self.window))
        return weights


WORLDS = [
    World(1, 600), World(6, 600), World(24, 600), World(24, 3_000),
    World(24, 600, "ends"), World(24, 600, "dirichlet"), World(24, 1_200, season=24),
    World(6, 60), World(24, 200),
    World(24, 600, correlation=0.8), World(24, 600, correlation=0.95), World(24, 3_000, correlation=0.95),
    World(6, 600, correlation=0.95),
    World(24, 600, means=EQUAL), World(24, 600, correlation=0.95, means=EQUAL),
    World(6, 600, means=APART, yes_no=True), World(24, 600, means=APART, yes_no=True),
]  # fmt: skip


def play(world: World, policy: str, seed: int) -> Iterator[tuple[Agent, list[float]]]:
    """The agent after each step, and the means of its arms."""
    random = np.random.default_rng(seed)
    means = [float(mean) for mean in random.permutation(world.means)]
    agent = Agent(3, world.window, world.steps, policy, reward_max=2.0, season=world.season)
    coming, noise = np.zeros(world.window), NOISE * random.normal()
    fresh = NOISE * math.sqrt(1 - world.correlation**2) * random.normal(size=world.steps)
    for step in range(world.steps):
        mean = means[int(agent.select())]
        reward = float(random.random() < mean) if world.yes_no else min(max(random.normal(mean, REWARD), 0.0), 1.0)
        coming += reward * world.weights(random)
        noise = world.correlation * noise + fresh[step]
        cycle = 0.1 * math.sin(2 * math.pi * step / world.season) if world.season > 1 else 0.0
        agent.update(max(0.0, float(coming[0]) + BASELINE + noise + cycle))
        coming = np.append(coming[1:], 0.0)
        yield agent, means


def told(agent: Agent, arms: tuple[int, ...]) -> list[Difference]:
    """Differences of these arms to all others that have numbers."""
    estimates = agent.estimates()
    return [one for arm in arms for one in estimates.against(arm) if one.mean is not None]


def row(world: World, policy: str, runs: int) -> str:
    leads, pairs, wrong, reach = list[bool](), list[bool](), list[bool](), list[float]()
    for seed in range(runs):
        *_, (agent, means) = play(world, policy, seed)

        def holds(one: Difference, means: list[float] = means) -> bool:
            return one.low <= means[int(one.arm)] - means[int(one.other)] <= one.high

        every = told(agent, (0, 1, 2))
        pairs += [holds(one) for one in every if int(one.arm) < int(one.other)]
        lead = min(told(agent, (int(agent.recommend()),)), key=lambda one: one.mean, default=None)
        if lead is not None:
            leads.append(holds(lead))
            wrong.append(any(one.low > 0 for one in every if means[int(one.arm)] <= means[int(one.other)]))
            reach.append((lead.high - lead.low) / 2)
    start = f"{world!s:64} {policy:12} {len(leads):4}"
    if not leads:
        return start
    shares = " ".join(f"{sum(found) / len(found):7.1%}" for found in (leads, pairs, wrong))
    return f"{start} {shares} {median(reach):8.4f}"


def looks(world: World, policy: str, runs: int) -> str:
    """How often somebody who looks again and again finds an arm better than an equal one."""
    fooled = 0
    for seed in range(runs):
        fooled += any(
            one.low > 0
            for step, (agent, _) in enumerate(play(world, policy, seed), start=1)
            if step % EVERY == 0
            for one in told(agent, (0, 1, 2))
        )
    seen = f"an arm seemed better at some look in {fooled / runs:.1%} of {runs} runs"
    return f"{world}, {policy}, a look at every {EVERY}th step: {seen}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--policies", nargs="+", default=POLICIES)
    asked = parser.parse_args()
    print(f"{'world':64} {'policy':12} {'runs':>4} {'lead':>7} {'any two':>7} {'wrong':>7} {'reach':>8}")
    for world in WORLDS:
        for policy in asked.policies:
            print(row(world, policy, asked.runs), flush=True)
    print(looks(World(24, 600, means=EQUAL), "leak-ucb", asked.runs))


if __name__ == "__main__":
    main()
