"""Forms of the commands of operators, made from their declaration: what will happen, fields, refusals."""

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup
from starlette.responses import Response

from afterglow.errors import AfterglowError, BadValue, Conflict, OutOfTurn, argument
from afterglow.live import Experiment
from afterglow.live.domain.arguments import Argument, Kind
from afterglow.live.domain.command_table import COMMANDS, Command
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.status import Status
from afterglow.service.dashboard.forms import whole_number
from afterglow.service.dashboard.numbers import counted, moment, until
from afterglow.service.dashboard.visit import Visit
from afterglow.service.dashboard.void_cost import void_cost
from afterglow.service.problems import Problem

CONFIRM = "confirm"  # the field for the experiment's name
STEPS = ("step", "last", "unit")  # the fields that say which steps are meant


def offered(spec: Spec, status: Status) -> list[Command]:
    """The commands that the page has buttons for; those that take something away at once come last."""
    return sorted((one for one in COMMANDS if one.offered(spec, status)), key=lambda one: one.red)


def command_page(visit: Visit) -> Response:
    """The form of a command; sent back, the command is given."""
    slug = visit.request.path_params["action"]
    command = next((one for one in COMMANDS if one.slug == slug), None)
    if command is None:
        raise Problem("not-found")
    experiment = visit.experiment()
    if visit.request.method == "GET":
        return form_page(visit, experiment, command)
    try:
        given = arguments(command, visit.form)
        if visit.form.get(CONFIRM, "").strip() != experiment.name:
            beyond = command.grave_range and void_cost(experiment, given).beyond
            if command.grave or over_range(command, visit.form) or beyond:
                raise BadValue(f"type the experiment’s name, {experiment.name}, to confirm", field=CONFIRM)
        experiment.command(command.name, by=visit.actor(), **given)
    except (BadValue, Conflict, OutOfTurn) as error:
        return form_page(visit, experiment, command, error)
    return visit.go(f"/experiments/{experiment.name}?done={command.slug}")


command_page.__name__ = "order_page"  # the endpoint's name in metrics and logs stays


def entered(visit: Visit, command: Command) -> Mapping[str, str]:
    """What was entered; an address may name steps, so that their cost can be looked at."""
    asked = visit.request.query_params
    return visit.form or {name: asked[name] for name in STEPS if command.grave_range and name in asked}


def said_cost(visit: Visit, experiment: Experiment, command: Command) -> str:
    """What the steps that were entered, or are in the address, would cost to void; empty if there are none."""
    typed = entered(visit, command)
    if not command.grave_range or not typed.get("step", "").strip():
        return ""
    try:
        return void_cost(experiment, arguments(command, {**typed, "reason": "-"})).text
    except (BadValue, Conflict, OutOfTurn) as error:
        return sentence(command, error)


def sentence(command: Command, error: AfterglowError) -> str:
    """A refusal with the labels of the fields."""
    labels = {one.name: one.label.lower() for one in command.arguments} | {CONFIRM: ""}
    return error.worded(lambda name, value: labels.get(name, name))


def over_range(command: Command, form: Mapping[str, str]) -> bool:
    """Whether a command that may take several steps was given more than one."""
    last = form.get("last", "").strip()
    return command.grave_range and bool(last) and last != form.get("step", "").strip()


def arguments(command: Command, form: Mapping[str, str]) -> dict[str, object]:
    """What was entered, by argument; empty fields that are not required are left out."""
    given = {one.name: form.get(one.name, "") for one in command.arguments}
    return {
        one.name: typed(one, given[one.name]) for one in command.arguments if one.required or given[one.name].strip()
    }


def typed(one: Argument, text: str) -> object:
    """The value of a field in its type."""
    if one.kind is Kind.VARIANT and not text:
        raise BadValue(f"{argument(one.name)} is missing; choose one")
    return whole_number(one.name, text) if one.kind is Kind.WHOLE else text


def form_page(visit: Visit, experiment: Experiment, command: Command, error: AfterglowError | None = None) -> Response:
    spec, status = experiment.spec, experiment.status()
    if error is None and not command.offered(spec, status):
        raise Problem(
            "out-of-turn", f"experiment {experiment.name!r} is {status.phase}; {command.slug!r} has no use now"
        )
    shown = [one for one in command.arguments if spec.units or one.kind is not Kind.UNIT]
    fields = [field_of(one, spec, status) for one in sorted(shown, key=lambda one: one.name == "reason")]
    names = {CONFIRM, *(one.name for one in command.arguments)}
    given: dict[str, Any] = {
        "command": command, "spec": spec, "effect": effect(visit, experiment, command, status), "fields": fields,
        "live": status.variant or "different variants", "control": spec.variants[spec.control],
        "recommended": status.recommended, "wrong": error.field if error and error.field in names else "",
        "refused": sentence(command, error) if error else "", "typed": entered(visit, command),
        "cost": said_cost(visit, experiment, command),
    }  # fmt: skip
    return visit.page("command_form.html" if visit.partial else "command.html", 422 if error else 200, **given)


def field_of(one: Argument, spec: Spec, status: Status) -> dict[str, Any]:
    """A field of the form: variants to choose from, or what it shows first."""
    return {
        "name": one.name, "label": one.label or one.name, "hint": one.hint, "required": one.required,
        "numeric": one.kind is Kind.WHOLE,
        "choices": one.choices(spec, status) if one.choices is not None else None,
        "suggested": one.suggested(spec, status) if one.suggested is not None else "",
    }  # fmt: skip


def effect(visit: Visit, experiment: Experiment, command: Command, status: Status) -> Markup:
    """What the command will do, with the current names and times."""
    spec, ends = experiment.spec, next(iter(experiment.decisions().values())).valid_until
    next_step = f"With step {status.step + 1:,}"
    when = Markup("{}, as soon as step {:,} is closed,").format(next_step, status.step)
    if ends is not None:
        when = Markup("{}, at {} ({}),").format(next_step, moment(ends, "time"), until(ends, visit.now))
    later = spec.step_ms and spec.starts_ms > 1000 * visit.now
    return Markup(command.confirmation(spec, status)).format(
        when=when, starts=Markup("at {}").format(moment(spec.starts_ms / 1000)) if later else "now",
        control=spec.variants[spec.control], pinned=status.pinned, step=f"{status.step:,}",
        steps=f"{spec.horizon or 0:,}", reach=counted(visit.dashboard.max_age, "second"),
    )  # fmt: skip
