"""The activity log of an experiment: its records as sentences."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from afterglow.live.domain.actor import actor_in
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.transitions import NOTICES
from afterglow.live.log_entries import LogEntry
from afterglow.service.dashboard.numbers import counted


class LogLine(NamedTuple):
    """One line of the activity log."""

    seq: int
    at: float
    kind: str
    text: str
    reason: str
    by: str = ""


def lines(spec: Spec, log_entries: Iterable[LogEntry]) -> list[LogLine]:
    """The activity log, newest first; steps that ended normally are left out, steps that follow each other are one."""
    made = list[LogLine]()
    void = list[LogEntry]()
    for one in log_entries:
        if silent(one):
            if void and one.body["step"] != void[-1].body["step"] + 1:
                made, void = [*made, *void_line(void)], []
            void.append(one)
        text = sentence(spec, one)
        if text:
            reason, by = str(one.body.get("reason", "")), actor_in(one.body)
            made += [*void_line(void), LogLine(one.seq, one.at, one.kind, text, reason, str(by or ""))]
            void = []
    return [*made, *void_line(void)][::-1]


def silent(one: LogEntry) -> bool:
    """Whether a record ends a step that is void because nothing was reported."""
    return one.kind == "close" and bool(one.body["void"]) and bool(one.body.get("silent", True))


def void_line(void: Sequence[LogEntry]) -> list[LogLine]:
    if not void:
        return []
    first, last = void[0].body["step"], void[-1].body["step"]
    verb = "is" if first == last else "are"
    text = f"{step_range(first, last)} {verb} void: nothing was reported."
    return [LogLine(void[-1].seq, void[-1].at, "silent", text, "")]


def sentence(spec: Spec, one: LogEntry) -> str:
    """One record as a sentence; empty for the normal end of a step."""
    body = one.body
    variant = spec.variants[body["variant"]] if isinstance(body.get("variant"), int) else ""
    if one.kind == "close":
        return closed(spec, body)
    if one.kind == "missed":
        return missed(spec, body)
    voided = step_range(body.get("first", 0), body.get("last", 0))
    named = [spec.units[one] for one in body.get("units", ()) if isinstance(one, int)]
    where = f" in {', '.join(named)}" if named else ""
    if one.kind in NOTICES:
        return notice(one, variant)
    return {
        "create": f"Created with {counted(len(spec.variants), 'variant')}: {', '.join(spec.variants)}.",
        "schedule": "Scheduled to start automatically.",
        "start": "Started.",
        "expect": f"Expected totals told, from step {body.get('first', 0):,} on.",
        "pin": f"Pinned to {variant}{where}.",
        "unpin": f"Unpinned{where}.",
        "pause": "Paused.",
        "resume": "Resumed.",
        "disable": f"{variant} disabled; the policy restarted with the other variants.",
        "emergency": emergency(spec, one) if one.kind == "emergency" else "",
        "guarded": f"Guard {body.get('guard', '')}: {variant} disabled; the policy restarted with the other variants.",
        "limit_exceeded": f"Guard {body.get('guard', '')}: {variant} is beyond its limit; it is not disabled.",
        "guard_withdrawn": f"Guard {body.get('guard', '')}: the evidence against {variant} is void.",
        "one_left": f"All variants but {variant} are disabled: there is nothing to choose.",
        "enable": f"{variant} re-enabled; the policy restarted with it.",
        "go_live": "Went live: the planned variant is served.",
        "clock_jump": f"The clock jumped; step {body.get('step', 0):,} is held.",
        "clock_agrees": clock_agrees(body),
        "accept_clock": f"The clock was accepted; step {body.get('step', 0):,}, which was held, is void.",
        "void": f"Step {body.get('step', 0):,} voided{where}: it is excluded.",
        "revise": f"{voided} voided{where}: the policy is recomputed without them.",
        "extend": f"Lengthened to {counted(body.get('horizon') or 0, 'step')}, by {body.get('more', 0):,}.",
        "archive": "Archived: hidden from the list of experiments.",
        "unarchive": "Brought back from the archive.",
        "stop": f"Stopped in step {body.get('step', 0):,}; {spec.variants[body.get('keep', 0)]} is served permanently.",
    }.get(one.kind, one.kind)


def closed(spec: Spec, body: Mapping[str, Any]) -> str:
    """The end of a step; empty for a normal one."""
    last = spec.horizon is not None and body["step"] + 1 == spec.horizon
    late = f"Step {body['step']:,} is void: it may have reports of the silent steps before it."
    said = [late] if body.get("late") else []
    return " ".join(said + [f"All {counted(spec.horizon or 0, 'step')} are complete."] * last)


def missed(spec: Spec, body: Mapping[str, Any]) -> str:
    """Steps without requests and reports."""
    first, count = body["first"], body["count"]
    were = "was" if count == 1 else "were"
    end = f" All {spec.horizon:,} steps are complete." if first + count == spec.horizon else ""
    return f"{step_range(first, first + count - 1)} {were} missed: no requests, no reports.{end}"


def notice(one: LogEntry, variant: str) -> str:
    """A notice; the end is told by the record before it."""
    body = one.body
    leads = f"{variant} leads." if variant else "No variant leads any more."
    return {
        "alarm_raised": f"Alarm raised: {body.get('sentence', '')}.",
        "alarm_cleared": "Alarm cleared.",
        "leads": leads,
        "verdict": f"Verdict: {body.get('grade', '')}. {body.get('sentence', '')}",
        "never_reported": f"Nothing was ever reported, in {body.get('steps', 0):,} steps.",
        "reports_stopped": f"Reports stopped: nothing was reported in the last {body.get('steps', 0):,} steps.",
        "reports_resumed": "Something was reported again.",
    }.get(one.kind, "")


def emergency(spec: Spec, one: LogEntry) -> str:
    """A variant that was taken off."""
    off, to = spec.variants[one.body["variant"]], spec.variants[one.body["to"]]
    if not one.body["void"]:
        return f"Emergency: {off} taken off; {to} is served."
    if "units" in one.body:
        where = counted(len(one.body["units"]), "unit")
        return f"Emergency: {off} taken off within step {one.body['step']:,}, void in {where}; {to} is served there."
    return f"Emergency: {off} taken off within step {one.body['step']:,}, which is void; {to} is served instead."


def clock_agrees(body: Mapping[str, Any]) -> str:
    """The clock is right after a jump."""
    spoiled = f"; step {body.get('step', 0):,} was held too long and is void" if body.get("void") else ""
    return f"The clock is right again{spoiled}."


def step_range(first: int, last: int) -> str:
    return f"Step {first:,}" if first == last else f"Steps {first:,} to {last:,}"
