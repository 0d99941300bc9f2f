"""How often the proved bounds of the arms are disjoint at the end of a planned experiment.

A policy can find the best arm long before that, because it uses assumptions that it doesn't prove. So a plan reports
both: how often the recommendation is right, and how often it is proved. The pulls of the simulated runs show whether
bounds can be disjoint at all, without leakage and with 4 standard deviations of luck. If so, some whole experiments are
simulated step by step with agents, and their bounds are read at the end.
"""

import math
from dataclasses import dataclass
from itertools import cycle, islice

from afterglow.agent import Agent
from afterglow.engine.episode import Episode
from afterglow.estimation.estimates import Estimates
from afterglow.lab.plan.scenario import Scenario
from afterglow.lab.plan.trials import Effort, Trial, places, with_few_blocks
from afterglow.policies.terms import kldown, klup

CONFIDENCE = 0.95  # default of an agent's bounds
HELP = 4.0  # deviations
STEPS = 24_000  # that all agents play together
MOST = 12  # runs


@dataclass(frozen=True)
class Proof:
    """Number of runs, and of those with disjoint bounds; no runs if they are too long to simulate."""

    runs: int
    apart: int

    @property
    def share(self) -> float | None:
        return self.apart / self.runs if self.runs else None


def proof_of(used: Trial, scenario: Scenario, effort: Effort) -> Proof:
    """How often the bounds are disjoint at the horizon."""
    if not any(may_come_apart(list(pulls), scenario) for pulls in used.pulls.tolist()):
        return Proof(used.right.size, 0)
    effort.report("proved bounds")
    runs = min(MOST, effort.runs, STEPS // scenario.horizon)
    groups = [(best, start) for best in places(scenario.arms) for start in scenario.starts]
    ends = [
        played(used, scenario, best, start, effort.seed, run)
        for run, (best, start) in enumerate(islice(cycle(groups), runs))
    ]
    return Proof(runs, sum(separated(end) for end in ends))


def may_come_apart(pulls: list[int], scenario: Scenario) -> bool:
    """Whether so many pulls of the best arm (the first) and the others can make their bounds disjoint."""
    level = math.log(2 * scenario.arms / (1 - CONFIDENCE))
    good = min(1.0, scenario.mean + scenario.gain + HELP * scenario.noise / math.sqrt(max(pulls[0], 1)))
    low = kldown(good * pulls[0], pulls[0], level + math.log(pulls[0] + 1))
    for n in pulls[1:]:
        poor = max(0.0, scenario.mean - HELP * scenario.noise / math.sqrt(max(n, 1)))
        if n == 0 or klup(poor * n, n, level + math.log(n + 1)) >= low:
            return False
    return True


def played(used: Trial, scenario: Scenario, best: int, start: int, seed: int, run: int) -> Estimates:
    """The estimates of an agent at the end of a run."""
    with with_few_blocks():
        agent = Agent(
            scenario.arms, scenario.window, scenario.horizon, used.candidate.name, seed=seed, run=run,
            season=used.align, confidence=CONFIDENCE, **used.candidate.options,
        )  # fmt: skip
    episode = Episode(scenario.world(best, start), seed, run)
    for _ in range(scenario.horizon):
        agent.update(min(episode.pull(int(agent.select())), scenario.window))
    return agent.estimates()


def separated(known: Estimates) -> bool:
    """Whether one arm's lower bound is above all other arms' upper ones."""
    return any(
        one.pulls and not one.contradiction and all(one.low > other.high for other in known if other is not one)
        for one in known
    )
