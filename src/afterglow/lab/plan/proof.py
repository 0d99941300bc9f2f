"""What the end of an experiment will look like: how often the bounds that hold whatever the effects do come apart.

A policy may know the best arm long before that: it leans on what it can't prove, such as noise like that of the past.
So a plan says both, how often its recommendation is right and how often it will be proved. The pulls of the simulated
runs tell whether bounds can come apart at all, if they miss nothing to leakage and chance helps by 4 deviations. If
so, some whole experiments are played by agents, step by step, and their bounds are read at the end.
"""

import math
from dataclasses import dataclass
from itertools import cycle, islice

from afterglow.agent import Agent
from afterglow.engine.episode import Episode
from afterglow.estimation.estimates import Estimates
from afterglow.lab.plan.scenario import Scenario
from afterglow.lab.plan.trials import Effort, Trial, places
from afterglow.policies.terms import kldown, klup

CONFIDENCE = 0.95  # of an agent's bounds, unless it is told another
HELP = 4.0  # deviations
STEPS = 24_000  # that all agents play together
MOST = 12  # runs


@dataclass(frozen=True)
class Proof:
    """Runs that were looked at and in how many of them the bounds came apart; no runs if they are too long to play."""

    runs: int
    apart: int

    @property
    def share(self) -> float | None:
        return self.apart / self.runs if self.runs else None


def proof_of(used: Trial, scenario: Scenario, effort: Effort) -> Proof:
    """How often the bounds come apart by the horizon."""
    if not any(may_come_apart(list(pulls), scenario) for pulls in used.pulls.tolist()):
        return Proof(used.right.size, 0)
    effort.report("what will be proved")
    runs = min(MOST, effort.runs, STEPS // scenario.horizon)
    groups = [(best, start) for best in places(scenario.arms) for start in scenario.starts]
    ends = [
        played(used, scenario, best, start, effort.seed, run)
        for run, (best, start) in enumerate(islice(cycle(groups), runs))
    ]
    return Proof(runs, sum(separated(end) for end in ends))


def may_come_apart(pulls: list[int], scenario: Scenario) -> bool:
    """Whether as many pulls of the best arm (the first) and the others could separate their bounds."""
    level = math.log(2 * scenario.arms / (1 - CONFIDENCE))
    good = min(1.0, scenario.mean + scenario.gain + HELP * scenario.noise / math.sqrt(max(pulls[0], 1)))
    low = kldown(good * pulls[0], pulls[0], level + math.log(pulls[0] + 1))
    for n in pulls[1:]:
        poor = max(0.0, scenario.mean - HELP * scenario.noise / math.sqrt(max(n, 1)))
        if n == 0 or klup(poor * n, n, level + math.log(n + 1)) >= low:
            return False
    return True


def played(used: Trial, scenario: Scenario, best: int, start: int, seed: int, run: int) -> Estimates:
    """What an agent knows at the end."""
    agent = Agent(
        scenario.arms, scenario.window, scenario.horizon, used.candidate.name, seed=seed, run=run, season=used.align,
        confidence=CONFIDENCE, **used.candidate.options,
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
