"""Simulations of candidate policies in a scenario, with each arm as the best in turn."""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterglow.engine.simulate import simulate
from afterglow.errors import AfterglowWarning
from afterglow.expected import without_proof
from afterglow.lab.plan.rotation import rotation
from afterglow.lab.plan.scenario import Scenario
from afterglow.policies.policy import Policy
from afterglow.policies.registry import DEFAULT, named
from afterglow.policies.season import seasonal

Numbers = NDArray[np.float64]
MOST_PLACES = 6  # for the best arm among many
Z = 1.959963984540054


@dataclass(frozen=True)
class Candidate:
    """A policy with its settings."""

    name: str
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def policy(self) -> Policy[Any, Any]:
        return rotation if self.name == rotation.name else named(self.name)

    @property
    def usable(self) -> bool:
        """Whether an agent or a live experiment can use it; a rotation is for comparison only."""
        return self.name != rotation.name


@dataclass(frozen=True)
class Trial:
    """The results of a candidate; one row per run."""

    candidate: Candidate
    align: int  # length of the cycles that its holds count whole
    right: NDArray[np.bool_]  # whether the best arm was recommended
    regrets: Numbers
    pulls: NDArray[np.int64]  # runs x arms, the best arm first
    switches: float
    first_hold: int
    told: bool = False  # the profile of the cycle

    @property
    def found(self) -> float:
        return float(self.right.mean())

    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of `found`."""
        n, p = self.right.size, self.found
        centre = (p + Z * Z / (2 * n)) / (1 + Z * Z / n)
        reach = Z * math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n)) / (1 + Z * Z / n)
        return max(0.0, centre - reach), min(1.0, centre + reach)

    @property
    def lost(self) -> float:
        return float(self.regrets.mean())

    @property
    def lost_half_width(self) -> float:
        """Of the 95 % interval of `lost`, for a mean over runs."""
        return Z * self.lost_error

    @property
    def lost_error(self) -> float:
        """The standard error of `lost`."""
        return float(self.regrets.std(ddof=1) / math.sqrt(self.regrets.size))


@dataclass(frozen=True)
class Effort:
    """How much is simulated, and where progress is reported."""

    runs: int
    seed: int
    threads: int | None
    report: Callable[[str], None]


def candidates(scenario: Scenario, noise_known: bool) -> list[Candidate]:
    """The policies that a plan compares."""
    hold = max(scenario.window, scenario.horizon // (12 * scenario.arms) - scenario.window + 1)
    sure: dict[str, Any] = {"noise": noise_setting(scenario)} if noise_known else {}
    return [
        Candidate(DEFAULT, sure),
        Candidate("trim-ucb", {"variance": "estimated"}),
        Candidate("lean-ucb", sure),
        Candidate("washout-ucb"),
        Candidate("rotation", {"hold": hold}),
    ]


def noise_setting(scenario: Scenario) -> float:
    """The noise of one pull as a policy's setting."""
    return min(float(f"{scenario.noise:.3g}"), 0.5)


def fitted(candidate: Candidate, scenario: Scenario) -> Candidate:
    """The candidate with the noise of this scenario, if it has that setting."""
    if "noise" not in candidate.options:
        return candidate
    return Candidate(candidate.name, candidate.options | {"noise": noise_setting(scenario)})


def trial(candidate: Candidate, scenario: Scenario, effort: Effort) -> Trial:
    """Simulate a candidate with every arm as the best in turn, starting at phases spread over the cycle."""
    groups = [(best, start) for best in places(scenario.arms) for start in scenario.starts]
    runs = -(-effort.runs // len(groups))
    right, regrets, pulls, switches = [], [], [], []
    for number, (best, start) in enumerate(groups):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AfterglowWarning)  # a history's totals may exceed reward_max
            outcome = simulate(
                policy_of(candidate, scenario), scenario.world(best, start), scenario.horizon, runs, effort.seed,
                candidate.options, threads=effort.threads, recommend=True, season=scenario.align, first=number * runs,
            )  # fmt: skip
        assert outcome.recommended is not None
        right.append(outcome.recommended == best)
        regrets.append(outcome.regrets)
        pulls.append(np.roll(outcome.pulls, -best, axis=1))
        switches.append(outcome.switches)
    first = first_hold(candidate, scenario)
    return Trial(
        candidate, scenario.align, np.concatenate(right), np.concatenate(regrets), np.concatenate(pulls),
        float(np.concatenate(switches).mean()), first, scenario.told,
    )  # fmt: skip


def policy_of(candidate: Candidate, scenario: Scenario) -> Policy[Any, Any]:
    """The policy as it plays in this scenario: without proof where expected totals are taken out."""
    policy = candidate.policy
    return without_proof(policy) if scenario.adjusted and "proof" in policy.options() else policy


def fits_scenario(candidate: Candidate, scenario: Scenario) -> bool:
    """Whether the policy takes adjusted totals, if there are any; schedules do."""
    return not scenario.adjusted or candidate.policy.adjustable or not candidate.usable


def places(arms: int) -> list[int]:
    """The arms that are the best in turn: all, or a selection of many."""
    if arms <= MOST_PLACES:
        return list(range(arms))
    return sorted({round(i * (arms - 1) / (MOST_PLACES - 1)) for i in range(MOST_PLACES)})


def first_hold(candidate: Candidate, scenario: Scenario) -> int:
    """Steps on the first arm before another is tried."""
    policy = seasonal(policy_of(candidate, scenario), scenario.align)
    settings = policy.settings(scenario.arms, scenario.window, scenario.horizon, candidate.options)
    state, clock = policy.start(settings), 0
    while clock < scenario.horizon:
        arm, steps, split = policy.next_hold(settings, state, [0.0] * policy.draws)
        if arm != 0:
            break
        steps = min(steps, scenario.horizon - clock)
        split = min(split, steps)
        policy.learn(settings, state, arm, steps, split, scenario.mean * split, scenario.mean * (steps - split))
        clock += steps
    return clock
