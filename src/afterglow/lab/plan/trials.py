"""Simulations of candidate policies in a scenario, with each arm as the best in turn."""

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterglow.engine.simulate import simulate
from afterglow.errors import AfterglowWarning
from afterglow.expected import without_proof
from afterglow.lab.plan.power import Marks, calls_best
from afterglow.lab.plan.scenario import Scenario
from afterglow.policies.default import IN_SEASON
from afterglow.policies.policy import Policy
from afterglow.policies.registry import DEFAULT, named
from afterglow.policies.season import seasonal

Numbers = NDArray[np.float64]
SCHEDULE = "switchback"
MOST_PLACES = 6  # for the best arm among many
FEW = 8  # runs of a best arm and a start, below which not all pairs of them are played
Z = 1.959963984540054


@dataclass(frozen=True)
class Candidate:
    """A policy with its settings."""

    name: str
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def policy(self) -> Policy[Any, Any]:
        return named(self.name)

    @property
    def title(self) -> str:
        """Its name, and how long a schedule lasts."""
        return f"{self.name} to half" if "until" in self.options else self.name


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
    tested: Marks | None = None  # whether the exact test called the best arm, if there is such a test

    @property
    def power(self) -> float | None:
        """How often the exact test calls the best arm."""
        return None if self.tested is None else float(self.tested.mean())

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
    sure: dict[str, Any] = {"noise": noise_setting(scenario)} if noise_known else {}
    found = [
        Candidate(DEFAULT, sure),
        Candidate("trim-ucb", {"variance": "estimated"}),
        Candidate("lean-ucb", sure),
        Candidate("washout-ucb"),
    ]
    if 1 < scenario.season == scenario.align:
        found.insert(0, Candidate(IN_SEASON))
    return found


def noise_setting(scenario: Scenario) -> float:
    """The noise of one pull as a policy's setting."""
    return min(float(f"{scenario.noise:.3g}"), 0.5)


def fitted(candidate: Candidate, scenario: Scenario) -> Candidate:
    """The candidate with the noise and half the horizon of this scenario, if it has such settings."""
    own = {"noise": noise_setting(scenario), "until": scenario.horizon // 2}
    options = {name: own.get(name, value) for name, value in candidate.options.items()}
    return Candidate(candidate.name, options)


def trial(candidate: Candidate, scenario: Scenario, effort: Effort) -> Trial:
    """Simulate a candidate with every arm as the best in turn, starting at phases spread over the cycle."""
    groups = groups_of(scenario, effort.runs // FEW)
    runs = -(-effort.runs // len(groups))
    right, regrets, pulls, switches, tested = [], [], [], [], []
    keep = "means" if candidate.name == SCHEDULE else None
    for number, (best, start) in enumerate(groups):
        with unwarned():
            outcome = simulate(
                policy_of(candidate, scenario), scenario.world(best, start), scenario.horizon, runs, effort.seed,
                candidate.options, threads=effort.threads, recommend=True, season=scenario.align,
                first=number * runs, keep=keep,
            )  # fmt: skip
        assert outcome.recommended is not None
        right.append(outcome.recommended == best)
        regrets.append(outcome.regrets)
        pulls.append(np.roll(outcome.pulls, -best, axis=1))
        switches.append(outcome.switches)
        if outcome.kept is not None:
            tested.append(calls_best(outcome.kept.reshape(runs, -1, scenario.arms), best))
    first = first_hold(candidate, scenario)
    return Trial(
        candidate, scenario.align, np.concatenate(right), np.concatenate(regrets), np.concatenate(pulls),
        float(np.concatenate(switches).mean()), first, scenario.told, np.concatenate(tested) if tested else None,
    )  # fmt: skip


def groups_of(scenario: Scenario, most: int) -> list[tuple[int, int]]:
    """Pairs of a best arm and a start: all of them, or, if `most` is less, few that have every arm and every start."""
    arms, starts = places(scenario.arms), scenario.starts
    if len(arms) * len(starts) <= most:
        return [(best, start) for best in arms for start in starts]
    count = len(arms) * -(-len(starts) // len(arms))
    return [(arms[place % len(arms)], starts[place % len(starts)]) for place in range(count)]


def policy_of(candidate: Candidate, scenario: Scenario) -> Policy[Any, Any]:
    """The policy as it plays in this scenario: without proof where expected totals are taken out."""
    policy = candidate.policy
    return without_proof(policy) if scenario.adjusted and "proof" in policy.options() else policy


def fits_scenario(candidate: Candidate, scenario: Scenario) -> bool:
    """Whether the policy takes adjusted totals, if there are any."""
    return not scenario.adjusted or candidate.policy.adjustable


@contextmanager
def unwarned() -> Iterator[None]:
    """Without the warnings that few blocks give no small p-value, and that a history's totals exceed reward_max."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AfterglowWarning)
        yield


def places(arms: int) -> list[int]:
    """The arms that are the best in turn: all, or a selection of many."""
    if arms <= MOST_PLACES:
        return list(range(arms))
    return sorted({round(i * (arms - 1) / (MOST_PLACES - 1)) for i in range(MOST_PLACES)})


def first_hold(candidate: Candidate, scenario: Scenario) -> int:
    """Steps on the first arm before another is tried."""
    policy = seasonal(policy_of(candidate, scenario), scenario.align)
    with unwarned():
        settings = policy.settings(scenario.arms, scenario.window, scenario.horizon, candidate.options)
    state, clock = policy.start(settings), 0
    reads = policy.reads(scenario.arms)
    if reads:
        return min(policy.next_hold(settings, state, [0.0] * reads)[1], scenario.horizon)
    while clock < scenario.horizon:
        arm, steps, split = policy.next_hold(settings, state, [])
        if arm != 0:
            break
        steps = min(steps, scenario.horizon - clock)
        split = min(split, steps)
        policy.learn(settings, state, arm, steps, split, scenario.mean * split, scenario.mean * (steps - split))
        clock += steps
    return clock
