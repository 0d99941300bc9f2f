"""Simulated experiments with known truth: how often an agent's intervals and grades are right.

A `CoverageWorld` draws rewards with exact means and standard deviations (Beta laws, or yes/no), spreads them over the
window, and adds an income that no arm causes: level, trend, season, noise that lingers. `play` runs an `Agent` in it
and looks at the verdict every ten steps. Shared by the tests and `bench/answers/interval_coverage.py`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from afterglow import Agent
from afterglow.errors import AfterglowError
from afterglow.estimation.batch_means import Batches, Washed
from afterglow.estimation.noise import FADED, noise, scatter
from afterglow.estimation.verdict import is_clear, judge
from testbed.quick_agent import follow, open_hold

EVERY = 10  # steps between two looks
OFTEN = ("switchback", "random-turns")  # policies whose arms take turns often
Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Law:
    """Rewards of one arm: a Beta law within [0, 1], or yes/no if `sd` is None."""

    mean: float
    sd: float | None = 0.15

    def draw(self, random: np.random.Generator, size: int) -> Floats:
        if self.sd is None:
            return (random.random(size) < self.mean).astype(float)
        concentration = self.mean * (1 - self.mean) / self.sd**2 - 1
        return random.beta(self.mean * concentration, (1 - self.mean) * concentration, size)

    @property
    def variance(self) -> float:
        return self.mean * (1 - self.mean) if self.sd is None else self.sd**2


def normal(sd: float, *means: float) -> tuple[Law, ...]:
    return tuple(Law(mean, sd) for mean in means)


def yes_no(*means: float) -> tuple[Law, ...]:
    return tuple(Law(mean, None) for mean in means)


@dataclass(frozen=True)
class CoverageWorld:
    """One row of the table; arms are shuffled in each run."""

    name: str
    laws: tuple[Law, ...]
    window: int = 6
    steps: int = 600
    spread: str = "uniform"
    level: float = 0.0  # income that no arm causes
    correlation: float = 0.0  # of its noise, from step to step
    noise: float = 0.0  # standard deviation of that
    trend: float = 0.0  # growth of the level over all steps, as a share of all income at the start
    period: int = 0  # of a sine
    swing: float = 0.0  # its amplitude
    told: str = ""  # "season": the period is known, "profile": the whole cycle is
    scale: float = 1.0  # unit of totals: reward_max
    believed: int = 0  # the window that the agent is told, if it isn't the true one
    overstated: float = 1.0  # times the true one: the reward_max that the agent is told
    change: Callable[["CoverageWorld", np.random.Generator, Floats], Floats] | None = None  # to the income
    factor: Callable[["CoverageWorld", np.random.Generator], Floats] | None = None  # by which rewards are multiplied

    def weights(self) -> Floats:
        """What arrives of a reward in each step of its window."""
        weights = np.zeros(self.window)
        if self.spread == "uniform":
            weights += 1 / self.window
        elif self.spread == "ends":  # a batch shows least of this one
            weights[0] += 0.5
            weights[-1] += 0.5
        else:
            weights[-1] += 1
        return weights

    def income(self, random: np.random.Generator) -> Floats:
        time = np.arange(self.steps)
        fresh = random.normal(size=self.steps) * math.sqrt(1 - self.correlation**2)
        fresh[0] = random.normal()
        noise = np.empty(self.steps)
        value = 0.0
        for step, new in enumerate(fresh.tolist()):
            value = self.correlation * value + new
            noise[step] = value
        grown = self.trend * (self.level + self.laws[0].mean) * time / self.steps
        found = self.level + grown + self.noise * noise + self.cycle()
        return found if self.change is None else self.change(self, random, found)

    def cycle(self) -> Floats:
        if not self.period:
            return np.zeros(self.steps)
        return self.swing * np.sin(2 * math.pi * np.arange(self.steps) / self.period)

    def agent(self, policy: str, seed: int) -> Agent:
        """The agent that plays; a policy may be followed by its aim: "thrift-ucb, knowing"."""
        policy, _, aim = policy.partition(", ")
        given: dict[str, Any] = {"aim": aim} if aim else {}
        if self.told == "season":
            given["season"] = self.period
        if self.told == "profile":
            given["profile"] = [float(self.scale * value) for value in self.level + self.cycle()[: self.period]]
        window = self.believed or self.window
        largest = self.overstated * self.scale
        return Agent(len(self.laws), window, self.steps, policy, seed=seed, reward_max=largest, **given)

    def possible(self, policy: str) -> bool:
        """Whether the policy can play here; `random-turns` is the default where a season is told, and only there."""
        if policy == "random-turns" and self.told != "season":
            return False
        try:
            self.agent(policy, 1)
        except AfterglowError:  # too short for it, or nothing can be taken out of its totals
            return False
        return True


@dataclass
class Result:
    """One run."""

    wrong_clear: bool = False
    wrong_proven: bool = False
    alarm: bool = False
    wrong_alarm: bool = False  # one that doesn't name noise that lingers
    clear_at: int = 0  # first look that was clear, 0 if none
    clear_before_half: bool = False
    clear: bool = False  # at the end
    proven: bool = False
    oracle: bool = False  # a z-test with known variances at the end
    held: bool | None = None  # the interval at the end, against the runner-up; None if it is missing
    held_control: bool | None = None
    best_found: bool = False
    told: bool = False  # whether there is such an interval
    lingers: bool = False
    reason: str = ""


def play(
    world: CoverageWorld,
    policy: str,
    seed: int,
    every: int = EVERY,
    power: bool = False,
    watch: Callable[[Agent, list[float]], None] | None = None,
) -> Result:
    """One run; `power` looks also where a grade can't be wrong, to tell when it was first clear.

    `watch` is given the agent at the end, and the true means of its arms.
    """
    random = np.random.default_rng([seed, 20260])
    laws = [world.laws[place] for place in random.permutation(len(world.laws))]
    rewards = np.array([law.draw(random, world.steps) for law in laws])
    if world.factor is not None:
        rewards *= world.factor(world, random)
    coming = np.zeros(world.steps + world.window)
    coming[: world.steps] = world.income(random)
    weights, window = world.weights(), world.window
    agent = world.agent(policy, seed)
    found = Result()
    top = max(law.mean for law in laws)
    best = [law.mean == top for law in laws]
    unique = sum(best) == 1
    arms = agent.arms
    most = agent.window * agent.reward_max  # larger totals are refused
    learned, chosen = -1, 0  # holds that were learned: between them nothing else is recommended
    step = 0
    while step < world.steps:
        hold = open_hold(agent)
        end = step + hold.steps
        for lag in range(window - 1, -1, -1):  # the earliest pulls first: sums are those of step after step
            coming[step + lag : end + lag] += rewards[hold.arm, step:end] * weights[lag]
        totals = [min(most, max(0.0, world.scale * total)) for total in coming[step:end].tolist()]
        while step < end:
            stop = min(end, step - step % every + every)
            follow(agent, hold, totals[step - end :][: stop - step])
            step = stop
            if step % every == 0 and step < world.steps:
                if learned != agent._runner.opened or learned < 1:
                    learned, chosen = agent._runner.opened, arms.index(agent.recommend())
                look(agent, chosen, found, not (unique and best[chosen]), power and not found.clear_at)
    conclude(world, agent, laws, found, unique)
    if watch is not None:
        watch(agent, [law.mean for law in laws])
    return found


def look(agent: Agent, chosen: int, found: Result, wrong: bool, power: bool) -> None:
    """What would be said now: whether that is wrong."""
    arms = tuple(range(len(agent.arms)))
    intervals = [agent._bounds.interval(arm) for arm in arms]
    contradicts = any(low > high for low, high in intervals)
    apart = all(intervals[chosen][0] > intervals[arm][1] for arm in arms if arm != chosen)
    promising = (wrong or power) and (agent.policy.name in OFTEN or ahead(agent, chosen))
    if not (contradicts or apart or promising):
        return
    compared = agent._compared()
    if contradicts:
        found.alarm = True
        found.wrong_alarm |= compared.lingers is None
        return
    if is_clear(compared, chosen, arms, agent.confidence):
        found.clear_at = found.clear_at or agent.step
        found.wrong_clear |= wrong
        found.wrong_proven |= wrong and apart and compared.lingers is None


def ahead(agent: Agent, chosen: int) -> bool:
    """Whether the arm's washed mean is two standard errors above every other, without which it is never clear.

    That saves most of the time where arms are equal. It isn't so where arms take turns often and noise lingers: then
    what they share cancels out.
    """
    batches = agent._bounds.batches
    arms = batches.arms
    best = arms[chosen]
    if not all(washed.steps for washed in arms):
        return False
    level, least = best.total / best.steps, least_noise(best, batches) / best.steps
    gaps = [level - washed.total / washed.steps for washed in arms]
    for arm, (gap, washed) in enumerate(zip(gaps, arms, strict=True)):
        if arm != chosen and (gap < 0 or gap * gap < 3.99 * (least + least_noise(washed, batches) / washed.steps)):
            return False  # without the whole estimate of noise, which is larger
    noises = noise(batches)
    if noises is None:
        return False
    for arm, (gap, washed) in enumerate(zip(gaps, arms, strict=True)):
        error = math.sqrt(noises[arm].value / washed.steps + noises[chosen].value / best.steps)
        if arm != chosen and gap < 2 * error:
            return False
    return True


def least_noise(washed: Washed, batches: Batches) -> float:
    """What the noise of an arm is at least: its own scatter once that counts alone."""
    squares, freedom = scatter(washed, batches)
    return squares / freedom if freedom >= FADED else 0.0


def conclude(world: CoverageWorld, agent: Agent, laws: list[Law], found: Result, unique: bool) -> None:
    """The last look, with the verdict itself."""
    compared, arms = agent._compared(), tuple(range(len(laws)))
    verdict = judge(agent.estimates(), compared, agent.recommend(), 0, over=True)  # without the test of a schedule
    assert verdict.recommended is not None
    assert verdict.to_runner_up is not None
    means = [world.scale * law.mean for law in laws]
    place = list(agent.arms)
    chosen = place.index(verdict.recommended)
    wrong = not (unique and means[chosen] == max(means))
    found.best_found = means[chosen] == max(means)
    found.alarm |= verdict.alarm is not None
    found.wrong_alarm |= verdict.alarm is not None and verdict.lingers is None
    found.proven = verdict.grade == "proven"
    found.clear = verdict.alarm is None and (
        found.proven or is_clear(compared, chosen, arms, agent.confidence, fixed_end=True)
    )
    found.clear_at = found.clear_at or (world.steps if found.clear else 0)
    found.clear_before_half = 0 < found.clear_at <= world.steps // 2
    found.wrong_clear |= wrong and found.clear
    found.wrong_proven |= wrong and found.proven
    found.lingers = verdict.lingers is not None
    row = verdict.to_runner_up
    if row.mean is None or row.low is None or row.high is None:
        found.reason = row.missing or ""
    else:
        other = place.index(row.other)
        found.held = row.low <= means[chosen] - means[other] <= row.high
        found.told = True
        steps = [washed.steps for washed in agent._bounds.batches.arms]
        if steps[chosen] and steps[other]:
            error = math.sqrt(sum(laws[one].variance / steps[one] for one in (chosen, other))) * world.scale
            found.oracle = row.mean > 1.959964 * error
    control = verdict.to_control
    if control is not None and control.low is not None and control.high is not None:
        found.held_control = control.low <= means[chosen] - means[0] <= control.high
