"""Notices: events that tell people what they would otherwise have to look for.

Notices of silence and of the end follow from the events before them and are appended with these. Notices of alarms,
leaders and verdicts need a computation; they are appended by whoever makes it (`Experiment.announce`), directly behind
the record that they judge. All are records of the log like any others, and the state has what was told last.
"""

from dataclasses import dataclass
from typing import Any

from afterglow.estimation.verdict import Verdict
from afterglow.live.domain.commands import Event
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import AnyState, Phase

SILENT = 3  # steps without a report, after which it is told
STANDS_OUT = ("leading", "clear", "tested", "proven")  # grades
REACHED = STANDS_OUT[1:]
FINAL = (*STANDS_OUT, "inconclusive", "stopped")  # grades after the end


@dataclass(frozen=True)
class Noticed:
    """What a verdict says, as far as notices tell it."""

    alarm: str | None
    leader: str | None
    grade: str
    sentence: str


def noticed(verdict: Verdict) -> Noticed:
    leads = verdict.grade in STANDS_OUT
    best = None if verdict.recommended is None else str(verdict.recommended)
    return Noticed(verdict.alarm, best if leads else None, verdict.grade, verdict.sentence)


def final(state: AnyState) -> bool:
    """Whether the experiment is over and its verdict was told."""
    return state.phase is Phase.OVER and state.told.grade in FINAL


def following(spec: Spec, state: AnyState, phase: Phase) -> list[Event]:
    """Notices that follow from the state; `phase` is the one before the last events."""
    made, told = list[Event](), state.told
    if not told.silence and told.silent >= SILENT and state.phase is not Phase.OVER:
        kind = "reports_stopped" if told.reported else "never_reported"
        made.append(Event(kind, {"step": state.step, "steps": told.silent}))
    elif told.silence and not told.silent:
        made.append(Event("reports_resumed", {"step": state.step}))
    if state.phase is Phase.OVER and phase is not Phase.OVER:
        how = "horizon" if state.step == spec.horizon else "stopped"
        made.append(Event("ended", {"step": state.step, "keep": state.served, "how": how}))
    return made


def judged(spec: Spec, state: AnyState, found: Noticed) -> list[Event]:
    """Notices of a verdict on the state; none if all of it was told before."""
    told, made = state.told, list[Event]()
    if (found.alarm is not None) != told.alarm:
        kind = "alarm_raised" if found.alarm is not None else "alarm_cleared"
        made.append(Event(kind, {"step": state.step, "sentence": found.alarm or ""}))
    leader = -1 if found.leader is None else spec.variants.index(found.leader)
    if leader != told.leader:
        body: dict[str, Any] = {"step": state.step, "variant": None if leader < 0 else leader, "grade": found.grade}
        made.append(Event("leads", body))
    reached = found.grade in (FINAL if state.phase is Phase.OVER else REACHED)
    if reached and (found.grade, leader) != (told.grade, told.leader):
        body = {"step": state.step, "variant": None if leader < 0 else leader, "grade": found.grade}
        made.append(Event("verdict", body | {"sentence": found.sentence}))
    return made
