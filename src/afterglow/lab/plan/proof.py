"""How often the proved bounds of the arms are disjoint at the end of a planned experiment.

A policy can find the best arm long before that, because it uses assumptions that it doesn't prove. So a plan reports
both: how often the recommendation is right, and how often it is proved. The pulls of the simulated runs show whether
bounds can be disjoint at all, without leakage and with 4 standard deviations of luck. If so, the experiments that
agents have played step by step (`grades`) show how often they are.
"""

import math
from dataclasses import dataclass

from afterglow.lab.plan.grades import CONFIDENCE, Grades
from afterglow.lab.plan.scenario import Scenario
from afterglow.lab.plan.trials import Trial
from afterglow.policies.terms import kldown, klup

HELP = 4.0  # deviations


@dataclass(frozen=True)
class Proof:
    """Number of runs, and of those with disjoint bounds; no runs if they are too long to simulate."""

    runs: int
    apart: int

    @property
    def share(self) -> float | None:
        return self.apart / self.runs if self.runs else None


def proof_of(used: Trial, scenario: Scenario, graded: Grades) -> Proof:
    """How often the bounds are disjoint at the horizon."""
    if not any(may_come_apart(list(pulls), scenario) for pulls in used.pulls.tolist()):
        return Proof(used.right.size, 0)
    return Proof(graded.runs, graded.ends.get("proven", 0))


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
