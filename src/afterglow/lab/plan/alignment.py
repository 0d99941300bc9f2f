"""Choose how an experiment allows for a cycle, by simulating all ways that fit.

Holds of whole weeks are not affected by weekends, but a short experiment has few of them; holds of whole days are more
numerous, but weekends are distributed unevenly over the arms. A policy that is told the profile of the week needs no
whole cycles, and has the error of the profile instead. Simulation shows which is best. `random-turns`, which learns the
season while it runs, is kept unless another promises much more (`rule`).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from afterglow.errors import TOO_SHORT, BadValue
from afterglow.lab.plan.rule import EARNING, KNOWING, SURE, Rule, decide, learns_demand, promises_much_more
from afterglow.lab.plan.scenario import Scenario
from afterglow.lab.plan.schedules import schedules
from afterglow.lab.plan.trials import Effort, Trial, candidates, fits_scenario, fitted, trial

SLACK = 0.03  # the best arm may be found this much less often if less is lost


@dataclass(frozen=True)
class Alignment:
    """The trials with holds of whole cycles of one length, or with a profile."""

    scenario: Scenario
    trials: list[Trial]
    chosen: Trial
    rule: Rule
    notes: list[str]  # of candidates that were left out


def compare_alignments(
    scenario: Scenario, known: bool, effort: Effort, purpose: str
) -> tuple[Alignment, list[Alignment], list[str]]:
    """The best alignment, all that were simulated, and a note on cycles that are too long."""
    found = []
    for aligned in ways(scenario):
        words: list[str] = []
        trials = played(aligned, known, effort, words)
        found.append(Alignment(aligned, trials, *decide(aligned, trials, purpose), words))
    return preferred(found, purpose), found, too_long(scenario)


def ways(scenario: Scenario) -> list[Scenario]:
    """The scenario with whole cycles of each length, and with the profile told, if there is one."""
    found = [scenario.aligned(steps) for steps in lengths(scenario)]
    if scenario.history is not None and scenario.season > 1 and scenario.forecast is None:
        found.append(scenario.expecting())
    return found


def lengths(scenario: Scenario) -> list[int]:
    """The lengths of cycles that fit for every arm, the longest first; without a history, the given one."""
    if scenario.history is None:
        return [scenario.season]
    return [steps for steps in sorted(scenario.history.noises, reverse=True) if fits(steps, scenario)]


def fits(steps: int, scenario: Scenario) -> bool:
    """Whether every arm can be held for a washout and one cycle."""
    return steps == 1 or scenario.arms * (steps + scenario.window - 1) <= scenario.horizon


def too_long(scenario: Scenario) -> list[str]:
    """A note if the full cycle can't be counted."""
    if scenario.history is None or fits(scenario.season, scenario):
        return []
    needed = scenario.arms * (scenario.season + scenario.window - 1)
    return [
        f"whole cycles of {scenario.season:,} steps are too long for every arm to have one in {scenario.horizon:,} "
        f"steps; that takes {needed:,}"
    ]


def preferred(alignments: list[Alignment], purpose: str = EARNING) -> Alignment:
    """The one with the smallest loss among those that find the best arm most often; ties go to longer cycles.

    The one that learns demand while it runs stays unless others promise much more. For knowing, the one whose exact
    test calls the best arm most often.
    """
    if purpose == KNOWING and any(each.chosen.tested is not None for each in alignments):
        return max(alignments, key=lambda each: each.chosen.power or 0.0)
    steady = next((each for each in alignments if learns_demand(each.chosen, each.scenario)), None)
    if steady is not None:
        more = [each for each in alignments if promises_much_more(each.chosen, steady.chosen, each.scenario)]
        alignments = more or [steady]
    enough = min(SURE, max(each.chosen.found for each in alignments) - SLACK)
    fit = [each for each in alignments if each.chosen.found >= enough]
    best = fit[0]  # the longest
    for each in fit[1:]:
        error = math.hypot(each.chosen.lost_error, best.chosen.lost_error)
        if each.chosen.lost < best.chosen.lost - 2 * error:
            best = each
    return best


def played(scenario: Scenario, known: bool, effort: Effort, notes: list[str]) -> list[Trial]:
    """The trials of all candidates that fit."""
    found = []
    for candidate in [*candidates(scenario, known), *schedules(scenario, effort)]:
        if not fits_scenario(candidate, scenario):
            continue
        cycles = f" in whole cycles of {scenario.align:,}" if scenario.align > 1 else ""
        cycles += " with the profile" if scenario.told else ""
        effort.report(f"{candidate.title}{cycles}")
        try:
            found.append(trial(candidate, scenario, effort))
        except BadValue as problem:
            if problem.kind != TOO_SHORT:
                raise
            notes.append(f"{candidate.title} was left out: {problem}")
    return found


def best_found(used: Trial, effort: Effort) -> Callable[[Scenario], float]:
    """How often the chosen policy finds the best arm in another scenario, with the better alignment."""
    return lambda scenario: best_trial(used, scenario, effort).found


def best_trial(used: Trial, scenario: Scenario, effort: Effort) -> Trial:
    """The chosen policy with the same alignment or the full cycle, whichever finds the best arm more often."""
    trials = []
    steps_ = sorted({used.align, max(lengths(scenario))})
    others = [scenario.expecting()] if used.told else [scenario.aligned(steps) for steps in steps_]
    for aligned in others:
        try:
            trials.append(trial(fitted(used.candidate, aligned), aligned, effort))
        except BadValue as problem:
            refused = problem
    if not trials:
        raise refused
    return max(trials, key=lambda each: each.found)
