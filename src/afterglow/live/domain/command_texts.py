"""What a command will do, as its form says before it is confirmed.

Texts have placeholders, which the page fills: `{when}` (the step with which it takes effect, and its time), `{starts}`
(now, or the start time), `{reach}` (for how long clients may use an answer that they have), `{control}`, `{pinned}`,
`{step}` and `{steps}` (how many there are in all).
"""

from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import WAITING
from afterglow.live.domain.status import Status


def washout(spec: Spec) -> str:
    """What is not learned because of steps outside the plan."""
    if spec.window == 1:
        return "Steps outside the plan are not learned from."
    after = "the step" if spec.window == 2 else f"the {spec.window - 1:,} steps"
    return f"Steps outside the plan are not learned from, nor {after} after them, in which their effects may arrive."


def start(spec: Spec, status: Status) -> str:
    ends = "From then on steps end on a schedule." if spec.step_ms else "It ends when a program closes it."
    return f"Step 0 begins {{starts}}. {ends}"


def pin(spec: Spec, status: Status) -> str:
    return (
        f"{{when}} everyone{' in the unit, or in all units,' * bool(spec.units)} gets the variant that you choose, "
        "whatever the plan says, until it is unpinned. "
        f"{washout(spec)} Pinning the planned variant costs nothing."
    )


def unpin(spec: Spec, status: Status) -> str:
    served = "what is planned" if status.phase != "paused" else "the control, {control}, because it is paused,"
    pinned = "{pinned}" if status.pinned is not None else "the pinned variant"
    return f"{{when}} everyone gets {served} instead of {pinned}. {washout(spec)}"


def pause(spec: Spec, status: Status) -> str:
    served = "everyone gets the control, {control}, until the experiment is resumed."
    if status.pinned is not None:
        served = "nothing is learned until the experiment is resumed; {pinned} is still served, because it is pinned."
    ends = " The steps continue and count towards the horizon." if spec.horizon else ""
    return f"{{when}} {served} {washout(spec)}{ends}"


def resume(spec: Spec, status: Status) -> str:
    served = "everyone gets what is planned."
    if status.pinned is not None:
        served = "the experiment continues, but {pinned} is still served, because it is pinned."
    return f"{{when}} {served} {washout(spec)}"


def disable(spec: Spec, status: Status) -> str:
    return (
        "{when} the variant is no longer served, and the policy starts again with the others. The estimates keep what "
        "is known about all variants."
    )


def emergency(spec: Spec, status: Status) -> str:
    if status.phase == "over":
        return (
            "The variant is off now. If it is the one that is kept, everyone gets the control, {control}, or another "
            "variant that is not disabled. Clients that reach the service follow within {reach}."
        )
    return (
        "The variant is off now, in the middle of the step, and disabled. Clients that reach the service follow within "
        "{reach}, whatever the length of a step; clients that can’t reach it keep the last variant that they know. If "
        "the variant is live, step {step} goes on with the pinned variant, else with the control, {control}, else with "
        "the first that is enabled, and is void: it is not learned from. The policy starts again with the other "
        "variants."
    )


def enable(spec: Spec, status: Status) -> str:
    return "{when} the variant may be served again, and the policy starts again with it."


def go_live(spec: Spec, status: Status) -> str:
    return "{when} everyone gets what is planned instead of the control, {control}; the policy starts again."


def void(spec: Spec, status: Status) -> str:
    return (
        "Takes effect immediately: these steps are excluded. If the policy has learned from them, it is recomputed "
        "without them; later steps count if it would have served the same variant. The totals stay visible, and the "
        "intervals get wider. This can't be undone."
    )


def accept_clock(spec: Spec, status: Status) -> str:
    return (
        "Do this if the clock of the service, or of its database, is right as it is now. Step {step}, which was held, "
        "is void. Steps that the clock has passed are missed; if it went back, the schedule goes back by whole steps. "
        "If it has passed the last step, the experiment ends for good. "
        "If the clock is wrong, set it right instead: the experiment then goes on by itself."
    )


def extend(spec: Spec, status: Status) -> str:
    return (
        "Takes effect immediately: the experiment has as many steps as you enter, instead of {steps}. It can’t be made "
        "shorter again, only stopped. Intervals and verdicts hold as before. Bounds on what the policy loses are "
        "proved for a horizon that is fixed in advance, so they say nothing about an experiment that was made longer "
        "because of its results."
    )


def archive(spec: Spec, status: Status) -> str:
    return (
        "The experiment is hidden from the list of experiments. It keeps serving its variant, its page and its log "
        "stay, and it can be brought back at any time."
    )


def unarchive(spec: Spec, status: Status) -> str:
    return "The experiment is listed among the others again. Nothing else changes."


def stop(spec: Spec, status: Status) -> str:
    if status.phase in WAITING:
        return "Permanent: the experiment is cancelled now, and everyone gets the variant that you keep within {reach}."
    of_all = " of {steps}" if spec.horizon else ""
    return (
        f"Permanent: the experiment ends now, in step {{step}}{of_all}, and the current step is not learned from. "
        "Clients that reach the service get the variant that you keep within {reach}. A stopped experiment can't be "
        "resumed."
    )
