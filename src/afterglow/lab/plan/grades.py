"""How often a planned experiment will end `clear`, `tested` or `proven`, and when: agents play it step by step.

An agent's verdict is looked at 20 times in a run. What the plan reports is the share of runs with each grade at the
end, and the step at which half of those that become `clear` or better are.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from afterglow.agent import Agent
from afterglow.engine.episode import Episode
from afterglow.lab.plan.scenario import Scenario
from afterglow.lab.plan.trials import Effort, Trial, places, unwarned

CONFIDENCE = 0.95  # default of an agent
STEPS = 40_000  # that all agents play together
MOST = 20  # runs that are played
FEWEST = 4  # runs that are played if they are short enough
EVERY = 30  # simulated runs for each one that is played
LOOKS = 20  # at a verdict, in a run
SURE = ("clear", "tested", "proven")


@dataclass(frozen=True)
class Grades:
    """Number of runs by their grade at the end; no runs if they are too long to simulate."""

    runs: int
    ends: dict[str, int]
    sure_after: int | None  # steps at which half of those that are clear or better at the end were so first

    @property
    def sure(self) -> int:
        """Runs that end clear or better."""
        return sum(self.ends.get(grade, 0) for grade in SURE)


def grades_of(used: Trial, scenario: Scenario, effort: Effort) -> Grades:
    """The grades of some experiments with the policy of a trial."""
    runs = min(MOST, max(FEWEST, effort.runs // EVERY), effort.runs, STEPS // scenario.horizon)
    if runs < 1:
        return Grades(0, {}, None)
    effort.report("grades of the verdict")
    found = [
        played(used, scenario, best, start, effort.seed, run)
        for run, (best, start) in enumerate(pairs_of(scenario, runs))
    ]
    first = [step for grade, step in found if grade in SURE]
    return Grades(runs, dict(Counter(grade for grade, _ in found)), int(np.median(first)) if first else None)


def pairs_of(scenario: Scenario, runs: int) -> list[tuple[int, int]]:
    """The best arm and the start of each run: arms take turns, because a policy may be kinder to the first."""
    arms, starts = places(scenario.arms), scenario.starts
    each = len(arms) if len(arms) * len(starts) <= runs else 1  # runs of a start that follow each other
    return [(arms[run % len(arms)], starts[run // each % len(starts)]) for run in range(runs)]


def played(used: Trial, scenario: Scenario, best: int, start: int, seed: int, run: int) -> tuple[str, int]:
    """The grade at the end of a run, and the first look since which it was as sure.

    Verdicts are slow, so agents are stored at the looks, and only those of a run that ends so sure are looked at.
    """
    agent = agent_in(used, scenario, start, seed, run)
    episode = Episode(world_of(scenario, best, start), seed, run)
    every, stored = max(1, scenario.horizon // LOOKS), list[tuple[int, str]]()
    for step in range(1, scenario.horizon + 1):
        agent.update(min(max(0.0, episode.pull(int(agent.select()))), scenario.window))
        if step % every == 0 and step < scenario.horizon:
            stored.append((step, agent.to_json()))
    grade, since = agent.verdict().grade, scenario.horizon
    if grade in SURE:
        for step, text in reversed(stored):
            with unwarned():
                if Agent.from_json(text).verdict().grade not in SURE:
                    break
            since = step
    return grade, since


def world_of(scenario: Scenario, best: int, start: int) -> Any:
    """The world before anything is taken out of its totals, where that is the agent's own work."""
    return (scenario.with_(told=False) if scenario.told else scenario).world(best, start)


def agent_in(used: Trial, scenario: Scenario, start: int, seed: int, run: int) -> Agent:
    """An agent with the policy, and the profile if it is told."""
    told: dict[str, Any] = {}
    if scenario.told and scenario.history is not None:
        level, top = scenario.history.level, scenario.reward_max
        told["profile"] = np.roll((np.array(scenario.history.expected) + level) / top, -start).tolist()
    options = used.candidate.options
    if scenario.forecast is not None and "proof" in used.candidate.policy.options():
        options = options | {"proof": "never"}
    with unwarned():
        return Agent(
            scenario.arms, scenario.window, scenario.horizon, used.candidate.name, seed=seed, run=run,
            season=used.align, confidence=CONFIDENCE, options=options, **told,
        )  # fmt: skip
