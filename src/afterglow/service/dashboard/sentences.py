"""What an experiment's state and log say, in sentences."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from afterglow.estimation.estimates import Estimates
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.status import Explanation, Status
from afterglow.live.follower import LogEntry
from afterglow.service.dashboard.intervals import largest
from afterglow.service.dashboard.numbers import counted, even, length, signed

ROLES = {
    "plan": "as planned",
    "washout": "wash-out: as planned, not learned from",
    "outside": "outside the plan, not learned from",
    "shadow": "shadow: the control is served, the plan only logged",
    "missed": "missed: nobody asked or reported",
    "last": "open when the experiment was stopped",
    "void": "void: not learned from",
}


UNITS = {60_000: "a minute", 3_600_000: "an hour", 86_400_000: "a day", 604_800_000: "a week"}  # by milliseconds


def known(spec: Spec, status: Status, estimates: Estimates) -> str:
    """Which variant is best, as far as it is known."""
    leader = status.leader
    low = even(estimates[leader].low, largest(estimates)) if leader is not None else ""
    if status.phase in ("draft", "scheduled"):
        return "It is not started: the control is served and nothing is learned."
    if status.status == "finished":
        return f"It is over and decided: {leader} brings at least {low} a step, more than any other can."
    if status.status == "inconclusive":
        return f"It is over. {ahead(spec, status)}The bounds that hold whatever effects do still overlap."
    if status.status == "decided":
        return f"Decided: {leader} brings at least {low} a step, more than any other can."
    if status.status == "leading":
        return f"{leader} leads: it brings at least {low} a step, more than the others do on average; not decided yet."
    return "No variant is ahead for certain yet: their intervals overlap."


def ahead(spec: Spec, status: Status) -> str:
    """What is recommended, and how far it is ahead by ordinary statistics."""
    lead = status.lead
    if status.recommended is None:
        return ""
    if lead is None or lead.mean is None or lead.low is None or lead.high is None:
        return f"{status.recommended} is recommended. "
    unit, largest = UNITS.get(spec.step_ms, "a step"), max(abs(lead.low), abs(lead.high))
    mean, low, high = (signed(value, largest) for value in (lead.mean, lead.low, lead.high))
    doubt = ", so it may be no better" if lead.low <= 0 else ""
    return (
        f"{status.recommended} is recommended: {mean} {unit} over {lead.other} ({100 * spec.confidence:.4g} % interval "
        f"{low} to {high}, read once, if stretches of a window vary independently){doubt}. "
    )


def conditions(spec: Spec, status: Status) -> list[str]:
    """What operators have ordered, and what follows from it."""
    if status.phase in ("over", "draft", "scheduled"):
        return []
    said = []
    if status.phase == "paused":
        served = "the control is served and " if status.pinned is None else ""
        said.append(f"Paused: {served}nothing is learned until somebody resumes.")
    if status.pinned is not None:
        late = "" if status.pinned == status.variant else " from the next step on"
        said.append(f"Pinned to {status.pinned}{late}, whatever the plan says, until somebody unpins.")
    if status.shadow:
        said.append(f"Shadow mode: the plan is only logged, everybody gets {spec.variants[spec.control]}.")
    if status.disabled:
        verb = "is" if len(status.disabled) == 1 else "are"
        said.append(f"{', '.join(status.disabled)} {verb} disabled and won’t be played.")
    if status.washout:
        said.append(
            f"Wash-out: {counted(status.washout, 'more step')} won’t be learned from, because steps outside the plan "
            "may still pay into them."
        )
    return said


def planned(spec: Spec, why: Explanation) -> str:
    """What the plan holds and for how long; void steps and those outside the plan make that longer."""
    if why.hold is None or why.role == "outside":
        return ""
    since, steps = why.hold
    last = min(since + steps, spec.horizon or since + steps) - 1
    end = f", until step {last:,} at least" if last > why.step else ""
    counting = "1 step that counts" if steps == 1 else f"{steps:,} steps that count"
    return f"The plan holds {why.planned} for {counting}, from step {since:,} on{end}."


class Line(NamedTuple):
    """One entry of the log in words."""

    seq: int
    at: float
    kind: str
    text: str
    reason: str


def lines(spec: Spec, log_entries: Iterable[LogEntry]) -> list[Line]:
    """The log in words, newest first; steps that ended as they should are left out."""
    made = list[Line]()
    void = list[LogEntry]()
    for one in log_entries:
        if one.kind == "close" and one.body["void"]:
            void.append(one)
            continue
        said = sentence(spec, one)
        if said:
            made += [*void_line(void), Line(one.seq, one.at, one.kind, said, str(one.body.get("reason", "")))]
            void = []
    return [*made, *void_line(void)][::-1]


def void_line(void: Sequence[LogEntry]) -> list[Line]:
    if not void:
        return []
    steps = [one.body["step"] for one in void]
    which = f"Step {steps[0]:,} was" if len(steps) == 1 else f"{len(steps):,} steps from {steps[0]:,} on were"
    return [Line(void[-1].seq, void[-1].at, "silent", f"{which} void: nothing was reported.", "")]


def sentence(spec: Spec, one: LogEntry) -> str:
    """One record in words; nothing for the usual end of a step."""
    body = one.body
    variant = spec.variants[body["variant"]] if isinstance(body.get("variant"), int) else ""
    if one.kind == "close":
        last = spec.horizon is not None and body["step"] + 1 == spec.horizon
        return f"All {counted(spec.horizon or 0, 'step')} are played." if last else ""
    if one.kind == "missed":
        first, count = body["first"], body["count"]
        were = "was" if count == 1 else "were"
        return f"{stretch(first, first + count - 1)} {were} missed: nobody asked or reported."
    return {
        "create": f"Created with {counted(len(spec.variants), 'variant')}: {', '.join(spec.variants)}.",
        "schedule": "Scheduled: it starts by itself.",
        "start": "Started.",
        "pin": f"Pinned to {variant}.",
        "unpin": "Unpinned.",
        "pause": "Paused.",
        "resume": "Resumed.",
        "disable": f"{variant} disabled; the policy started afresh with the others.",
        "enable": f"{variant} enabled; the policy started afresh with it.",
        "go_live": "Went live: what is planned is served.",
        "void": f"Step {body.get('step', 0):,} voided: it is not learned from.",
        "revise": f"{stretch(body.get('first', 0), body.get('last', 0))} voided: the policy goes back to before them.",
        "stop": f"Stopped in step {body.get('step', 0):,}; {spec.variants[body.get('keep', 0)]} is kept.",
    }.get(one.kind, one.kind)


def stretch(first: int, last: int) -> str:
    return f"Step {first:,}" if first == last else f"Steps {first:,} to {last:,}"


def settings(spec: Spec) -> list[tuple[str, str]]:
    """What the experiment was created with."""
    steps = "closed by the caller" if spec.mode == "manual" else f"{length(spec.step_ms / 1000)} each, by the clock"
    options = ", ".join(f"{name} = {value}" for name, value in spec.options.items())
    return [
        ("Variants", ", ".join(spec.variants)),
        ("Control", spec.variants[spec.control]),
        ("Steps", steps),
        ("Window", lasting(spec, spec.window)),
        ("Horizon", "none" if spec.horizon is None else lasting(spec, spec.horizon)),
        ("Most that one step brings", f"{spec.reward_max:,g}"),
        ("Season", "none" if spec.season == 1 else counted(spec.season, "step")),
        ("Policy", f"{spec.policy}, version {spec.policy_version}" + (f", with {options}" if options else "")),
        ("Confidence", f"{spec.confidence:.4g}"),
        ("Seed", str(spec.seed)),
        ("A step without a report", "is void" if spec.heartbeat else "counts as zero"),
        ("Keys are kept", f"for {counted(spec.remember, 'step')} after their own"),
        ("Created by", f"afterglow {spec.release}"),
    ]


def lasting(spec: Spec, steps: int) -> str:
    """Some steps, and how long they take by the clock."""
    return counted(steps, "step") + (f" ({span(steps * spec.step_ms / 1000)})" if spec.step_ms else "")


def span(seconds: float) -> str:
    """A long time in its largest unit.

    >>> span(86400), span(2000 * 3600), span(45)
    ('1 day', '83.3 days', '45 seconds')
    """
    for size, name in ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second")):
        if seconds >= size:
            number = f"{seconds / size:,.1f}".removesuffix(".0")
            return f"{number} {name}" + "s" * (number != "1")
    return f"{seconds:g} seconds"
