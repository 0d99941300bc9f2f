"""A plan in words: the answer, the reason, what would help."""

import json
from collections.abc import Mapping
from typing import Any

from afterglow.lab.plan_rule import Rule, as_good, choose
from afterglow.lab.rounding import amount
from afterglow.lab.scenario import Scenario
from afterglow.lab.trials import Candidate, Effort, Trial, trial

LETTERS = 26  # arms beyond these have no names to begin with


def answer(verdict: str, scenario: Scenario, chosen: Trial) -> str:
    """The first sentence."""
    low, high = chosen.interval()
    share = f"the best of {scenario.arms} arms is found in {chosen.found:.0%} of runs ({low:.0%} to {high:.0%})"
    chance = f"guessing finds it in {1 / scenario.arms:.0%}"
    return {
        "yes": f"yes: {share}",
        "probably": f"probably: {share}",
        "gamble": f"a gamble: {share}, {chance}",
        "hopeless": f"hopeless: {share}, {chance}",
    }[verdict].replace("%", " %")


def reason(chosen: Trial, trials: list[Trial], rule: Rule, unit: float) -> str:
    """Why this policy."""
    name = chosen.candidate.name
    others = [each for each in trials if each is not chosen]
    if not others:
        return f"{name} is the only candidate that fits"
    schedule = next((each for each in others if not each.candidate.usable), None)
    if schedule is not None and not as_good(schedule, chosen) and choose(trials) is not schedule:
        schedule = None
    rival = schedule or min(others, key=lambda each: (-round(each.found, 1), each.lost))
    figures = (
        f"it finds the best arm in {chosen.found:.0%} of runs and loses {amount(chosen.lost * unit)}, "
        f"{rival.candidate.name} in {rival.found:.0%} and loses {amount(rival.lost * unit)}"
    ).replace("%", " %")
    if schedule is not None:
        better = as_good(schedule, chosen) and not as_good(chosen, schedule)
        figures += f"; a fixed schedule would do {'better' if better else 'as well'}"
    if name == rule.policy:
        return f"the rule of thumb names {name} and the simulation confirms it: {figures}"
    return f"the rule of thumb names {rule.policy}, the simulation corrects it: {figures}"


def agent_of(scenario: Scenario, used: Candidate) -> str:
    """Python that makes the agent to use: amounts that are settings are shares of `reward_max`, as they are there."""
    named = [chr(ord("A") + arm) for arm in range(scenario.arms)]
    parts: dict[str, Any] = {
        "arms": named if scenario.arms <= LETTERS else scenario.arms,
        "window": scenario.window,
        "horizon": scenario.horizon,
        "policy": used.name,
    }
    if scenario.reward_max != 1:
        parts["reward_max"] = scenario.reward_max
    if scenario.season > 1:
        parts["season"] = scenario.season
    return f"Agent({', '.join(f'{name}={literal(value)}' for name, value in (parts | used.options).items())})"


def literal(value: Any) -> str:
    """As Python writes it, with double quotes."""
    if isinstance(value, float):
        return f"{value:.15g}"
    return json.dumps(value)


def what_helps(
    verdict: str, scenario: Scenario, chosen: Trial, smallest: Mapping[str, float | None],
    shortest: Mapping[str, float | None], longest: int, effort: Effort,
) -> list[str]:  # fmt: skip
    """What would make a doubtful plan work, each with its number."""
    if verdict in ("yes", "probably"):
        return []
    steps, gap = shortest["80 %"], smallest["80 %"]
    found = [
        f"longer: {round(steps):,} steps find this gap in 80 % of runs"
        if steps is not None
        else f"longer: more than {longest:,} steps are needed to find this gap in 80 % of runs",
        f"a larger gap: {100 * gap:.2g} % is found in 80 % of runs"
        if gap is not None
        else "no gap that fits is found in 80 % of runs",
    ]
    changes: list[tuple[str, dict[str, int]]] = []
    if scenario.arms > 2:
        changes.append(("fewer arms: 2", {"arms": 2}))
    if scenario.window > 1:
        changes.append(
            (f"a shorter window: {max(1, scenario.window // 4):,}", {"window": max(1, scenario.window // 4)})
        )
    for words, change in changes:
        effort.tell(words)
        share = trial(chosen.candidate, scenario.with_(**change), effort).found
        if share > chosen.found + 0.03:
            found.append(f"{words} would find it in {share:.0%}, now {chosen.found:.0%}".replace("%", " %"))
        else:
            found.append(f"{words} would not help")
    return found
