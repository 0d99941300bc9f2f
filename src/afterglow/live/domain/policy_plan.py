"""The policy of a running experiment: its current hold, and the totals that it has not learned yet.

Totals are kept one by one until the hold is learned, as whole micro-units, so that a step can be voided until then. The
policy learns exactly the hold that it asked for, later if steps were void or outside the plan. Only the end of the
experiment cuts a hold short.

A policy with a fixed schedule (`unbroken`) differs: a hold that is interrupted by another variant ends there, and a
step that is voided after its hold was learned keeps its place, so that the holds that follow stay as they were. In both
cases the policy learns fewer counted steps than it asked for.

A policy that follows a season (`skip`) is told of every step that passes; `told` is the first step that it has not
heard of. A hold that is interrupted ends there too, and a void step keeps its place.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from afterglow import records
from afterglow.errors import AfterglowWarning, BadValue
from afterglow.live.domain.spec import Spec, policy_of
from afterglow.policy_runner import PolicyRunner
from afterglow.rng import POLICY, key


@dataclass(slots=True)
class OpenHold:
    """The current hold. A *stretch* is a part of it without interruption by steps outside the plan."""

    arm: int  # of the plan's arms
    steps: int
    split: int
    since: int  # the step in which it was decided
    totals: list[int] = field(default_factory=list)  # of the steps that count
    fresh: int = -1  # first step of the stretch; -1 before it
    base: int = 0  # totals of earlier stretches
    voided: list[int] = field(default_factory=list)  # steps of the stretch that don't count
    lost: int = 0  # steps that keep their place and don't count
    adjustments: list[int] = field(default_factory=list)  # what is taken out of each total; empty if nothing ever is

    def place(self, step: int) -> int:
        """Where the total of a step of this stretch is kept."""
        return self.base + step - self.fresh - sum(1 for void in self.voided if void < step)


@dataclass(slots=True)
class PolicyPlan:
    """`current` is the planned variant, `take` ends a step, `cut` ends the hold early, `pause` begins a new stretch."""

    arms: list[int]  # variants that it chooses among, by number
    holding: PolicyRunner | None  # None if there is only one variant
    unit: float
    hold: OpenHold | None = None
    learned: int = 0  # holds so far
    voids: int = 0  # steps that didn't count, if the schedule is fixed
    washout: int = 0  # steps after an interruption that don't count
    told: int = 0  # the first step that a policy with `skip` has not heard of

    @property
    def unbroken(self) -> bool:
        """Whether the schedule is fixed."""
        return self.holding is not None and self.holding.policy.unbroken

    @property
    def timed(self) -> bool:
        """Whether the policy follows a season, and is told of steps that don't count."""
        return self.holding is not None and self.holding.policy.skip is not None

    def current(self, step: int, left: int | None) -> int:
        """The variant planned for a step."""
        if self.holding is None:
            return self.arms[0]
        if self.hold is None:
            self.pass_over(step)
            asked = self.holding.current(left)
            self.hold = OpenHold(asked.arm, asked.steps, asked.split, step)
        return self.arms[self.hold.arm]

    def take(self, step: int, total: int, void: bool, surplus: int | None = None) -> bool:
        """End a step that was played as planned, `surplus` of its total expected; whether the hold is learned now."""
        hold = self.hold
        if hold is None:
            return True
        if void and self.timed:
            return self.lose(step, surplus is not None)
        self.begin_stretch(hold, step)
        if void:
            hold.voided.append(step)
            self.voids += self.unbroken
            return False
        hold.totals.append(total)
        if surplus is not None:
            hold.adjustments.append(surplus)
        return self.cut_if_done(hold)

    def lose(self, step: int, adjusts: bool) -> bool:
        """End a step that doesn't count and keeps its place; whether the hold is learned now."""
        hold = self.hold
        if hold is None:
            return True
        self.begin_stretch(hold, step)
        self.voids += self.unbroken
        if len(hold.totals) + hold.lost < hold.split:
            hold.totals.append(0)  # heads are not learned from
            if adjusts:
                hold.adjustments.append(0)
        else:
            hold.voided.append(step)
            hold.lost += 1
        return self.cut_if_done(hold)

    def begin_stretch(self, hold: OpenHold, step: int) -> None:
        """A step of the hold counts, perhaps after others that didn't: the hold then lasts as long as is asked now."""
        if hold.fresh >= 0:
            return
        hold.fresh, hold.base = step, len(hold.totals)
        holding = self.holding
        if self.timed and step > self.told and holding is not None:
            self.pass_over(step - self.washout)
            self.pass_over(step, hold.arm)
            draws = holding.draws(holding.opened - 1)
            hold.steps = holding.policy.next_hold(holding.settings, holding.state, draws)[1]

    def pass_over(self, step: int, arm: int = -1) -> None:
        """Tell the policy of the steps before this one that it has not heard of, and which arm was played in them."""
        holding = self.holding
        if holding is not None and holding.policy.skip is not None and step > self.told:
            holding.policy.skip(holding.settings, holding.state, arm, step - self.told)
            self.told = step

    def cut_if_done(self, hold: OpenHold) -> bool:
        if len(hold.totals) + hold.lost < hold.steps:
            return False
        self.cut()
        return True

    def pause(self, other: bool) -> None:
        """Interrupt the hold, with the steps of another variant or without any: the rest follows after a wash-out."""
        ends = self.timed or (other and self.unbroken)
        if ends and self.hold is not None and (self.hold.totals or self.hold.lost):
            self.cut()
        if self.hold is not None:
            self.hold.fresh = -1
            self.hold.voided.clear()

    def cut(self) -> None:
        """End the hold: the policy learns what counts of it."""
        hold, holding = self.hold, self.holding
        if hold is None or holding is None:
            return
        steps, split = len(hold.totals), min(hold.split, len(hold.totals))
        self.hold = holding.hold = None
        if self.timed:
            self.pass_over(self.told + hold.lost, hold.arm)
            self.told += steps
        if steps or (hold.lost and not self.timed):
            adjusted = hold.totals
            if hold.adjustments:
                adjusted = [total - out for total, out in zip(hold.totals, hold.adjustments, strict=True)]
            head, body = sum(adjusted[:split]) / self.unit, sum(adjusted[split:]) / self.unit
            holding.policy.learn(holding.settings, holding.state, hold.arm, steps, split, head, body)
            self.learned += 1

    def extend(self, more: int) -> None:
        """The experiment is longer by so many steps."""
        holding = self.holding
        if holding is not None and holding.policy.extend is not None:
            longer = holding.settings.horizon + more
            holding.settings = holding.policy.extend(holding.settings, holding.state, longer)

    def recommend(self, pulls: Sequence[int]) -> int:
        """The variant to keep: the policy's, or the one played most while it has none."""
        holding = self.holding
        if holding is not None and holding.policy.recommend is not None and self.learned:
            return self.arms[holding.policy.recommend(holding.settings, holding.state)]
        return max(self.arms, key=lambda arm: (pulls[arm], -arm))

    def values(self) -> dict[str, Any]:
        """All of it as JSON values."""
        hold, holding = self.hold, self.holding
        lost = [hold.lost] if hold and hold.lost else []
        return {
            "arms": self.arms[:],
            "learned": self.learned,
            **({"voids": self.voids} if self.unbroken else {}),
            **({"told": self.told} if self.timed else {}),
            "hold": hold and [hold.arm, hold.steps, hold.split, hold.since, hold.fresh, hold.base, *lost],
            "totals": hold.totals[:] if hold else [],
            "voided": hold.voided[:] if hold else [],
            **({"adjustments": hold.adjustments[:]} if hold and hold.adjustments else {}),
            "opened": holding.opened if holding else 0,
            "stream": holding.stream if holding else 0,
            "settings": holding and records.settings_plain(holding.settings, "settings:"),
            "state": holding and records.plain(holding.state, "state:"),
        }


