"""Randomised schedules as candidates of a plan: to the end, and until half the horizon, with the best length of turns.

The counted steps of a turn are half a window, a window, two windows or a cycle: whichever lets the exact test call the
best arm most often, by a short simulation. A tie goes to the one that finds it more often.
"""

from afterglow.errors import TOO_SHORT, BadValue
from afterglow.lab.plan.scenario import Scenario
from afterglow.lab.plan.trials import SCHEDULE, Candidate, Effort, trial

COARSE = 150  # runs for the choice of a length


def schedules(scenario: Scenario, effort: Effort) -> list[Candidate]:
    """The schedule to the end, and the one until half the horizon; without lengths that leave too few blocks."""
    found = []
    coarse = Effort(min(effort.runs, COARSE), effort.seed, effort.threads, effort.report)
    for until in (None, scenario.horizon // 2):
        options = [{"hold": hold} | ({} if until is None else {"until": until}) for hold in lengths(scenario)]
        best, most = Candidate(SCHEDULE, options[0]), (-1.0, -1.0)
        for given in options:
            try:
                tried = trial(Candidate(SCHEDULE, given), scenario, coarse)
            except BadValue as problem:
                if problem.kind != TOO_SHORT:
                    raise
                continue
            if (tried.power or 0.0, tried.found) > most:
                best, most = tried.candidate, (tried.power or 0.0, tried.found)
        found.append(best)
    return found


def lengths(scenario: Scenario) -> list[int]:
    """Counted steps of a turn that are compared, in whole cycles if holds are aligned to them."""
    window, align = scenario.window, scenario.align
    asked = {max(1, window // 2), window, 2 * window, scenario.season if scenario.season > 1 else window}
    return sorted({align * -(-hold // align) for hold in asked})
