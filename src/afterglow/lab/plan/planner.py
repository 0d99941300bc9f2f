r"""Plan an experiment: simulate candidate policies before it starts.

A plan starts from a rule of thumb (`rule`), builds a world with the expected level, noise and cycle (`scenario`), and
simulates the candidates in it with every arm as the best in turn (`trials`) and with holds of whole cycles of all
lengths that fit (`alignment`); the simulation decides. The smallest gap and the shortest horizon are found by bisection
(`search`), with the same random numbers at every point.

>>> from afterglow.lab.plan.planner import plan
>>> small = plan(arms=2, window=4, horizon=400, gap=0.2, mean=0.5, noise=0.1, runs=60)
>>> small.verdict
'yes'
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any

from afterglow.checks import at_most, choice, whole
from afterglow.lab.history.estimate import History
from afterglow.lab.plan.alignment import Alignment, best_found, best_trial, compare_alignments
from afterglow.lab.plan.answer import CONFIDENCE, Plan, StandsOut, Tried
from afterglow.lab.plan.grades import grades_of
from afterglow.lab.plan.inputs import PlanInputs, scenario_of
from afterglow.lab.plan.past_totals import HistorySummary, Past, source_of, summarised_history
from afterglow.lab.plan.proof import proof_of
from afterglow.lab.plan.rule import EARNING, PURPOSES
from afterglow.lab.plan.scenario import Scenario
from afterglow.lab.plan.search import gap_search, horizon_search
from afterglow.lab.plan.text import (
    agent_of,
    answer,
    how_graded,
    how_it_ends,
    live_of,
    outlier_advice,
    profile_of,
    reason,
    what_helps,
    what_is_proved,
    what_is_tested,
    why_season,
)
from afterglow.lab.plan.trials import Effort, Trial, trial
from afterglow.lab.plan.verdict import LEVELS, verdict_of

__all__ = ["Plan", "plan"]

WORK = 16_000_000  # steps that one point of a search may simulate, over all its runs
SEARCH_RUNS = 300
LONG = 10_000_000  # steps that one candidate may simulate, over all its runs
FEWEST = 40  # runs at least
MOST_RUNS = 20_000
MOST_ARMS = 200
UNSHOWN = ("rest", "maybe", "expected", "drift")  # of a history: the noise itself, and what is in a note


def plan(
    arms: int,
    window: int,
    horizon: int,
    gap: float,
    mean: float | None = None,
    noise: float | None = None,
    season: int | None = None,
    swing: float | None = None,
    history: Past | None = None,
    reading: Mapping[str, str] | None = None,
    reward_max: float | None = None,
    spread: str = "uniform",
    runs: int = 600,
    seed: int = 1,
    threads: int | None = None,
    progress: Callable[[float, str], None] | None = None,
    purpose: str = EARNING,
) -> Plan:
    """Simulate an experiment before it starts.

    One arm is better than the others by `gap`, relative to `mean`. `noise` is the standard deviation of one pull's
    reward; the default is the largest possible. A `season` is a sine of amplitude `swing`, 0.2 by default. `history`
    has past totals, as a list, a CSV file or `Totals`; mean, noise and season are estimated from it. `reading` says how
    to read a file: `step`, `column`, `decimal`, `zone`, `missing` and `expected` of `read_totals`. `purpose` is
    `earning` (lose little) or `knowing` (a schedule whose exact test tells).
    """
    choice("purpose", purpose, PURPOSES)
    asked = PlanInputs(
        at_most("arms", whole("arms", arms, 2), MOST_ARMS, "in a plan"), whole("window", window, 1, "1 = paid at once"),
        whole("horizon", horizon, 1), gap,
        mean, noise, season, swing, reward_max, spread,
    )  # fmt: skip
    source = source_of(history, reading)
    past = None if history is None else summarised_history(history, season, window, reading or {})
    notes = [] if past is None else list(past.notes)
    scenario = scenario_of(asked, None if past is None else past.history, notes)
    if past is not None and past.forecast is not None:
        scenario = replace(scenario, forecast=past.forecast)
    times = fewer(whole("runs", runs, 2), scenario.horizon, notes)
    effort = Effort(times, whole("seed", seed, 0), threads, EstimatedProgress(progress))
    return decided(scenario, effort, past is not None or noise is not None, past, source, notes, purpose)


def fewer(runs: int, horizon: int, notes: list[str]) -> int:
    """Runs of a candidate: fewer than requested where the horizon is long, to limit the time."""
    most = min(max(FEWEST, LONG // horizon), MOST_RUNS)
    if runs > most:
        why = "because the horizon is long" if most < MOST_RUNS else "the most that a plan simulates"
        notes.append(f"{most:,} runs are simulated instead of {runs:,}, {why}")
    return min(runs, most)


def decided(
    asked: Scenario,
    effort: Effort,
    known: bool,
    past: HistorySummary | None,
    source: dict[str, str] | None,
    notes: list[str],
    purpose: str,
) -> Plan:
    """The plan that follows from the trials."""
    best, alignments, refused = compare_alignments(asked, known, effort, purpose)
    chosen, scenario, unit = best.chosen, best.scenario, asked.reward_max
    seconds = None if past is None else past.step_seconds
    schedule = schedule_of(past) if scenario.told else {}
    graded = grades_of(chosen, scenario, effort)
    verdict, proof = verdict_of(chosen.found, scenario.arms), proof_of(chosen, scenario, graded)
    others = [each.chosen for each in alignments if each is not best]
    out = None if past is None else outlier_effect(past, chosen, scenario, effort)
    return Plan(
        verdict=verdict, answer=answer(verdict, scenario, chosen),
        ending=how_it_ends(graded, chosen.found), policy=chosen.candidate.name,
        settings=chosen.candidate.options, season=scenario.align,
        profile=profile_of(scenario) if scenario.told else None, forecast=scenario.forecast,
        agent=agent_of(scenario, chosen.candidate),
        live=live_of(scenario, chosen.candidate, schedule), profile_from=schedule.get("profile_from"),
        first_hold=chosen.first_hold, found=chosen.found,
        found_interval=chosen.interval(), found_range=promise_range(chosen, scenario, effort), confidence=CONFIDENCE,
        proved=proof.share, proved_runs=proof.runs, proof=what_is_proved(proof, chosen.found),
        grades=graded.ends, graded_runs=graded.runs, sure_after=graded.sure_after,
        verdicts=how_graded(graded, seconds), lost=chosen.lost * unit,
        lost_share=chosen.lost / (scenario.horizon * (scenario.mean + scenario.gain)),
        purpose=purpose, tested=chosen.power, testing=what_is_tested(chosen, best.trials, unit),
        lost_by_schedule=scenario.gain * scenario.horizon * (scenario.arms - 1) / scenario.arms * unit,
        switches=chosen.switches, **searched(best, verdict, effort, seconds, outlier_advice(out, chosen.found)),
        rule=best.rule,
        why=reason(chosen, best.trials, best.rule, unit, purpose), why_season=why_season(chosen, others, unit, seconds),
        candidates=[tried(each, unit) for each in best.trials],
        seasons=[tried(each.chosen, unit) for each in alignments], arms=scenario.arms, window=scenario.window,
        horizon=scenario.horizon, gap=scenario.gap, mean=scenario.mean * unit, noise=scenario.noise * unit,
        noise_range=None if past is None else (past.history.pull.low, past.history.pull.value, past.history.pull.high),
        noise_known=known, cycle=scenario.season,
        swing=scenario.swing if past is None and scenario.season > 1 else None, reward_max=unit,
        spread=scenario.spread, history=None if past is None else shown(past.history),
        read=None if past is None else past.read, step_seconds=seconds,
        stands_out=out, source=source,
        notes=[*notes, *refused, *best.notes], runs=effort.runs, seed=effort.seed,
    )  # fmt: skip


def schedule_of(past: HistorySummary | None) -> dict[str, float]:
    """The length of a step and the time of the profile's first number, if the history has them."""
    if past is None or past.step_seconds is None or past.begins is None or past.begins < 0:
        return {}
    return {"step_seconds": past.step_seconds, "profile_from": past.begins}


