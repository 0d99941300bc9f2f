"""Commands of operators, declared once: Python methods, HTTP routes, client methods, forms and docs are made from this.

To add a command, add a `Command` here, its effect in `commands` and, for a new kind of event, in `transitions`.
`python docs/tables/commands.py` then writes the typed methods and the tables of the reference.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from afterglow.errors import OutOfTurn, UnknownName
from afterglow.live.domain import command_texts as texts
from afterglow.live.domain import commands, limits, schedule_events
from afterglow.live.domain.arguments import Argument, Kind, read_all
from afterglow.live.domain.commands import Context, Event
from afterglow.live.domain.rules import Effect, rules_of
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import WAITING, AnyState, Phase
from afterglow.live.domain.status import Status

STARTED = (Phase.RUNNING, Phase.PAUSED)


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command of operators."""

    name: str  # of the methods; the address has "-" for "_"
    summary: str  # a line, for the lists of calls
    help: str  # sentences, for the methods and the reference
    arguments: tuple[Argument, ...]
    phases: tuple[Phase, ...]  # in which it is accepted
    effect: Effect
    events: tuple[str, ...]  # kinds of the events that may follow
    label: str  # of the button that opens the form
    title: str  # of the form
    button: str  # that sends the form
    confirmation: Callable[[Spec, Status], str]  # what will happen, with the placeholders of `command_texts`
    offered: Callable[[Spec, Status], bool]  # whether the page has its button
    at_once: bool = False  # takes effect immediately; otherwise with the next step
    scope: str = "operate"  # that a token needs
    grave: bool = False  # the form asks for the experiment's name
    urgent: bool = False  # its button is marked like that of a grave one, but nothing has to be typed
    grave_range: bool = False  # it asks for it if more than one step is named
    ignored: tuple[str, ...] = ()  # texts that HTTP accepts and ignores, as in earlier releases

    @property
    def red(self) -> bool:
        """Whether its buttons are marked."""
        return self.grave or self.urgent

    @property
    def slug(self) -> str:
        """Its name in addresses."""
        return self.name.replace("_", "-")

    def events_of(self, spec: Spec, state: AnyState, context: Context, given: Mapping[str, object]) -> list[Event]:
        """The events that follow; a refusal if the phase, an argument or the state doesn't allow it."""
        if state.phase not in self.phases:
            commands.started(spec, state)
            raise OutOfTurn(f"experiment {spec.name!r} is started already; it is {state.phase}")
        effect = rules_of(spec).effects.get(self.name, self.effect)
        return effect(spec, state, context, read_all(self.arguments, given, spec.variants, spec.units))


def effect_of(function: Callable[..., list[Event]]) -> Effect:
    """An effect that needs nothing but the spec, the state and the arguments."""
    return lambda spec, state, context, given: function(spec, state, **given)


def running(spec: Spec, status: Status) -> bool:
    return status.phase in STARTED


def enabled(spec: Spec, status: Status) -> list[str]:
    return [name for name in spec.variants if name not in status.disabled]


def enabled_and_free(spec: Spec, status: Status) -> list[str]:
    return [name for name in enabled(spec, status) if name != status.pinned]


def can_be_taken_off(spec: Spec, status: Status) -> list[str]:
    """Variants that are enabled, and the one that is live in any case."""
    live = {status.variant, *(one.variant for one in status.units)}
    return [name for name in spec.variants if name in live or name not in status.disabled]


def any_pinned(status: Status) -> bool:
    return status.pinned is not None or any(one.pinned is not None for one in status.units)


def best_to_keep(spec: Spec, status: Status) -> str:
    return status.recommended or spec.variants[spec.control]


REASON = Argument(
    "reason", Kind.TEXT, "Reason, kept in the log.", example="the shop asked for it",
    label="Reason", hint="Kept in the activity log for everyone with read access. Don't include personal data.",
)  # fmt: skip
VARIANT = Argument("variant", Kind.VARIANT, "Variant.", example="59", label="Variant", choices=enabled)


UNIT = Argument(
    "unit", Kind.UNIT, "Unit, in an experiment with units. Without it, all units.", None, example=None,
    label="Unit", hint="", choices=lambda spec, status: ["", *spec.units],
)  # fmt: skip


