"""Replay the log of an experiment with units without some of its unit-steps, to void what was learned.

As for one total: the log is replayed with the variants that were served. A unit's step counts if it was in the plan
when it was played and has the variant that the policy, without the void steps, now plans for the unit; all others are
outside the plan, like pinned ones. A policy that was restarted since then never saw the steps.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from afterglow.live.domain.alike import alike
from afterglow.live.domain.commands import Voided
from afterglow.live.domain.log import Body, Record, body_of, read_body
from afterglow.live.domain.replay import range_of
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import AWAY, Phase, Role
from afterglow.live.domain.step_transitions import safe
from afterglow.live.domain.units import round_plan as plans
from afterglow.live.domain.units.guard_blocks import GuardBlocks
from afterglow.live.domain.units.guards import founded
from afterglow.live.domain.units.state import initial
from afterglow.live.domain.units.transitions import apply, count_guarded, left, recommended, settle_guarded


def replayed_without(spec: Spec, records: Iterable[Record], more: Iterable[Voided] = ()) -> "UnitsReplay":
    """A replay without the steps that these records have voided, and without more."""
    gone = [Voided(range_of(one), tuple(read_body(one.body).get("units", ()))) for one in records]
    return UnitsReplay(spec, [*gone, *more])


class UnitsReplay:
    """`take` every event; `follows` is the resulting state without what is void."""

    def __init__(self, spec: Spec, gone: Sequence[Voided]) -> None:
        self.spec = spec
        self.gone = gone
        self.was = initial(spec)  # as it happened
        made = initial(spec)
        self.plan, self.guarded = made.plan, made.guarded
        self.withdrawn = set[int]()  # variants that guards would not have stopped

    @property
    def learned(self) -> int:
        return self.plan.learned

    def take(self, kind: str, body: Body) -> None:
        was, step, restarts = self.was, self.was.step, self.was.restarts
        if kind == "close":
            self.close(body)
        elif kind == "missed":
            self.plan.skip(was.step, body["count"], left(self.spec, was))
        if self.guarded is not None:
            self.take_guarded(self.guarded, kind, body)
        apply(self.spec, was, kind, body)
        if was.restarts > restarts:
            self.plan = plans.resumed(self.spec, was.plan.values())
        if was.phase is not Phase.OVER and (was.step > step or kind == "start"):
            self.plan.current(was.step, left(self.spec, was))
        if was.restarts > restarts or was.step > step:
            settle_guarded(self.guarded, self.plan, was.step)

    def take_guarded(self, record: GuardBlocks, kind: str, body: Body) -> None:
        """What guards count doesn't depend on the plan: all steps that were in the plan when they were played."""
        was = self.was
        if kind == "close":
            voids = [total is None for total in self.totals(body)]
            count_guarded(record, was.step, was.lanes, body, voids)
        elif kind == "missed":
            record.interrupt()
        elif kind == "guarded" and not founded(self.spec, record, body):
            self.withdrawn.add(body["variant"])
        elif kind == "enable":
            self.withdrawn.discard(body["variant"])
            if body["variant"] in was.stops:
                record.forget(body["variant"])

    def close(self, body: Body) -> None:
        self.plan.take(self.totals(body), [unit for unit, role in enumerate(self.roles()) if role in AWAY])

    def totals(self, body: Body) -> list[int | None]:
        """The totals of the current step by unit, None where they are void."""
        totals: list[int | None] = [
            None if void else total for total, void in zip(body["totals"], body["voids"], strict=True)
        ]
        for steps, units in self.gone:
            if self.was.step in steps:
                for unit in units or range(len(totals)):
                    totals[unit] = None
        return totals

    def roles(self) -> list[Role]:
        """The role that each unit's current step has now: outside the plan if another variant is planned."""
        was, lanes = self.was, self.was.lanes
        begun = self.plan.runner is None or self.plan.runner.round is not None
        planned = self.plan.current(was.step, left(self.spec, was)) if begun else [lane.planned for lane in lanes]
        found = []
        for unit, lane in enumerate(lanes):
            base = safe(self.spec, was) if was.shadow else planned[unit]
            found.append(lane.role if lane.role in AWAY or lane.served == base else Role.OUTSIDE)
        return found

    def follows(self) -> dict[str, Any]:
        """The resulting state, as the body of a `revise` event has it."""
        was = self.was
        if was.phase is Phase.OVER:
            roles, kept = [lane.role for lane in was.lanes], self.kept()
        else:
            roles, kept = self.roles(), was.served
        found = {"plan": self.plan.values(), "roles": [str(role) for role in roles], "served": kept}
        if self.guarded is not None:
            found |= {"guards": self.guarded.values(), "withdrawn": sorted(self.withdrawn)}
        return found

    def agrees(self, said: dict[str, Any]) -> bool:
        """Whether this is what a `revise` event says, perhaps one of an earlier release."""
        follows = self.follows()
        if "withdrawn" in follows and "withdrawn" in said:  # by the statistic of the release that wrote it
            follows["withdrawn"] = said["withdrawn"]
        return alike(said, read_body(body_of(follows)))

    def kept(self) -> int:
        """The variant served after the end: the one that was chosen by a command, else the one recommended now."""
        was = self.was
        if was.step != self.spec.horizon or was.shadow:
            return was.served
        before, was.plan = was.plan, self.plan
        try:
            return recommended(self.spec, was)
        finally:
            was.plan = before
