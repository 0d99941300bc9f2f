r"""The rule of thumb that a plan starts from, and the choice of a policy by simulation.

With K arms, window d, horizon T, mean m, relative gap g and variance v of one pull,

    q = T (g m)^2 / (2 K v)                                  evidence per arm
    s = (4 K (d - 1) / g + 2 K v log T / (g m)^2) / T        share of the horizon that decisions by proof need

With q below 1 the experiment can't work, below 3 it is a gamble (about 70 % right), from 10 on about 99 % right. The
policy is the default one, `thrift-ucb`, unless another is clearly better; with s above 0.1 its decisions rest on
ordinary statistics most of the time, which assume that effects arrive alike.

With the season of a history it is `random-turns`, the default then. It learns level and season while it runs. The
others trust that demand goes on as it was, and a history doesn't show the holiday that comes, so they must promise much
more: `MORE` in the share found plus the share captured of what the best arm brings beyond the others
(`bench/demand/plan_choice.py`).
"""

import math
from dataclasses import dataclass

from afterglow.errors import TOO_SHORT, BadValue
from afterglow.lab.plan.scenario import Scenario
from afterglow.lab.plan.trials import Trial
from afterglow.policies.default import IN_SEASON
from afterglow.policies.registry import DEFAULT

SURE = 0.95
MORE = 0.2  # that another candidate must promise than random-turns, found plus captured, with a history
EARNING, KNOWING = "earning", "knowing"
PURPOSES = (EARNING, KNOWING)  # of an experiment


@dataclass(frozen=True)
class Rule:
    """The rule of thumb, evaluated."""

    q: float
    s: float
    policy: str
    says: str
    confirmed: bool  # by the simulation


def decide(scenario: Scenario, trials: list[Trial], purpose: str = EARNING) -> tuple[Trial, Rule]:
    """The chosen trial and the rule of thumb: the default policy, unless the simulation has a clearly better one.

    For knowing, it is the schedule whose exact test calls the best arm most often, if one fits.
    """
    if not trials:
        raise BadValue(
            f"no policy can be played with {scenario.arms:,} arms, a window of {scenario.window:,} and a season of "
            f"{scenario.align:,} in {scenario.horizon:,} steps; lengthen the horizon",
            kind=TOO_SHORT,
            field="horizon",
        )
    schedules = [each for each in trials if each.tested is not None]
    if purpose == KNOWING and schedules:
        told = max(schedules, key=lambda each: (each.power, -each.lost))
        return told, rule_of(scenario, told, trials)
    chosen = choose(trials)
    steady = next((each for each in trials if learns_demand(each, scenario)), None)
    if steady is not None and not promises_much_more(chosen, steady, scenario):
        return steady, rule_of(scenario, steady, trials, IN_SEASON)
    rule = rule_of(scenario, chosen, trials, DEFAULT if steady is None else IN_SEASON)
    own = (each for each in trials if each.candidate.name == rule.policy)
    return next(own) if rule.confirmed else chosen, rule


def choose(trials: list[Trial]) -> Trial:
    """The trial with the smallest loss among those that find the best arm often enough."""
    top = max(trials, key=lambda each: each.found)
    slack = 0.02 + 2 * math.sqrt(max(0.0, top.found * (1 - top.found)) / top.right.size)
    enough = min(SURE, top.found - slack)
    return min((each for each in trials if each.found >= enough), key=lambda each: each.lost)


def learns_demand(each: Trial, scenario: Scenario) -> bool:
    """Whether it is the policy that learns the season of a history anew while it runs."""
    return scenario.history is not None and each.candidate.name == IN_SEASON


def promises_much_more(each: Trial, steady: Trial, scenario: Scenario) -> bool:
    """Whether it finds and captures so much more that it is worth to trust that demand goes on as it was."""
    possible = scenario.gain * scenario.horizon
    return (each.found - each.lost / possible) - (steady.found - steady.lost / possible) > MORE


def rule_of(scenario: Scenario, chosen: Trial, trials: list[Trial], policy: str = DEFAULT) -> Rule:
    """The rule of thumb, and whether the simulation confirms it: no other loses clearly less or finds clearly more."""
    K, T, v, gain = scenario.arms, scenario.horizon, scenario.noise**2, scenario.gain
    q = T * gain**2 / (2 * K * v) if v > 0 else math.inf
    s = (4 * K * (scenario.window - 1) / scenario.gap + 2 * K * v * math.log(T) / gain**2) / T
    short = scenario.horizon < 2 * K * scenario.window
    says = "don't run it" if q < 1 else "a gamble" if q < 3 else "it can work" if q < 10 else "it works"
    if short:
        says = "too short to try every arm for two windows"
    own = next((each for each in trials if each.candidate.name == policy), None)
    return Rule(min(q, 1e9), s, policy, says, own is not None and (own is chosen or as_good(own, chosen)))


def as_good(one: Trial, other: Trial) -> bool:
    """Whether one is as good as another within the simulation error."""
    error = math.hypot(one.lost_error, other.lost_error)
    return one.lost - other.lost < 2 * error and one.found > other.found - 0.03