COMMANDS: list[Command] = [
    Command(
        name="start", summary="Start a draft, or schedule it",
        help="Start an experiment that was created with `start=False`, or schedule it if its `starts` is in the "
        "future.",
        arguments=(), ignored=("reason",), phases=WAITING, events=("start", "schedule"),
        effect=lambda spec, state, context, given: commands.start(spec, state, context.now),
        label="Start", title="Start the experiment", button="Start", confirmation=texts.start,
        offered=lambda spec, status: status.phase == Phase.DRAFT, at_once=True,
    ),
    Command(
        name="go_live", summary="Leave shadow mode",
        help="Leave shadow mode: serve what is planned.",
        arguments=(REASON,), phases=STARTED, events=("go_live",), effect=effect_of(commands.go_live),
        label="Go live", title="Leave shadow mode", button="Go live", confirmation=texts.go_live,
        offered=lambda spec, status: running(spec, status) and status.shadow,
    ),
    Command(
        name="pin", summary="Serve one variant, regardless of the plan",
        help="Serve one variant, regardless of the plan, until `unpin`.",
        arguments=(VARIANT, REASON, UNIT), phases=STARTED, events=("pin",), effect=effect_of(commands.pin),
        label="Pin", title="Pin a variant", button="Pin", confirmation=texts.pin, offered=running,
    ),
    Command(
        name="unpin", summary="Serve what is planned again",
        help="End a pin: serve what is planned.",
        arguments=(REASON, UNIT), phases=STARTED, events=("unpin",), effect=effect_of(commands.unpin),
        label="Unpin", title="Unpin the variant", button="Unpin", confirmation=texts.unpin,
        offered=lambda spec, status: running(spec, status) and any_pinned(status),
    ),
    Command(
        name="pause", summary="Serve the control and learn nothing",
        help="Serve the control and learn nothing until `resume`.",
        arguments=(REASON,), phases=STARTED, events=("pause",), effect=effect_of(commands.pause),
        label="Pause", title="Pause the experiment", button="Pause", confirmation=texts.pause,
        offered=lambda spec, status: status.phase == Phase.RUNNING,
    ),
    Command(
        name="resume", summary="Continue after a pause",
        help="End a pause.",
        arguments=(REASON,), phases=STARTED, events=("resume",), effect=effect_of(commands.resume),
        label="Resume", title="Resume the experiment", button="Resume", confirmation=texts.resume,
        offered=lambda spec, status: status.phase == Phase.PAUSED,
    ),
    Command(
        name="void", summary="Exclude steps whose totals are wrong",
        help="Exclude a step, or all steps up to `last`, even if it was learned long ago. A step of the current hold "
        "makes the hold longer. Otherwise the policy is recomputed without these steps.",
        arguments=(
            Argument(
                "step", Kind.WHOLE, "First step to exclude.", least=0, most=limits.EXACT, example=409,
                label="First step", suggested=lambda spec, status: str(status.step - 1),
            ),
            REASON,
            Argument(
                "last", Kind.WHOLE, "Last step to exclude. Without it, `step` alone.", None, least=0, most=limits.EXACT,
                example=411, label="Last step", hint="Empty for the first step alone.",
            ),
            UNIT,
        ),
        phases=(Phase.RUNNING, Phase.PAUSED, Phase.OVER), events=("void", "revise"),
        effect=lambda spec, state, context, given: commands.void_steps(spec, state, context, **given),
        label="Void steps", title="Void steps", button="Void steps", confirmation=texts.void,
        offered=lambda spec, status: status.phase != Phase.DRAFT and status.step > 0, at_once=True, grave_range=True,
    ),
    Command(
        name="disable", summary="Stop serving a variant",
        help="Stop serving a variant; the policy starts again with the others.",
        arguments=(
            Argument("variant", Kind.VARIANT, "Variant.", example="59", label="Variant", choices=enabled_and_free),
            REASON,
        ),
        phases=STARTED, events=("disable",), effect=effect_of(commands.disable),
        label="Disable", title="Disable a variant", button="Disable", confirmation=texts.disable,
        offered=lambda spec, status: running(spec, status) and len(status.disabled) < len(spec.variants) - 1,
    ),
    Command(
        name="emergency", summary="Take a variant off now, within the step",
        help="Take a variant off now, in the middle of a step, and disable it. If it is live, the step goes on with "
        "the pinned variant, else the control, and is void. Clients of the service follow within its `max_age`, 60 "
        "seconds at most. After the end it replaces the variant that is kept.",
        arguments=(
            Argument(
                "variant", Kind.VARIANT, "Variant to take off.", example="59", label="Variant to take off",
                choices=can_be_taken_off, suggested=lambda spec, status: status.variant or spec.variants[0],
            ),
            REASON,
        ),
        phases=(*STARTED, Phase.OVER), events=("emergency",), effect=effect_of(commands.emergency),
        label="Emergency", title="Take a variant off now", button="Take it off now", confirmation=texts.emergency,
        offered=lambda spec, status: status.phase in (*STARTED, Phase.OVER) and len(enabled(spec, status)) > 1,
        at_once=True, urgent=True,
    ),
    Command(
        name="enable", summary="Re-enable a variant",
        help="Re-enable a variant; the policy starts again with it.",
        arguments=(
            Argument(
                "variant", Kind.VARIANT, "Variant.", example="59", label="Variant",
                choices=lambda spec, status: list(status.disabled),
            ),
            REASON,
        ),
        phases=STARTED, events=("enable",), effect=effect_of(commands.enable),
        label="Enable", title="Re-enable a variant", button="Enable", confirmation=texts.enable,
        offered=lambda spec, status: running(spec, status) and bool(status.disabled),
    ),
    Command(
        name="accept_clock", summary="Go on by a clock that has jumped",
        help="Go on after a jump of the clock, which holds the current step, if what the clock shows now is right. The "
        "held step is void. Steps that the clock has passed are missed; if it went back, the schedule goes back with "
        "it by whole steps. A clock that is set right again needs no command.",
        arguments=(REASON,), phases=(Phase.SCHEDULED, *STARTED), events=("accept_clock",),
        effect=lambda spec, state, context, given: schedule_events.accept_clock(spec, state, context.clock, **given),
        label="Accept the clock", title="Go on by the clock as it is now", button="Accept the clock",
        confirmation=texts.accept_clock, offered=lambda spec, status: status.held, at_once=True,
        grave=True,
    ),
    Command(
        name="extend", summary="Lengthen the horizon",
        help="Lengthen the horizon of a running experiment. Policies whose schedule was made for the horizon refuse: "
        "`switchback`, `phased-ucb`, those that eliminate in phases, `composite-exp3`, `auto-wash`. Intervals and "
        "verdicts hold as before; regret bounds that are proved for a horizon fixed in advance don't.",
        arguments=(
            Argument(
                "horizon", Kind.WHOLE, "New number of steps in all.", least=1, most=limits.HORIZON, example=4000,
                label="New horizon, in steps", suggested=lambda spec, status: str(spec.horizon or ""),
            ),
            REASON,
        ),
        phases=STARTED, events=("extend",), effect=effect_of(commands.extend),
        label="Extend", title="Lengthen the experiment", button="Extend", confirmation=texts.extend,
        offered=lambda spec, status: running(spec, status) and spec.horizon is not None and commands.extendable(spec),
        at_once=True,
    ),
    Command(
        name="archive", summary="Hide an ended experiment from lists",
        help="Hide an experiment that is over from the overview. It keeps serving its variant, and nothing is deleted.",
        arguments=(REASON,), phases=tuple(Phase), events=("archive",), effect=effect_of(commands.archive),
        label="Archive", title="Archive the experiment", button="Archive", confirmation=texts.archive,
        offered=lambda spec, status: status.phase == Phase.OVER and not status.archived, at_once=True,
    ),
    Command(
        name="unarchive", summary="Show an archived experiment in lists again",
        help="Show an archived experiment in the overview again.",
        arguments=(REASON,), phases=tuple(Phase), events=("unarchive",), effect=effect_of(commands.unarchive),
        label="Unarchive", title="Bring the experiment back", button="Bring it back", confirmation=texts.unarchive,
        offered=lambda spec, status: status.archived, at_once=True,
    ),
    Command(
        name="stop", summary="End the experiment now",
        help="End the experiment now, or cancel it before its start, and serve `keep` permanently.",
        arguments=(
            REASON,
            Argument(
                "keep", Kind.VARIANT, "Variant to serve permanently. Without it, the pinned variant, else the control.",
                None, example="59", label="Variant to keep", choices=enabled, suggested=best_to_keep,
            ),
        ),
        phases=(*WAITING, *STARTED), events=("stop",),
        effect=lambda spec, state, context, given: commands.stop(spec, state, context.reported(), **given),
        label="Stop", title="Stop the experiment permanently", button="Stop permanently", confirmation=texts.stop,
        offered=lambda spec, status: status.phase != Phase.OVER, at_once=True, grave=True,
    ),
]  # fmt: skip


def command_named(name: str) -> Command:
    """The command of that name."""
    for one in COMMANDS:
        if one.name == name:
            return one
    known = [one.name for one in COMMANDS]
    raise UnknownName("command", name, known, f"available: {', '.join(known)}", field="name")