def searched(best: Alignment, verdict: str, effort: Effort, seconds: float | None, advice: list[str]) -> dict[str, Any]:
    """The smallest gap, the shortest horizon, and advice if it is needed."""
    scenario, chosen = best.scenario, best.chosen
    coarse = Effort(min(effort.runs, SEARCH_RUNS), effort.seed, effort.threads, effort.report)
    tried_out = max(scenario.horizon, 2 * scenario.arms * scenario.window)
    longest = max(scenario.horizon, min(64 * tried_out, WORK // coarse.runs))
    play = best_found(chosen, coarse)
    gaps = gap_search(play, scenario, chosen.found, coarse)
    horizons = horizon_search(play, scenario, chosen.found, coarse, longest)
    smallest = {name: gaps.least(level) for name, level in LEVELS.items()}
    steps = {name: horizons.least(level) for name, level in LEVELS.items()}
    shortest = {name: None if value is None else round(value) for name, value in steps.items()}
    return {
        "smallest_gap": smallest, "shortest_horizon": shortest, "longest_tried": longest,
        "gap_curve": gaps.curve(), "horizon_curve": [(round(value), share) for value, share in horizons.curve()],
        "advice": advice + what_helps(verdict, scenario, chosen.found, smallest, shortest, longest, seconds, play),
    }  # fmt: skip


def promise_range(chosen: Trial, scenario: Scenario, effort: Effort) -> tuple[float, float] | None:
    """How often the best arm is found if the noise is at the upper or lower end of its range; None without one."""
    history = scenario.history
    if history is None or history.pull.planned == 0:
        return None
    ends = []
    for noise in (history.pull.high, history.pull.low):
        effort.report("the range of the noise")
        changed = scenario.with_(strength=noise / history.pull.planned)
        ends.append(trial(chosen.candidate, changed, effort).found)
    return min(ends[0], chosen.found), max(ends[1], chosen.found)


def outlier_effect(past: HistorySummary, chosen: Trial, scenario: Scenario, effort: Effort) -> StandsOut | None:
    """The effect of a history's outliers: the same experiment in a world without them."""
    calm = past.calm
    if calm is None:
        return None
    effort.report("without outliers")
    again = best_trial(chosen, replace(scenario, history=calm, mean=calm.level / scenario.reward_max), effort)
    return StandsOut(past.history.outliers, past.apart, again.found, again.interval())


class EstimatedProgress:
    """Reports what is being simulated, with an estimate of the share done."""

    def __init__(self, progress: Callable[[float, str], None] | None, expected: int = 36) -> None:
        self.progress, self.expected, self.done = progress, expected, 0

    def __call__(self, what: str) -> None:
        self.done += 1
        if self.progress is not None:
            self.progress(1 - math.exp(-2 * self.done / self.expected), what)


def tried(each: Trial, unit: float) -> Tried:
    half = each.lost_half_width
    return Tried(
        each.candidate.name, each.candidate.options, each.align, each.told, each.found, each.interval(),
        each.lost * unit, ((each.lost - half) * unit, (each.lost + half) * unit), each.switches, each.first_hold,
        each.power,
    )  # fmt: skip


def shown(past: History) -> dict[str, Any]:
    """The estimates, without the noise itself."""
    found = {name: value for name, value in asdict(past).items() if name not in UNSHOWN}
    return found | {"pull_noise": past.pull_noise, "outliers": past.outliers}
