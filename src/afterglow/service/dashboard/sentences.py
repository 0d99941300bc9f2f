"""An experiment's status and settings as sentences."""

from collections.abc import Iterable, Sequence

from afterglow.estimation.verdict import DECIDED, Verdict
from afterglow.live.domain.guards.stops import GuardStatus
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.status import Explanation, Status
from afterglow.live.summary import amounts
from afterglow.service.dashboard.numbers import counted, duration, figure, rounded_duration

ROLES = {
    "plan": "as planned",
    "washout": "washout: as planned, excluded",
    "outside": "outside the plan, excluded",
    "shadow": "shadow: the control is served, the plan only logged",
    "emergency": "emergency: the variant was replaced within the step, excluded",
    "missed": "missed: no requests, no reports",
    "last": "unfinished when the experiment was stopped",
    "void": "void: excluded",
    "aside": "set aside: without the void steps another variant would have been served; excluded",
}


def conditions(spec: Spec, status: Status) -> list[str]:
    """What operators have changed, and its effects."""
    if status.phase in ("over", "draft", "scheduled"):
        return []
    sentences = []
    if status.phase == "paused":
        served = "the control is served and " if status.pinned is None else ""
        sentences.append(f"Paused: {served}nothing is learned until the experiment is resumed.")
    if status.pinned is not None:
        late = "" if status.pinned == status.variant else " from the next step on"
        sentences.append(f"Pinned to {status.pinned}{late}, regardless of the plan, until it is unpinned.")
    if status.shadow:
        sentences.append(f"Shadow mode: the plan is only logged, {spec.variants[spec.control]} is served.")
    if status.disabled:
        sentences += disabled(status.disabled, status.guards)
    sentences += blind_guards(spec, status)
    if status.held:
        sentences.append(
            "Held: the clock has jumped, and the current step goes on until it is right again or accepted."
        )
    if status.washout:
        sentences.append(
            f"Washout: {counted(status.washout, 'more step')} will be excluded, because effects of steps outside the "
            "plan may still arrive."
        )
    return sentences


def disabled(variants: Sequence[str], rows: Iterable[GuardStatus]) -> list[str]:
    """Which variants aren't served, and which guards have stopped them."""
    guards = {row.variant: row.guard for row in rows if row.stopped_at is not None}
    stopped = [f"{one} was disabled by the guard “{guards[one]}”." for one in variants if one in guards]
    names = [one for one in variants if one not in guards]
    verb = "is" if len(names) == 1 else "are"
    return stopped + ([f"{', '.join(names)} {verb} disabled and won’t be served."] if names else [])


def blind_guards(spec: Spec, status: Status) -> list[str]:
    """Guards that can't stop anything as it is."""
    names, control = [one.name for one in spec.guards if one.relative], spec.variants[spec.control]
    unseen = dict.fromkeys(row.metric for row in status.guards if row.state == "unreported")
    found = [f"Guards can’t watch {metric}: nothing but 0 was reported of it so far." for metric in unseen]
    if names and control in status.disabled:
        against = ", ".join(names)
        found.append(
            f"{control} is the control: while it is disabled, limits against it ({against}) use its totals until then."
        )
    return found


def planned(spec: Spec, why: Explanation) -> str:
    """Which variant the plan keeps and for how long; excluded steps prolong it."""
    if why.hold is None or why.role == "outside":
        return ""
    since, steps = why.hold
    last = min(since + steps, spec.horizon or since + steps) - 1
    if steps == 1:
        return "The plan chooses anew for every step."
    end = f", until step {last:,} or later" if last > why.step else ""
    kept = f"{why.planned} for {counted(steps, 'step')} from step {since:,} on{end}"
    return f"The plan keeps {kept}; excluded steps don’t count."


def in_short(verdict: Verdict) -> str:
    """The recommended variant and its difference, in a few words; empty while nothing is known that would be shown."""
    row = verdict.to_control if verdict.to_control and verdict.to_control.percent else verdict.to_runner_up
    told = verdict.grade in ("leading", *DECIDED) and verdict.alarm is None
    if not told or row is None or row.percent is None:
        return ""
    return f"{row.arm}: {amounts(row.percent)[0]} % against {row.other}"


def expected_totals(spec: Spec) -> str:
    """What is taken out of totals before the policy learns."""
    trust = "" if spec.trust == 1 else f", trust {spec.trust:g}"
    if spec.profile:
        return f"a profile of {counted(len(spec.profile), 'step')} is taken out{trust}"
    return "none" if spec.typical is None else f"told step by step, usually {figure(spec.typical)}, taken out{trust}"


def settings(spec: Spec) -> list[tuple[str, str]]:
    """The settings that the experiment was created with."""
    steps = "closed manually" if spec.mode == "manual" else f"{duration(spec.step_ms / 1000)} each, on a schedule"
    options = ", ".join(f"{name} = {value}" for name, value in spec.options.items())
    return [
        ("Variants", ", ".join(spec.variants)),
        *([("Units", units_and_levels(spec))] if spec.units else []),
        ("Control", spec.variants[spec.control]),
        ("Steps", steps),
        ("Window", steps_and_duration(spec, spec.window)),
        ("Horizon", horizon(spec)),
        *([("Unit of totals", spec.unit)] if spec.unit else []),
        *(
            []
            if spec.units
            else [("Maximum value of one step’s decision", f"{spec.reward_max:,.12g} {spec.unit}".strip())]
        ),
        ("Season", "none" if spec.season == 1 else counted(spec.season, "step")),
        ("Expected totals", expected_totals(spec)),
        *([("Guards", "; ".join(f"{one.name} {one.words()}" for one in spec.guards))] if spec.guards else []),
        ("Policy", f"{spec.policy}, version {spec.policy_version}" + (f", with {options}" if options else "")),
        ("Confidence", f"{100 * spec.confidence:.4g} %"),
        ("Seed", str(spec.seed)),
        ("Steps without a report", silence(spec)),
        ("Reward keys", f"kept for {kept_for(spec)} after their step"),
        ("Created with", f"afterglow {spec.release}"),
    ]


def units_and_levels(spec: Spec) -> str:
    """The units, with their levels if they were told."""
    if not spec.levels:
        return f"{', '.join(spec.units)}; levels not told"
    return ", ".join(f"{unit} ({figure(level)})" for unit, level in zip(spec.units, spec.levels, strict=True))


def horizon(spec: Spec) -> str:
    """How long it is, and how long it was to be."""
    if spec.horizon is None:
        return "none"
    first = f", lengthened from {spec.first_horizon:,}" if spec.lengthened else ""
    return steps_and_duration(spec, spec.horizon) + first


def steps_and_duration(spec: Spec, steps: int) -> str:
    """A number of steps, and how long they take on a schedule."""
    return counted(steps, "step") + (f" ({rounded_duration(steps * spec.step_ms / 1000)})" if spec.step_ms else "")


def kept_for(spec: Spec) -> str:
    """How long keys are kept at least."""
    steps, lasts = counted(spec.remember, "step"), duration(spec.remember_ms / 1000)
    if not spec.remember_ms:
        return steps
    return lasts if spec.remember <= 1 else f"{lasts} and {steps} at least"


def silence(spec: Spec) -> str:
    """What a step counts of which nothing was reported."""
    if spec.heartbeat:
        return "are void"
    if not spec.units:
        return "count as zero"
    given = "; void where totals of other units are given" if spec.mode == "manual" else ""
    return f"of a unit count as zero once it has reported{given}"
