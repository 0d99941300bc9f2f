"""What a log leads to when some of its steps are void from the outset: how learned steps are taken back.

The log is played again with the variants that were served. A step counts for the policy if it was in the plan when it
was played and has the variant that the policy, which never saw the void steps, now plans; what is served otherwise is
outside the plan for it, as if somebody had pinned it. So the policy is told exactly the holds that it asks for,
whichever policy it is, and nothing is thrown away that it would have played all the same.

- *The books* don't ask what is planned: they have every step that was in the plan when it was played, void ones as
  lost. Which pulls they speak of was settled before each was made, so their bounds hold whoever voids what.
- *A policy that started afresh* since then never saw the steps: only the books change.
- *Random numbers.* The holds of the replay read the numbers that holds of their rank read before, so chance alone
  makes no difference; the next hold to be decided reads numbers that no decision has read.
- *The step in hand* goes on with its variant. If another is planned now, the wash-out begins with it.
"""

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import Any

from afterglow.live.domain import policy_plan as plans
from afterglow.live.domain.log import Record, read_body
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import Phase, Role, initial
from afterglow.live.domain.transitions import Body, apply, safe

REVISING = ("void", "revise")  # events that take steps back
AFRESH = ("disable", "enable", "go_live")


class StepSet:
    """StepSet in ranges, which may be long and overlap."""

    def __init__(self, ranges: Iterable[range]) -> None:
        known = sorted((one.start, one.stop) for one in ranges)
        self.firsts = [first for first, _ in known]
        self.ends = list(accumulate((end for _, end in known), max))

    def __contains__(self, step: int) -> bool:
        place = bisect_right(self.firsts, step)
        return place > 0 and step < self.ends[place - 1]


def range_of(record: Record) -> range:
    """The steps that a record takes back."""
    body = read_body(record.body)
    return range(body["first"], body["last"] + 1) if record.kind == "revise" else range(body["step"], body["step"] + 1)


class Replay:
    """`take` every event; `follows` is what they lead to without the steps that are `gone`."""

    def __init__(self, spec: Spec, gone: StepSet) -> None:
        self.spec = spec
        self.gone = gone
        self.was = initial(spec)  # as it happened
        made = initial(spec)
        self.plan, self.books = made.plan, made.books
        self.washout = self.learned = self.excluded = self.capped = 0

    def take(self, kind: str, body: Body) -> None:
        was, step = self.was, self.was.step
        if kind == "close":
            self.close(body)
        elif kind == "missed":
            self.books.interrupt()
            self.leave_plan(body["count"])
        apply(self.spec, was, kind, body)
        if kind in AFRESH:
            self.plan = plans.resumed(self.spec, was.plan.values())
        elif kind == "revise":
            self.count_on()
        if was.phase is Phase.OVER:
            self.plan.cut()
            self.books.settle()
        elif was.step > step or kind == "start":
            self.plan.current(was.step, self.left())

    def left(self) -> int | None:
        return None if self.spec.horizon is None else self.spec.horizon - self.was.step

    def close(self, body: Body) -> None:
        was, total, most = self.was, body["total"], self.spec.most
        void = body["void"] or was.step in self.gone
        if total > most:
            total = most
            self.capped += not void
        if was.role is Role.OUTSIDE:
            self.books.interrupt()
        elif void:
            self.books.lose(was.served)
        else:
            self.books.record(was.served, total / self.spec.unit)
        if not self.as_planned():
            self.leave_plan(1)
            self.books.settle()
        elif self.washout:
            self.washout -= 1
            self.excluded += 1
        else:
            self.excluded += void
            self.learned += not void
            if self.plan.take(was.step, total, void):
                self.books.settle()

    def as_planned(self) -> bool:
        """Whether the step in hand was in the plan, and is so now."""
        was = self.was
        if was.role is Role.OUTSIDE:
            return False
        planned = self.plan.current(was.step, self.left())
        return was.served == (safe(self.spec, was) if was.shadow else planned)

    def leave_plan(self, steps: int) -> None:
        self.washout = self.spec.window - 1
        self.excluded += steps
        self.plan.pause()

    def count_on(self) -> None:
        """Let the next hold be one more than any before, so that it reads numbers of its own."""
        mine, other = self.plan.holding, self.was.plan.holding
        if mine is not None and other is not None:
            mine.opened = max(mine.opened, other.opened)

    def follows(self) -> dict[str, Any]:
        """Where the experiment stands now, as the body of a `revise` has it."""
        self.count_on()
        role, served = self.was.role, self.was.served
        if self.was.phase is Phase.OVER:
            served = self.kept()
        elif role is not Role.OUTSIDE:
            role = self.role_now()
        return {
            "plan": self.plan.values(), "books": self.books.values(), "role": str(role), "served": served,
            "washout": self.washout, "learned": self.learned, "excluded": self.excluded, "capped": self.capped,
        }  # fmt: skip

    def role_now(self) -> Role:
        """What the step in hand is for; the books have it either way."""
        if not self.as_planned():
            self.plan.pause()
            self.washout = self.spec.window
        if self.washout:
            return Role.WASHOUT
        return Role.SHADOW if self.was.shadow else Role.PLAN

    def kept(self) -> int:
        """What is served after the end: what was ordered, else what is recommended now."""
        was = self.was
        if was.step != self.spec.horizon or was.pinned >= 0 or was.shadow:
            return was.served
        return self.plan.recommend([tally.pulls for tally in self.books.tallies])
