"""Steps of the past as readers see them, and why they have their variants."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from afterglow.errors import OutOfTurn
from afterglow.live.domain.amounts import units
from afterglow.live.domain.expected import expected_total
from afterglow.live.domain.log import read_body
from afterglow.live.domain.state import WAITING, Role
from afterglow.live.domain.status import Explanation
from afterglow.live.domain.step_rows import StepRow, totals_in, void_for
from afterglow.live.domain.units.metric_totals import totals_in as unit_totals_in
from afterglow.live.follower import Follower
from afterglow.live.store.contract import Reading
from afterglow.live.voided_steps import SET_ASIDE


class Step(NamedTuple):
    step: int
    variant: str
    planned: str
    role: str
    total: float | None  # None while it is open
    void: bool
    reason: str | None = None  # of the command that made it void
    expected: float | None = None  # total that was expected before it began
    metrics: dict[str, float] | None = None  # totals that guards watch; None while it is open, and without guards
    unit: str | None = None  # of an experiment with units


def decided(copy: Follower, log: Reading, step: int) -> StepRow:
    """The row of a step whose variant was decided."""
    now = copy.state
    if now.phase in WAITING or not 0 <= step <= now.step or (now.phase == "over" and step == now.step):
        raise OutOfTurn(f"step {step:,} of {copy.name!r} has no decision yet; it is at step {now.step:,}")
    row = next(log.steps(step, 1), None)
    if row is None or row.role == Role.MISSED:
        raise OutOfTurn(f"step {step:,} of {copy.name!r} was missed: nothing was requested or reported")
    return row


def explain(copy: Follower, log: Reading, past: Follower, row: StepRow, unit: str | None = None) -> Explanation:
    """Why a step has its variant, given the state in which that was decided."""
    step = row.step
    explained = past.rules.explanation(past.spec, past.state, unit)
    voided = copy.voided.read(log, copy.seq)
    number = 0 if unit is None else copy.spec.units.index(unit)
    if row.void or (unit is not None and void_for(row, [number])):
        known = "it may have reports of the silent steps before it" if row.total else "nothing was reported"
        return replace(explained, why=f"{explained.why}; void: {voided.reason(step, number) or known}")
    if voided.role(row) == Role.ASIDE:
        return replace(explained, role=str(Role.ASIDE), why=f"{explained.why} then; {SET_ASIDE}")
    return explained


def by_unit(copy: Follower, log: Reading, row: StepRow) -> Iterator[Step]:
    """A step of each unit."""
    names, kept, voided = copy.spec.variants, json.loads(row.series or "{}"), copy.voided.read(log, copy.seq)
    columns = (kept["served"], kept["planned"], kept["roles"], kept["totals"], kept["voids"])
    for number, (served, planned, role, total, void) in enumerate(zip(*columns, strict=True)):
        why = voided.reason(row.step, number) if void else None
        amount = None if total is None else units(total)
        beside = None if total is None else metrics_of_unit(copy, row, number)
        unit = copy.spec.units[number]
        yield Step(row.step, names[served], names[planned], role, amount, bool(void), why, metrics=beside, unit=unit)


def metrics_of_unit(copy: Follower, row: StepRow, unit: int) -> dict[str, float] | None:
    """The totals of a unit beside its reward, by name."""
    if len(copy.spec.metrics) == 1:
        return None
    others = unit_totals_in(copy.spec, row)
    return {name: units(totals[unit]) for name, totals in zip(copy.spec.metrics[1:], others, strict=True)}


def expected_from(copy: Follower, log: Reading, first: int, count: int | None) -> Callable[[int], float | None]:
    """The expected total of each step from `first` on."""
    spec, phase = copy.spec, copy.state.profile_phase
    if not spec.adjusts:
        return lambda step: None
    if spec.typical is not None and copy.told_until < copy.seq:
        for record in log.records(copy.told_until, kind="expect"):
            copy.told.add(read_body(record.body))
        copy.told_until = copy.seq
    told = copy.told.of(first, copy.state.step if count is None else first + count)

    def found(step: int) -> float | None:
        total = expected_total(spec, phase, step, told.get(step))
        return None if total is None else units(total)

    return found


def metrics(copy: Follower, row: StepRow) -> dict[str, float] | None:
    """The totals of a row beside the reward, by name."""
    if len(copy.spec.metrics) == 1 or row.total is None:
        return None
    others = totals_in(row)[1:] or [0] * (len(copy.spec.metrics) - 1)
    return {name: units(total) for name, total in zip(copy.spec.metrics[1:], others, strict=True)}


def steps(copy: Follower, log: Reading, first: int, count: int | None) -> list[Step]:
    """Variant, role and total of each step."""
    if copy.spec.units:
        return [step for row in log.steps(first, count) for step in by_unit(copy, log, row)]
    names, expected = copy.spec.variants, expected_from(copy, log, first, count)
    voided = copy.voided.read(log, copy.seq)
    return [
        Step(
            row.step, names[row.served], names[row.planned], voided.role(row),
            None if row.total is None else units(row.total), bool(row.void),
            voided.reason(row.step) if row.void else None, expected(row.step), metrics(copy, row),
        )
        for row in log.steps(first, count)
    ]  # fmt: skip
