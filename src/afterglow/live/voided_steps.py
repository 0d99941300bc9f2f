"""Which steps don't count because of voids: those that commands made void, with reasons, and those set aside by that.

Voiding learned steps may set others aside: without the void ones the policy would have served another variant. The last
`revise` event says which.
"""

from collections.abc import Iterator, Sequence

from afterglow.live.domain.log import read_body
from afterglow.live.domain.replay import REVISING, StepSet, range_of
from afterglow.live.domain.state import Role
from afterglow.live.domain.step_rows import StepRow
from afterglow.live.store.contract import Reading

VOIDING = (*REVISING, "emergency", "clock_agrees", "accept_clock")  # events by which commands make steps void
HELD = "held too long, because the clock had jumped"
SET_ASIDE = "set aside, because steps before it were voided and without them another variant would have been served"


class VoidedSteps:
    """`read` what a log has up to a record, then ask for steps."""

    def __init__(self) -> None:
        self.reasons: list[tuple[range, Sequence[int], str]] = []  # steps, units (none: all), why
        self.aside = StepSet([])
        self.looked = -1  # the last record that was searched

    def read(self, log: Reading, seq: int) -> "VoidedSteps":
        """Search the records since the last call."""
        if self.looked < seq:
            new = [one for kind in VOIDING for one in log.records(self.looked, kind=kind)]
            for one in sorted(new, key=lambda one: one.seq):
                body = read_body(one.body)
                if body.get("void", True):
                    self.reasons.append((range_of(one), body.get("units") or (), str(body.get("reason", HELD))))
                if "aside" in body.get("follows", ()):
                    self.aside = StepSet(ranges(body["follows"]["aside"]))
            self.looked = seq
        return self

    def reason(self, step: int, unit: int = 0) -> str | None:
        """The reason of the command that made a step void, for a unit where it named units, if there was one."""
        found = (why for steps, units, why in self.reasons if step in steps and (not units or unit in units))
        return next(found, None)

    def role(self, row: StepRow) -> str:
        """The role of a step now."""
        return str(Role.ASIDE) if not row.void and self.aside.firsts and row.step in self.aside else row.role


def ranges(pairs: list[list[int]]) -> Iterator[range]:
    return (range(first, last + 1) for first, last in pairs)
