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
from afterglow.live.domain.expected import surplus
from afterglow.live.domain.log import Record, read_body
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import AWAY, Phase, Role, initial
from afterglow.live.domain.transitions import Body, apply, safe

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


def range_of(record: Record) -> range:
    """The steps that a record voids."""
    body = read_body(record.body)
    return range(body["first"], body["last"] + 1) if record.kind == "revise" else range(body["step"], body["step"] + 1)


class Replay:
    """`take` every event; `follows` is the resulting state without the steps in `gone`."""

    def __init__(self, spec: Spec, gone: StepSet, early: StepSet) -> None:
        self.spec = spec
        self.gone = gone
        self.early = early
        self.was = initial(spec)  # as it happened
        made = initial(spec)
        self.plan, self.bounds = made.plan, made.bounds
        self.washout = self.learned = self.excluded = self.capped = 0

    def take(self, kind: str, body: Body) -> None:
        was, step, restarts = self.was, self.was.step, self.was.restarts
        if kind == "close":
            self.close(body)
        elif kind == "missed":
            self.bounds.interrupt()
            self.leave_plan(body["count"], other=was.role is Role.OUTSIDE)
        apply(self.spec, was, kind, body)
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
        elif self.washout:
            self.washout -= 1
            self.excluded += 1
        else:
            self.excluded += void
            self.learned += not void
            late = void and not body["void"] and was.step not in self.early and self.plan.unbroken
            taken = self.plan.lose(was.step, out is not None) if late else self.plan.take(was.step, total, void, out)
            if taken:
                self.bounds.settle()

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
        }  # fmt: skip

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
        if was.step != self.spec.horizon or was.pinned >= 0 or was.shadow:
            return was.served
        best = self.plan.recommend([tally.pulls for tally in self.bounds.tallies])
        return was.served if best in was.disabled else best  # an emergency after the end replaced it
