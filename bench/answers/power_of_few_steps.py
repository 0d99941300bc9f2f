"""Why a policy that earns can't be as sure as an oracle: what it leaves on the loser, and what intervals make of it.

The world has a difference of 5 % against noise of 25 % a step, two arms, a window of 6 and 2,000 steps. The intervals
are made of the same washed steps, are two-sided, and are told more than anybody knows.

    python bench/answers/power_of_few_steps.py [--runs 400] [--policies thrift-ucb lean-ucb] [--seed 0]
"""

import argparse
import math
import statistics
import sys
import warnings
from pathlib import Path
from statistics import NormalDist
from typing import NamedTuple

from afterglow import Agent
from afterglow.errors import AfterglowWarning
from afterglow.estimation.comparison import Comparison
from afterglow.student_t import student_quantile

sys.path.insert(0, str(Path(__file__).parents[2]))

from testbed.coverage import play
from testbed.coverage_worlds import FIVE_PERCENT
from testbed.quick_agent import compile_kernels

ALPHA = 0.05
VARIANCE = FIVE_PERCENT.laws[0].variance  # of both arms


class Seen(NamedTuple):
    """What is known of the two arms at the end of a run; the loser is the one with fewer washed steps."""

    lead: float
    winner: int  # washed steps
    loser: int
    batches: int  # of the loser
    pulls: int  # of the loser

    @property
    def errors(self) -> float:
        """The lead over its true standard error."""
        return self.lead / math.sqrt(VARIANCE / self.winner + VARIANCE / self.loser)

    def student(self, share: float) -> float:
        """The quantile if the loser's noise comes from its own batches and the winner's is known."""
        return student_quantile(1 - share, max(1, self.batches - 1))


def seen(agent: Agent) -> Seen:
    arms = sorted(range(2), key=lambda arm: agent._bounds.batches.arms[arm].steps)
    loser, winner = (agent._bounds.batches.arms[arm] for arm in arms)
    return Seen(
        winner.mean - loser.mean, winner.steps, loser.steps, loser.counts[0], agent._bounds.tallies[arms[0]].pulls
    )


def report(policy: str, runs: int, first: int) -> None:
    found: list[Seen] = []
    results = [
        play(FIVE_PERCENT, policy, seed, watch=lambda agent, _: found.append(seen(agent)))
        for seed in range(first, first + runs)
    ]
    last = Comparison.FINAL * ALPHA
    rules = {
        "oracle: known noise, all of the 5 %": [one.errors > NormalDist().inv_cdf(1 - ALPHA / 2) for one in found],
        f"known noise, {last:.0%} for the last look": [
            one.errors > NormalDist().inv_cdf(1 - last / 2) for one in found
        ],
        "noise of the loser's batches, all of the 5 %": [one.errors > one.student(ALPHA) for one in found],
        f"noise of the loser's batches, {last:.0%} for the last look": [
            one.errors > one.student(last) for one in found
        ],
        "the verdict": [result.clear for result in results],
    }
    for name, values in (("washed steps", [one.loser for one in found]), ("pulls", [one.pulls for one in found]),
                         ("batches", [one.batches for one in found])):  # fmt: skip
        low, middle, high = (statistics.quantiles(values, n=10)[place] for place in (0, 4, 8))
        print(f"{policy}, {name} of the loser: {low:.0f}, {middle:.0f}, {high:.0f} (lowest tenth, median, highest)")
    for name, hits in rules.items():
        print(f"{policy}, {name}: {100 * sum(hits) / runs:.1f} %", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--policies", nargs="+", default=["thrift-ucb", "lean-ucb"])
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", AfterglowWarning)
    compile_kernels()
    for policy in asked.policies:
        report(policy, asked.runs, asked.seed)


if __name__ == "__main__":
    main()
