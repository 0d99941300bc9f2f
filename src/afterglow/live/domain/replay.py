"""Replay a log with some of its steps void from the start, to void steps that the policy has learned already.

The log is replayed with the variants that were served. A step counts for the policy if it was in the plan when it was
played and has the variant that the policy, without the void steps, now plans; all others are outside the plan, like
pinned steps. So every policy learns exactly the holds that it asks for, and no step is lost that it would have played
anyway.

- *Bounds* don't depend on the plan: they have every step that was in the plan when it was played, void ones as lost.
  Which pulls count was decided before each was made, so the bounds stay valid whatever is voided.
- *A fixed schedule* (`unbroken`) stays as it was played: a step that was voided after its hold was learned keeps its
  place and doesn't count. `early` are the steps that were voided before, so that their holds were made longer.
- *A policy that was restarted* since then never saw the steps: only the bounds change.
- *Random numbers.* The n-th hold of the replay reads the same numbers as the n-th hold of the log; the next hold reads
  numbers that no decision has read.
- *The current step* keeps its variant. If another is planned now, the wash-out begins with it.
"""

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import Any

from afterglow.live.domain import policy_plan as plans
from afterglow.live.domain import versions
from afterglow.live.domain.alike import alike
from afterglow.live.domain.commands import Voided
from afterglow.live.domain.expected import surplus
from afterglow.live.domain.guards.metric_totals import step_totals
from afterglow.live.domain.guards.stops import founded
from afterglow.live.domain.log import Body, Record, body_of, read_body
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import AWAY, Phase, Role, bounds_version, initial, stored_bounds
from afterglow.live.domain.step_rows import StepRow
from afterglow.live.domain.step_transitions import safe
from afterglow.live.domain.transitions import apply, spec_after

REVISING = ("void", "revise")  # events that void steps


class StepSet:
    """A set of steps, given as ranges that may be long and overlap."""

    def __init__(self, ranges: Iterable[range]) -> None:
        known = sorted((one.start, one.stop) for one in ranges)
        self.firsts = [first for first, _ in known]
        self.ends = list(accumulate((end for _, end in known), max))

    def __contains__(self, step: int) -> bool:
        place = bisect_right(self.firsts, step)
        return place > 0 and step < self.ends[place - 1]


def replayed_without(spec: Spec, records: Iterable[Record], more: Iterable[Voided] = ()) -> "Replay":
    """A replay without the steps that these records have voided, and without more."""
    known = list(records)
    gone = [*map(range_of, known), *(one.steps for one in more)]
    return Replay(spec, StepSet(gone), StepSet(range_of(one) for one in known if one.kind == "void"))


class VoidedRows:
    """What records of voids do to rows of steps."""

    def __init__(self, records: Iterable[Record]) -> None:
        self.steps = StepSet(map(range_of, records))
        self.any = bool(self.steps.firsts)  # most logs have none

    def applied(self, row: StepRow) -> StepRow:
        """The row as it is after all voids."""
        return row._replace(void=1) if self.any and row.step in self.steps else row


def range_of(record: Record) -> range:
    """The steps that a record voids."""
    body = read_body(record.body)
    return range(body["first"], body["last"] + 1) if record.kind == "revise" else range(body["step"], body["step"] + 1)


