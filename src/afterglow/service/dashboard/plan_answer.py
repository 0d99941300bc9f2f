"""A plan as sentences and a table for its page, in the words of live experiments."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from afterglow.live.summary import in_live_terms
from afterglow.policies.default import IN_SEASON
from afterglow.service.dashboard.numbers import counted, figure, percent, rounded_duration


class PlanCandidate(NamedTuple):
    policy: str
    found: str
    lost: str
    tested: str
    chosen: bool


class PlanAnswer(NamedTuple):
    verdict: str  # yes, probably, gamble or hopeless
    sentence: str
    ending: str  # how the experiment will most likely end; empty if that isn't known
    facts: list[tuple[str, str]]
    advice: list[str]
    notes: list[str]
    candidates: list[PlanCandidate]
    possible: bool  # whether an experiment with these settings makes sense


def plan_answer(plan: Mapping[str, Any], names: Sequence[str], unit: str = "") -> PlanAnswer:
    """What the page shows of a plan."""
    advice, notes = ([capital(in_live_terms(one)) for one in plan[name]] for name in ("advice", "notes"))
    tried = [candidate(plan, one) for one in plan["candidates"]]
    sentence, possible = capital(in_live_terms(plan["answer"])), plan["verdict"] != "hopeless"
    ending = capital(in_live_terms(plan["ending"] or ""))
    return PlanAnswer(
        plan["verdict"],
        sentence,
        ending,
        facts(plan, names, f" {unit}" if unit else ""),
        advice,
        notes,
        tried,
        possible,
    )


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def facts(plan: Mapping[str, Any], names: Sequence[str], unit: str) -> list[tuple[str, str]]:
    """Names and texts of the figures."""
    seconds, gaps, horizons = plan["step_seconds"], plan["smallest_gap"], plan["shortest_horizon"]
    wide = ", ".join(f"{short(gap)} in {level} of runs" for level, gap in gaps.items() if gap is not None)
    long = ", ".join(
        f"{steps(number, seconds)} for {level}" for level, number in horizons.items() if number is not None
    )
    low, high = plan["found_interval"]
    lost = f"{figure(plan['lost'])}{unit}, {short(plan['lost_share'])} of what the best variant brings"
    made = [
        ("Planned", f"{counted(len(names), 'variant')}, a window of {steps(plan['window'], seconds)}, "
         f"{steps(plan['horizon'], seconds)} in all, one variant better by {short(plan['gap'])}"),
        ("Read", "" if plan["read"] is None else capital(plan["read"])),
        ("Level and noise", f"{figure(plan['mean'])}{unit} a step, deviation of one decision’s value "
         f"{figure(plan['noise'])}{unit}, maximum value {figure(plan['reward_max'])}{unit}" + cycle(plan)),
        ("Best variant found", f"in {percent(plan['found'])} of simulated runs ({percent(low)} to {percent(high)})"),
        ("Policy", plan["policy"] + settings(plan)),
        ("Why", capital(in_live_terms(plan["why"]))),
        ("Verdict at the end", capital(in_live_terms(plan["verdicts"]))),
        ("Exact test", capital(in_live_terms(plan["testing"]))),
        ("Lost on the way", lost),
        ("Smallest difference", f"found: {wide}" if wide else "none that fits is found reliably"),
        ("Shortest experiment", long or "longer than was tried"),
    ]  # fmt: skip
    return [(name, text) for name, text in made if text]


def cycle(plan: Mapping[str, Any]) -> str:
    return "" if plan["cycle"] == 1 else f", a cycle of {steps(plan['cycle'], plan['step_seconds'])}"


def settings(plan: Mapping[str, Any]) -> str:
    """The settings of the policy, and what it is told of the cycle."""
    given = [f"{name} = {value}" for name, value in plan["settings"].items()]
    if plan["profile"]:
        given.append("expected totals of the cycle taken out")
    elif plan["season"] > 1:
        how = "told a cycle" if plan["policy"] == IN_SEASON else "whole cycles"
        given.append(f"{how} of {plan['season']:,} steps")
    return f", {', '.join(given)}" if given else ""


def steps(number: float, seconds: float | None) -> str:
    return counted(round(number), "step") + (f" ({rounded_duration(number * seconds)})" if seconds else "")


def short(share: float) -> str:
    """A share with two digits, in percent."""
    return f"{100 * share:.2g} %"


def candidate(plan: Mapping[str, Any], one: Mapping[str, Any]) -> PlanCandidate:
    chosen = (one["policy"], one["settings"]) == (plan["policy"], plan["settings"])
    name = f"{one['policy']}, then the best" if "until" in one["settings"] else one["policy"]
    tested = "–" if one["tested"] is None else percent(one["tested"])
    return PlanCandidate(name, percent(one["found"]), figure(one["lost"]), tested, chosen)
