"""Explain why a step served its variant."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import RedirectResponse, Response

from afterglow.errors import AfterglowError
from afterglow.live.domain.status import Explanation
from afterglow.service.dashboard.intervals import interval_chart
from afterglow.service.dashboard.numbers import figure
from afterglow.service.dashboard.rendering import HEADERS
from afterglow.service.dashboard.visit import Visit, whole_number
from afterglow.service.problems import Problem, problem_of

LISTED = 12  # values of a list that are listed


def explain_page(visit: Visit) -> Response:
    """The explanation of a step, as a page or as a part of one."""
    experiment, step = visit.experiment(), whole_number(visit.request.path_params["step"])
    if step is None:
        raise Problem("not-found", "no experiment has a step of that number")
    row = next(iter(experiment.steps(step, 1)), None)
    found: dict[str, Any] = {"experiment": experiment, "spec": experiment.spec, "step": step, "row": row}
    try:
        why = experiment.explain(step)
    except AfterglowError as error:
        problem = problem_of(error)
        found |= {"why": None, "refused": problem.detail, "chart": None, "by_variant": [], "plain": []}
        return visit.page(template(visit), 200 if visit.partial else problem.kind.status, **found)
    by_variant, plain = state_values(why)
    found |= {"why": why, "refused": "", "chart": interval_chart(why.estimates, why.variant)}
    return visit.page(template(visit), **found, by_variant=by_variant, plain=plain)


def template(visit: Visit) -> str:
    return "explanation_part.html" if visit.partial else "explanation.html"


def explain_form(visit: Visit) -> Response:
    """Redirect to the page of the step that was typed."""
    experiment, step = visit.experiment(), visit.number("step")
    here = f"/experiments/{experiment.name}"
    return RedirectResponse(here if step is None else f"{here}/steps/{step}", 303, HEADERS)


def state_values(why: Explanation) -> tuple[list[tuple[str, list[str]]], list[tuple[str, str]]]:
    """The policy's state: values by variant, and single values."""
    by_variant, plain = [], []
    for name, value in why.figures.items():
        if isinstance(value, Mapping):
            by_variant.append((name, [formatted(value.get(str(one.arm))) for one in why.estimates]))
        else:
            plain.append((name, formatted(value)))
    return by_variant, plain


def formatted(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, list):
        rest = f", … {len(value) - LISTED:,} more" if len(value) > LISTED else ""
        return ", ".join(formatted(one) for one in value[:LISTED]) + rest
    return figure(value) if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