class Replay:
    """`take` every event; `follows` is the resulting state without the steps in `gone`. `spec` is that of the start."""

    def __init__(self, spec: Spec, gone: StepSet, early: StepSet) -> None:
        self.spec = spec
        self.gone = gone
        self.early = early
        self.was = initial(spec)  # as it happened
        made = initial(spec)
        self.plan, self.bounds = made.plan, made.bounds
        self.washout = self.learned = self.excluded = self.capped = 0
        self.aside = list[
            list[int]
        ]()  # first and last of steps that were learned from and no longer are, void ones not
        self.replaced = False  # whether an emergency after the end replaced a pinned variant
        self.withdrawn = set[int]()  # variants that guards would not have stopped

    def take(self, kind: str, body: Body) -> None:
        was, step, restarts = self.was, self.was.step, self.was.restarts
        if kind == "close":
            self.close(body)
        elif kind == "guarded" and not founded(self.spec, self.bounds, body):
            self.withdrawn.add(body["variant"])
        elif kind == "enable":
            self.withdrawn.discard(body["variant"])
        elif kind == "emergency" and was.phase is Phase.OVER and body["variant"] == was.pinned:
            self.replaced = True
        elif kind == "missed":
            self.bounds.interrupt()
            self.leave_plan(body["count"], other=was.role is Role.OUTSIDE)
        if kind == "enable" and body["variant"] in was.stops and self.bounds.guarded is not None:
            self.bounds.guarded.forget(body["variant"], self.bounds.current)
        apply(self.spec, was, kind, body)
        if kind == "extend":
            self.plan.extend(body["more"])
            self.spec = spec_after(self.spec, kind, body)
        if was.restarts > restarts:
            self.plan = plans.resumed(self.spec, was.plan.values())
        elif kind == "revise":
            self.count_on()
        if was.phase is Phase.OVER:
            self.plan.cut()
            self.bounds.settle()
        elif was.step > step or kind == "start":
            self.plan.current(was.step, self.left())

    def left(self) -> int | None:
        return None if self.spec.horizon is None else self.spec.horizon - self.was.step

    def close(self, body: Body) -> None:
        was, total, most = self.was, body["total"], self.spec.most
        out = surplus(self.spec, was)
        void = body["void"] or was.step in self.gone
        if total > most:
            total = most
            self.capped += not void
        if self.bounds.guarded is not None:
            counts = was.role is Role.PLAN and not void
            self.bounds.guarded.of_step(step_totals(self.spec, body, total) if counts else None)
        if was.role in AWAY:
            self.bounds.interrupt()
        elif void:
            self.bounds.lose(was.served)
        else:
            adjusted = None if out is None else (total - out) / self.spec.scale
            self.bounds.record(was.served, total / self.spec.scale, adjusted)
        if not self.as_planned():
            self.leave_plan(1, other=True)
            self.bounds.settle()
            self.set_aside(void)
        elif self.washout:
            self.washout -= 1
            self.excluded += 1
            self.set_aside(void)
        else:
            self.excluded += void
            self.learned += not void
            late = void and not body["void"] and was.step not in self.early and self.plan.unbroken
            taken = self.plan.lose(was.step, out is not None) if late else self.plan.take(was.step, total, void, out)
            if taken:
                self.bounds.settle()

    def set_aside(self, void: bool) -> None:
        """The current step doesn't count, though it did when it was played."""
        was = self.was
        if void or was.role not in (Role.PLAN, Role.SHADOW):
            return
        if self.aside and self.aside[-1][1] == was.step - 1:
            self.aside[-1][1] = was.step
        else:
            self.aside.append([was.step, was.step])

    def as_planned(self) -> bool:
        """Whether the current step was in the plan, and still is."""
        was = self.was
        if was.role in AWAY:
            return False
        planned = self.plan.current(was.step, self.left())
        return was.served == (safe(self.spec, was) if was.shadow else planned)

    def leave_plan(self, steps: int, other: bool) -> None:
        self.washout = self.spec.window - 1
        self.excluded += steps
        self.plan.pause(other)

    def count_on(self) -> None:
        """Give the next hold a number that no hold had, so that it reads random numbers of its own."""
        mine, other = self.plan.holding, self.was.plan.holding
        if mine is not None and other is not None:
            mine.opened = max(mine.opened, other.opened)

    def follows(self) -> dict[str, Any]:
        """The resulting state, as the body of a `revise` event has it."""
        self.count_on()
        role, served = self.was.role, self.was.served
        if self.was.phase is Phase.OVER:
            served = self.kept()
        elif role not in AWAY:
            role = self.role_now()
        return {
            "plan": self.plan.values(), "books": self.bounds.values(), "role": str(role), "served": served,
            "washout": self.washout, "learned": self.learned, "excluded": self.excluded, "capped": self.capped,
            "aside": self.aside,
            **({"computed": versions.named()} if versions.named() else {}),
            **({"withdrawn": sorted(self.withdrawn)} if self.spec.guards else {}),
        }  # fmt: skip

    def agrees(self, said: dict[str, Any]) -> bool:
        """Whether this is what a `revise` event says, perhaps one of an earlier release."""
        follows = self.follows()
        follows["books"] = stored_bounds(follows["books"], bounds_version(said["books"]))
        if "aside" not in said:  # earlier releases didn't store it
            del follows["aside"]
        if "withdrawn" in said:  # by the statistic of the release that wrote it
            follows["withdrawn"] = said["withdrawn"]
        return alike(said, read_body(body_of(follows)))

    def role_now(self) -> Role:
        """The role of the current step; the bounds include it either way."""
        if not self.as_planned():
            self.plan.pause(other=True)
            self.washout = self.spec.window
        if self.washout:
            return Role.WASHOUT
        return Role.SHADOW if self.was.shadow else Role.PLAN

    def kept(self) -> int:
        """The variant served after the end: the one that was chosen by a command, else the one recommended now."""
        was = self.was
        if was.step != self.spec.horizon or was.pinned >= 0 or was.shadow or self.replaced:
            return was.served
        best = self.plan.recommend([tally.pulls for tally in self.bounds.tallies])
        return was.served if best in was.disabled else best  # an emergency after the end replaced it
