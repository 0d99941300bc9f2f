"""A plan as text: the answer, the reason, advice, Python code."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from afterglow.lab.plan.answer import StandsOut
from afterglow.lab.plan.grades import FEWEST, SURE, Grades
from afterglow.lab.plan.proof import Proof
from afterglow.lab.plan.rule import EARNING, KNOWING, Rule
from afterglow.lab.plan.scenario import Scenario
from afterglow.lab.plan.trials import Candidate, Trial
from afterglow.lab.rendering.durations import lasting, steps_lasting
from afterglow.lab.rendering.rounding import amount, whole_percent
from afterglow.policies.default import IN_SEASON

LETTERS = 26  # arms beyond these are numbers
NAME = "my-experiment"  # placeholder for the name of a live experiment
LIVE = 'live.open("experiments.db")'  # where it is stored


def answer(verdict: str, scenario: Scenario, chosen: Trial) -> str:
    """The first sentence."""
    low, high = chosen.interval()
    interval = f"{whole_percent(low)} to {whole_percent(high)}"
    share = f"the best of {scenario.arms} arms is found in {whole_percent(chosen.found)} of runs ({interval})"
    chance = f"guessing finds it in {whole_percent(1 / scenario.arms)}"
    return {
        "yes": f"yes: {share}",
        "probably": f"probably: {share}",
        "gamble": f"a gamble: {share}, {chance}",
        "hopeless": f"hopeless: {share}, {chance}",
    }[verdict]


def reason(chosen: Trial, trials: list[Trial], rule: Rule, unit: float, purpose: str = EARNING) -> str:
    """Why this policy."""
    name = chosen.candidate.name
    if purpose == KNOWING and chosen.power is not None:
        return why_known(chosen, trials, unit)
    others = [each for each in trials if each is not chosen]
    if not others:
        return f"{name} is the only candidate that fits"
    rival = min(others, key=lambda each: (-round(each.found, 1), each.lost))
    figures = (
        f"it finds the best arm in {whole_percent(chosen.found)} of runs and loses {amount(chosen.lost * unit)}, "
        f"{rival.candidate.title} in {whole_percent(rival.found)} and loses {amount(rival.lost * unit)}"
    )
    if name == rule.policy:
        return f"the rule of thumb names {name} and the simulation confirms it: {figures}"
    return f"the rule of thumb names {rule.policy}, the simulation corrects it: {figures}"


def why_known(chosen: Trial, trials: list[Trial], unit: float) -> str:
    """Why this schedule, for those who want to know."""
    least = min(trials, key=lambda each: each.lost)
    told = f"its exact test calls the best arm in {whole_percent(chosen.power or 0.0)} of runs, most of all schedules"
    cost = f"it loses {amount(chosen.lost * unit)}, {least.candidate.title} {amount(least.lost * unit)}"
    return f"for knowing: {told}; {cost}"


def what_is_tested(chosen: Trial, trials: list[Trial], unit: float) -> str:
    """How often an exact test will tell, with the chosen policy or with a schedule to the end."""
    if chosen.power is not None:
        return f"the exact test calls the best arm in {whole_percent(chosen.power)} of runs"
    schedule = next((each for each in trials if each.power is not None and "until" not in each.candidate.options), None)
    if schedule is None or schedule.power is None:
        return "no randomised schedule fits"
    return (
        f"not with {chosen.candidate.name}; with switchback to the end (hold={schedule.candidate.options['hold']}) the "
        f"exact test calls the best arm in {whole_percent(schedule.power)} of runs, and {amount(schedule.lost * unit)} "
        "is lost"
    )


def why_season(chosen: Trial, others: Sequence[Trial], unit: float, step_seconds: float | None) -> str | None:
    """Why cycles of this length are used; None without a choice."""
    if not others:
        return None

    def named(each: Trial) -> str:
        if each.told:
            return "the profile of the cycle"
        return "no whole cycles" if each.align == 1 else f"whole cycles of {steps_lasting(each.align, step_seconds)}"

    rest = "".join(f"; {named(each)}: {whole_percent(each.found)} and {amount(each.lost * unit)}" for each in others)
    close = any(each.found >= chosen.found and each.lost <= chosen.lost for each in others)
    end = "; about as good, and longer cycles are preferred" if close else ""
    if chosen.candidate.name == IN_SEASON and any(each.lost < chosen.lost for each in others):
        end = f"; {IN_SEASON} learns level and season while it runs, the others trust that they stay as they were"
    way = f"{'taking out' if chosen.told else 'counting'} {named(chosen)}"
    return (
        f"{way} finds the best arm in {whole_percent(chosen.found)} of runs and loses "
        f"{amount(chosen.lost * unit)}{rest}{end}"
    )


def outlier_text(out: StandsOut, found: float) -> str:
    """Outliers and their effect."""
    steps = f"{out.steps:,} step{'' if out.steps == 1 else 's'}"
    return (
        f"{steps}, {', '.join(out.when)}: if such steps are as frequent again, the best arm is found in "
        f"{whole_percent(found)} of runs, if they are paused or made void in {whole_percent(out.found_without)}"
    )


def outlier_advice(out: StandsOut | None, found: float) -> list[str]:
    """Advice to pause during outliers, if that helps."""
    if out is None or out.found_without <= found + 0.03:
        return []
    share = whole_percent(out.found_without)
    return [
        f"pause the experiment when outliers are expected, or void such steps: {share}; plan again with those "
        "totals left empty in the history"
    ]


def what_is_proved(proof: Proof, found: float) -> str:
    """How often the result will be proved, in a sentence."""
    what = "the intervals that are valid for any spread"
    if proof.share is None:
        return f"{what} may be disjoint at the end; a run is too long to simulate it here"
    if proof.share == 0:
        return (
            f"{what} are disjoint in none of {proof.runs:,} runs, so the result won't be proved; the recommendation "
            f"is right in {whole_percent(found)}"
        )
    if proof.share == 1:
        return f"{what} are disjoint at the end in all of {proof.runs:,} runs"
    return f"{what} are disjoint at the end in {whole_percent(proof.share)} of {proof.runs:,} runs"


def how_graded(graded: Grades, step_seconds: float | None) -> str:
    """How often the verdict will be clear or better, and when, in a sentence."""
    if not graded.runs:
        return "a run is too long to play it step by step here"
    sure = [f"{grade} in {graded.ends[grade]} of {graded.runs}" for grade in SURE if grade in graded.ends]
    if not sure:
        rest = ", ".join(f"{grade} in {number}" for grade, number in graded.ends.items())
        return f"clear, tested or proven in none of {graded.runs} runs, {rest}"
    assert graded.sure_after is not None
    return f"{', '.join(sure)} runs at the end; half of these by {steps_lasting(graded.sure_after, step_seconds)}"


def how_it_ends(graded: Grades, found: float) -> str | None:
    """The grade that most runs end with, in a sentence; None if too few were played to say so."""
    if graded.runs < FEWEST:
        return None
    certain = 2 * graded.sure >= graded.runs
    if certain:
        likely = max((grade for grade in graded.ends if grade in SURE), key=graded.ends.__getitem__)
        return f"it will most likely end {likely}: clear, tested or proven in {graded.sure} of {graded.runs} runs"
    return (
        f"it will most likely end without certainty: the best arm is recommended in {whole_percent(found)} of runs, "
        f"but this is clear, tested or proven in {graded.sure or 'none'} of {graded.runs}"
    )


def profile_of(scenario: Scenario) -> list[float]:
    """The profile in the unit of the totals, from the step after the history on, with four digits."""
    history = scenario.history
    assert history is not None
    phases = [(history.steps + phase) % history.season for phase in range(history.season)]
    return [float(f"{history.level + history.expected[phase]:.4g}") for phase in phases]


def agent_of(scenario: Scenario, used: Candidate) -> str:
    """Python code for the agent; amounts in settings are shares of `reward_max`."""
    arms = names(scenario.arms) if scenario.arms <= LETTERS else scenario.arms
    return f"Agent({arguments({'arms': arms} | place(scenario, used))})"


def live_of(scenario: Scenario, used: Candidate, schedule: Mapping[str, float] | None = None) -> str:
    """Python code for a live experiment with the same settings, and with the schedule that its profile is for."""
    given = arguments({"variants": names(scenario.arms)} | place(scenario, used) | dict(schedule or {}))
    return f'{LIVE}.create("{NAME}", {given})'


def names(arms: int) -> list[str]:
    """A, B, … or 1, 2, … where letters do not suffice."""
    return [chr(ord("A") + arm) if arms <= LETTERS else str(arm + 1) for arm in range(arms)]


def place(scenario: Scenario, used: Candidate) -> dict[str, Any]:
    """The arguments that an agent and a live experiment share."""
    parts: dict[str, Any] = {"window": scenario.window, "horizon": scenario.horizon, "policy": used.name}
    if scenario.reward_max != 1:
        parts["reward_max"] = scenario.reward_max
    if scenario.align > 1:
        parts["season"] = scenario.align
    if scenario.told:
        parts["profile"] = profile_of(scenario)
    if scenario.forecast is not None:
        parts |= {"typical": scenario.forecast.typical, "trust": scenario.forecast.trust}
    return parts | used.options


def arguments(given: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={literal(value)}" for name, value in given.items())


def literal(value: Any) -> str:
    """A value as Python code, with double quotes."""
    if isinstance(value, float):
        return f"{value:.15g}"
    return json.dumps(value)


def what_helps(
    verdict: str, scenario: Scenario, found: float, smallest: Mapping[str, float | None],
    shortest: Mapping[str, float | None], longest: int, step_seconds: float | None, play: Callable[[Scenario], float],
) -> list[str]:  # fmt: skip
    """What would make a doubtful plan work, each with its figure."""
    if verdict in ("yes", "probably"):
        return []
    steps, gap = shortest["80 %"], smallest["80 %"]
    many = steps_lasting(longest if steps is None else round(steps), step_seconds)
    helps = [
        f"longer: {many} find this gap in 80 % of runs"
        if steps is not None
        else f"longer: more than {many} are needed to find this gap in 80 % of runs",
        f"a larger gap: {100 * gap:.2g} % is found in 80 % of runs"
        if gap is not None
        else "no gap that fits is found in 80 % of runs",
    ]
    changes: list[tuple[str, dict[str, int]]] = []
    if scenario.arms > 2:
        changes.append(("fewer arms: 2", {"arms": 2}))
    if scenario.window > 1:
        fewer = max(1, scenario.window // 4)
        long = f" ({lasting(fewer, step_seconds)})" if step_seconds else ""
        changes.append((f"a shorter window: {fewer:,}{long}", {"window": fewer}))
    for words, change in changes:
        share = play(scenario.with_(**change))
        if share > found + 0.03:
            helps.append(f"{words} would find it in {whole_percent(share)}, now {whole_percent(found)}")
        else:
            helps.append(f"{words} would not help")
    return helps
