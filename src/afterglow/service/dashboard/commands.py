"""What an operator may order: which orders fit where the experiment stands, the form for each, and giving it."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from starlette.responses import Response

from afterglow.errors import AfterglowError, BadValue, Conflict, OutOfTurn
from afterglow.live import Experiment
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.status import Status
from afterglow.service.dashboard.visit import Visit
from afterglow.service.problems import Problem

Form = Mapping[str, str]


class Order(NamedTuple):
    """`field` is what it asks for besides the reason; `give` does it."""

    slug: str
    label: str
    title: str
    button: str
    field: str
    give: Callable[[Experiment, Form], None]
    fits: Callable[[Spec, Status], bool]
    grave: bool = False


def reason(form: Form) -> str:
    return form.get("reason", "")


def step(form: Form, field: str = "step") -> int:
    text = form.get(field, "").strip().replace(",", "")
    if not text.isascii() or not text.isdecimal() or len(text) > 15:
        raise BadValue(f"{field} must be a whole number, got {text!r}")
    return int(text)


def void(experiment: Experiment, form: Form) -> None:
    last = step(form, "last") if form.get("last", "").strip() else None
    experiment.void(step(form), reason(form), last)


def stop(experiment: Experiment, form: Form) -> None:
    if form.get("confirm", "").strip() != experiment.name:
        raise BadValue(f"confirm by typing the experiment’s name, {experiment.name}: a stopped experiment can't go on")
    experiment.stop(reason(form), form.get("keep") or None)


def running(spec: Spec, status: Status) -> bool:
    return status.phase in ("running", "paused")


ORDERS = (
    Order(
        "start", "Start", "Start the experiment", "Start it", "", lambda one, form: one.start(),
        lambda spec, status: status.phase == "draft",
    ),
    Order(
        "go-live", "Go live", "Leave shadow mode", "Go live", "", lambda one, form: one.go_live(reason(form)),
        lambda spec, status: running(spec, status) and status.shadow,
    ),
    Order(
        "pin", "Pin", "Pin a variant", "Pin it", "variant", lambda one, form: one.pin(form["variant"], reason(form)),
        running,
    ),
    Order(
        "unpin", "Unpin", "Go back to the plan", "Unpin", "", lambda one, form: one.unpin(reason(form)),
        lambda spec, status: running(spec, status) and status.pinned is not None,
    ),
    Order(
        "pause", "Pause", "Pause the experiment", "Pause it", "", lambda one, form: one.pause(reason(form)),
        lambda spec, status: status.phase == "running",
    ),
    Order(
        "resume", "Resume", "Resume the experiment", "Resume it", "", lambda one, form: one.resume(reason(form)),
        lambda spec, status: status.phase == "paused",
    ),
    Order(
        "void", "Void steps", "Void steps", "Void them", "step", void,
        lambda spec, status: status.phase != "draft" and status.step > 0,
    ),
    Order(
        "disable", "Disable", "Disable a variant", "Disable it", "variant",
        lambda one, form: one.disable(form["variant"], reason(form)),
        lambda spec, status: running(spec, status) and len(status.disabled) < len(spec.variants) - 1,
    ),
    Order(
        "enable", "Enable", "Enable a variant again", "Enable it", "variant",
        lambda one, form: one.enable(form["variant"], reason(form)),
        lambda spec, status: running(spec, status) and bool(status.disabled),
    ),
    Order(
        "stop", "Stop", "Stop the experiment for good", "Stop it for good", "keep", stop,
        lambda spec, status: status.phase != "over", True,
    ),
)  # fmt: skip
BY_SLUG = {order.slug: order for order in ORDERS}


def offered(spec: Spec, status: Status) -> list[Order]:
    """The orders that fit where the experiment stands."""
    return [order for order in ORDERS if order.fits(spec, status)]


def order_page(visit: Visit) -> Response:
    """The form of an order, with what it will do; sent back, it is given."""
    order = BY_SLUG.get(visit.request.path_params["order"])
    if order is None:
        raise Problem("not-found")
    experiment = visit.experiment()
    if visit.request.method == "GET":
        return form_page(visit, experiment, order)
    try:
        if order.field == "variant" and visit.form.get("variant") not in experiment.variants:
            raise BadValue("variant must be one of the experiment’s; choose one")
        order.give(experiment, visit.form)
    except (BadValue, Conflict, OutOfTurn) as error:
        return form_page(visit, experiment, order, error)
    return visit.go(f"/experiments/{experiment.name}?done={order.slug}")


def form_page(visit: Visit, experiment: Experiment, order: Order, error: AfterglowError | None = None) -> Response:
    status, decision = experiment.status(), experiment.decision()
    if error is None and not order.fits(experiment.spec, status):
        raise Problem("out-of-turn", f"experiment {experiment.name!r} is {status.phase}; {order.slug!r} has no use now")
    spec = experiment.spec
    beside, text = placed(str(error)) if error else ("", "")
    given: dict[str, Any] = {
        "experiment": experiment, "order": order, "spec": spec, "status": status, "decision": decision,
        "choices": choices(order, spec, status), "control": spec.variants[spec.control],
        "recommended": experiment.recommend(), "beside": beside, "refused": text, "typed": visit.form,
    }  # fmt: skip
    return visit.page("order_form.html" if visit.partial else "order.html", 422 if error else 200, **given)


def choices(order: Order, spec: Spec, status: Status) -> list[str]:
    """The variants that an order can name."""
    if order.slug == "enable":
        return list(status.disabled)
    spared = {*status.disabled, *([status.pinned] if order.slug == "disable" else [])}
    return [name for name in spec.variants if name not in spared]


def placed(text: str) -> tuple[str, str]:
    """A refusal with the field that it belongs to, if it names one.

    >>> placed("reason must be a sentence of at most 1,000 characters, got ''")
    ('reason', 'write a sentence of at most 1,000 characters: it stays in the log')
    """
    first = text.split(" ", 1)[0]
    if first == "reason":
        return "reason", "write a sentence of at most 1,000 characters: it stays in the log"
    return (first if first in ("variant", "step", "last", "confirm") else ""), text
