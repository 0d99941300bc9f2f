"""The policy of an experiment with units: its current round, and the rounds that it has learned.

Rounds follow each other without gaps: a round lasts as long as the policy asked for, whatever becomes of its steps. A
step that a unit loses, because it is void or outside the plan, costs the unit its part of that round. Rounds that were
learned are kept: the exact test at the end replays them. Rounds that nobody has seen, in which units stayed on their
variants, are kept as one.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from afterglow import records
from afterglow.errors import AfterglowWarning, BadFormat, BadValue
from afterglow.live.domain import versions
from afterglow.live.domain.amounts import units as in_units
from afterglow.live.domain.spec import Spec, round_policy_of
from afterglow.rng import ROUNDS, key
from afterglow.round_runner import Round, RoundRunner, draw_order


@dataclass(slots=True)
class RoundPlan:
    """`current` has the variants planned for a step, `take` ends a step, `skip` ends many that nobody has seen."""

    arms: list[int]  # variants that it chooses among, by number
    units: int
    runner: RoundRunner | None  # None if there is only one variant, or no time for a round
    since: int = 0  # step in which the current round was decided; of a plan that has not begun, its first step
    learned: int = 0  # unit-steps in rounds that were learned
    lost: int = 0  # unit-steps in rounds that were not, for their unit
    played: list[Round] = field(default_factory=list)
    rules: int = versions.UNITS  # see there

    def current(self, step: int, left: int) -> list[int]:
        """The variant planned for each unit."""
        if self.runner is None:
            return [self.arms[0]] * self.units
        if self.runner.round is None:
            self.since = step
        return [self.arms[arm] for arm in self.runner.current(left).arms]

    def washed(self, unit: int) -> bool:
        """Whether effects of steps outside the plan are over, for a unit."""
        runner = self.runner
        return runner is None or runner.regular[unit] >= runner.window - 1

    def take(self, totals: Sequence[int | None], outside: Sequence[int]) -> None:
        """End a step with the total of each unit in micro-units; None if it is void."""
        if self.runner is None or self.runner.round is None:
            return  # the plan begins with the next step
        self.count(self.runner.take([None if one is None else in_units(one) for one in totals], outside))

    def skip(self, step: int, count: int, left: int) -> None:
        """End `count` steps without any total, from the current one on; `left` of them remain until the horizon."""
        runner = self.runner
        if runner is None:
            return
        if runner.round is None and step < self.since:
            step, count, left = step + 1, count - 1, left - 1
        while count:
            self.current(step, left)
            now = runner.round
            assert now is not None
            if now.done == 0:
                now.steps = max(now.steps, self.passed(now.steps, count))
            part = min(count, now.steps - now.done)
            now.lost, now.done = [1] * self.units, now.done + part - 1
            self.count(runner.take([None] * self.units, range(self.units)))
            count, step, left = count - part, step + part, left - part

    def passed(self, steps: int, count: int) -> int:
        """The steps of all rounds within `count` steps that begin with the present variants, as one round."""
        runner = self.runner
        if runner is None or runner.policy.unchanged is None:
            return 0
        return min(count, runner.policy.unchanged(runner.settings, runner.state)) // steps * steps

    def count(self, ended: Round | None) -> None:
        if ended is not None:
            gone = sum(ended.lost)
            self.learned += ended.steps * (self.units - gone)
            self.lost += ended.steps * gone
            self.played.append(ended)

    def lose(self, step: int, units: Sequence[int]) -> None:
        """Void a step of the current round."""
        if self.runner is not None and self.runner.round is not None and step >= self.since:
            for unit in units:
                self.runner.round.lost[unit] = 1

    def recommend(self) -> int | None:
        """The variant to keep; None while no two units with totals could be compared.

        By the rules of version 1, None while nothing is learned.
        """
        runner = self.runner
        if runner is None:
            return self.arms[0]
        if not (self.learned if self.rules == 1 else any(runner.state.arm_cells)):
            return None
        return self.arms[runner.policy.recommend(runner.settings, runner.state)]

    def values(self) -> dict[str, Any]:
        """All of it as JSON values."""
        runner = self.runner
        kept: dict[str, Any] = {"arms": self.arms[:], "settings": None}
        if runner is None:
            return kept
        return kept | {
            "settings": records.plain(runner.settings, "settings:"),
            "state": records.plain(runner.state, "state:"),
            "regular": runner.regular[:],
            "round": runner.round and short(runner.round),
            "counts": [self.since, self.learned, self.lost],
            "played": [short(one) for one in self.played],
        }


def short(played: Round) -> list[Any]:
    """A round as JSON values: heads are left out where there are none."""
    heads = played.heads[:] if played.split else []
    return [played.arms[:], played.steps, played.split, played.done, heads, played.bodies[:], played.lost[:]]


def whole_round(values: Sequence[Any], units: int) -> Round:
    arms, steps, split, done, heads, bodies, lost = values
    if not len(arms) == len(bodies) == len(lost) == units:
        raise BadFormat(f"a stored round must have {units} units, got {len(arms)}; it was stored by other code")
    return Round(list(arms), steps, split, done, list(heads) or [0.0] * units, list(bodies), list(lost))


def settings_of(spec: Spec, arms: int, horizon: int, stream: int) -> Any:
    """The policy's settings, with what is random drawn from a stream."""
    order, labels = draw_order(stream, len(spec.units), arms)
    policy = round_policy_of(spec)
    options = dict(spec.options) | ({"season": spec.season} if spec.season > 1 else {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AfterglowWarning)
        return policy.settings(
            arms, len(spec.units), spec.window, horizon, list(spec.levels), order, labels, options
        )  # fmt: skip


def rules_of(spec: Spec) -> int:
    """The version of the rules that the experiment was created with."""
    return spec.computed.get("units", 1)


def fresh(spec: Spec, arms: list[int], step: int, restarts: int, best: int) -> RoundPlan:
    """The policy's plan from a step on, over some of the variants; only `best` if there is no choice or no time."""
    left, units = (spec.horizon or 0) - step, len(spec.units)
    if len(arms) < 2:
        return RoundPlan([best], units, None)
    policy, stream = round_policy_of(spec), key(spec.seed, restarts, ROUNDS)
    try:
        settings = settings_of(spec, len(arms), left, stream)
    except BadValue:  # too few steps are left
        return RoundPlan([best], units, None)
    if not restarts:
        settings = records.like(settings, spec.settings, f"settings of {policy.name}")
    runner = RoundRunner(policy, settings, policy.start(settings), len(arms), units, spec.window)
    return RoundPlan(arms, units, runner, step, rules=rules_of(spec))


def resumed(spec: Spec, values: Mapping[str, Any]) -> RoundPlan:
    """The plan that `RoundPlan.values` stored."""
    arms, units = list(values["arms"]), len(spec.units)
    if values["settings"] is None:
        return RoundPlan(arms, units, None)
    policy = round_policy_of(spec)
    model = settings_of(spec, len(arms), spec.horizon or 0, 0)
    settings = records.like(model, values["settings"], f"settings of {policy.name}")
    state = records.like(policy.start(settings), values["state"], f"state of {policy.name}")
    runner = RoundRunner(policy, settings, state, len(arms), units, spec.window, list(values["regular"]))
    if values["round"] is not None:
        runner.round = whole_round(values["round"], units)
    played = [whole_round(one, units) for one in values["played"]]
    since, learned, lost = values["counts"]
    return RoundPlan(arms, units, runner, since, learned, lost, played, rules_of(spec))
