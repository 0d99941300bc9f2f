"""Status, estimates and explanations of an experiment."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from afterglow.estimation.estimates import Difference, Estimate, Estimates, read
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import ExperimentState, Phase, Role
from afterglow.live.domain.transitions import recommended

REASONS = {
    Role.PLAN: "as planned",
    Role.WASHOUT: "as planned, not learned from: effects of steps outside the plan may still arrive",
    Role.OUTSIDE: "outside the plan, not learned from",
    Role.SHADOW: "shadow: the control is served, the plan is only logged",
}


@dataclass(frozen=True, slots=True)
class Status:
    """`status` is one of exploring, leading, decided (bounds are apart), finished (over and decided), inconclusive
    (over, and the bounds that hold whatever effects do overlap; `lead` is what ordinary statistics say)."""

    status: str
    phase: str  # draft, scheduled, running, paused, over
    step: int
    horizon: int | None
    variant: str  # live now
    leader: str | None
    pinned: str | None
    disabled: tuple[str, ...]
    shadow: bool
    washout: int  # further steps that won't be learned from
    learned: int  # steps
    excluded: int  # steps
    alarm: str | None
    recommended: str | None  # the variant to keep, by what is known now; None while nothing is learned
    lead: Difference | None  # of that variant over the next best, by ordinary statistics, valid for one look at the end


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a step got its variant."""

    step: int
    variant: str
    planned: str
    role: str
    why: str
    policy: str
    hold: tuple[int, int] | None  # the step in which the hold was decided, and its length
    figures: Mapping[str, Any]  # the policy's state when it decided; by variant where it has one number for each
    estimates: Estimates  # when the step began


def estimates(spec: Spec, state: ExperimentState) -> Estimates:
    """Mean and interval of every variant, in the unit of rewards."""
    return read(state.bounds, spec.variants, spec.window, spec.reward_max, spec.confidence)


def status(spec: Spec, state: ExperimentState) -> Status:
    known = estimates(spec, state)
    allowed = [one for arm, one in enumerate(known) if arm not in state.disabled]
    leader = separated(allowed, halfway=False) or None
    over = state.phase is Phase.OVER
    word = ("finished" if leader else "inconclusive") if over else "decided" if leader else "exploring"
    if not over and leader is None:
        leader = separated(allowed, halfway=True)
        word = "leading" if leader else word
    best = spec.variants[recommended(state)] if state.learned else None
    if over and leader is None and best is not None:
        leader = known[best]
    return Status(
        word, str(state.phase), state.step, spec.horizon, spec.variants[state.served],
        str(leader.arm) if leader else None, spec.variants[state.pinned] if state.pinned >= 0 else None,
        tuple(spec.variants[arm] for arm in state.disabled), state.shadow, state.washout, state.learned,
        state.excluded, alarm(spec, state, known), best, None if best is None else lead(known, best, allowed),
    )  # fmt: skip


def lead(known: Estimates, best: str, allowed: list[Estimate]) -> Difference | None:
    """How far the best is ahead of the next among those that are allowed; of one with a number, if there is any."""
    names = {one.arm for one in allowed}
    others = [one for one in known.against(best) if one.other in names]
    known_means = [(one.mean, place) for place, one in enumerate(others) if one.mean is not None]
    if known_means:
        return others[min(known_means)[1]]
    return others[0] if others else None


def separated(allowed: list[Estimate], halfway: bool) -> Estimate | None:
    """The variant whose lower bound is above all others' upper bounds; `halfway`, above their means."""
    for one in allowed:
        others = [other for other in allowed if other is not one]
        if one.contradiction or not one.pulls:
            continue
        if all(one.low > (other.mean if halfway and other.pulls else other.high) for other in others):
            return one
    return None


def alarm(spec: Spec, state: ExperimentState, known: Estimates) -> str | None:
    """What contradicts the experiment's settings."""
    if state.capped:
        return (
            f"{state.capped:,} step{'' if state.capped == 1 else 's'} had a total above window x reward_max = "
            f"{spec.window * spec.reward_max:,g}, counted as that: reward_max or the window is too small"
        )
    return known.alarm


def explanation(spec: Spec, state: ExperimentState) -> Explanation:
    """Why the current step has its variant."""
    hold, holding, step = state.plan.hold, state.plan.holding, state.step
    why = REASONS.get(state.role, "")
    if state.role is Role.OUTSIDE:
        why = f"{'paused' if state.phase is Phase.PAUSED else 'pinned'}: {why}"
    if holding is None:
        policy, figures = "none: there is nothing to choose", dict[str, Any]()
    else:
        policy = f"{spec.policy} (version {spec.policy_version})"
        if holding.policy.evidence is not None:
            why += f"; the plan rests on {holding.policy.evidence(holding.settings, holding.state)}"
        names = [spec.variants[arm] for arm in state.plan.arms]
        figures = {each.name: by_variant(names, getattr(holding.state, each.name)) for each in fields(holding.state)}
    return Explanation(
        step, spec.variants[state.served], spec.variants[state.planned], str(state.role), why, policy,
        (hold.since, hold.steps) if hold else None, figures, estimates(spec, state),
    )  # fmt: skip


def by_variant(names: list[str], value: Any) -> Any:
    if isinstance(value, list):
        return dict(zip(names, value, strict=True)) if len(value) == len(names) else value[:]
    return value