def fresh(spec: Spec, arms: list[int], step: int, restarts: int, best: int) -> PolicyPlan:
    """The policy's plan from a step on, over some of the variants; only `best` if there is no choice or no time."""
    left = None if spec.horizon is None else spec.horizon - step
    policy = policy_of(spec)
    if len(arms) < 2:
        return PolicyPlan([best], None, spec.scale)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AfterglowWarning)
        try:
            settings = policy.settings(len(arms), spec.window, left, options_from(spec, step))
        except BadValue:  # too few steps are left for this policy
            return PolicyPlan([best], None, spec.scale)
    if not restarts:
        settings = records.settings_like(settings, spec.settings, f"settings of {policy.name}")
    stream = key(spec.seed, restarts, POLICY)
    holding = PolicyRunner(policy, settings, policy.start(settings), len(arms), stream)
    return PolicyPlan(arms, holding, spec.scale, washout=spec.window - 1, told=step)


def options_from(spec: Spec, step: int) -> Mapping[str, Any]:
    """The options of the policy from a step on: `until` names a step of the experiment."""
    until = spec.options.get("until") if step else None
    return spec.options if until is None else {**spec.options, "until": max(1, until - step)}


def resumed(spec: Spec, values: Mapping[str, Any]) -> PolicyPlan:
    """The plan that `PolicyPlan.values` stored."""
    if values["settings"] is None:
        return PolicyPlan(values["arms"], None, spec.scale)
    policy = policy_of(spec)
    settings = stored_settings(spec, policy, values)
    state = records.like(policy.start(settings), values["state"], f"state of {policy.name}")
    holding = PolicyRunner(policy, settings, state, len(values["arms"]), values["stream"], values["opened"])
    plan = PolicyPlan(values["arms"], holding, spec.scale, None, values["learned"], values.get("voids", 0))
    plan.washout, plan.told = spec.window - 1, values.get("told", 0)
    if values["hold"]:
        arm, steps, split, since, began, base, *lost = values["hold"]
        plan.hold = OpenHold(arm, steps, split, since, values["totals"], began, base, values["voided"], sum(lost))
        plan.hold.adjustments = values.get("adjustments", [])
    return plan


def stored_settings(spec: Spec, policy: Any, values: Mapping[str, Any]) -> Any:
    """Settings as they were; lists may be of any length, so the values themselves are the model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AfterglowWarning)
        model = policy.settings(len(spec.variants), spec.window, spec.horizon, spec.options)
    kept = values["settings"]
    lists = {name: value for name, value in kept.items() if isinstance(value, list)}
    for name, value in lists.items():
        object.__setattr__(model, name, value)
    return records.settings_like(model, kept, f"settings of {policy.name}")
