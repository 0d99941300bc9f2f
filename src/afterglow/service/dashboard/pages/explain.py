"""Explain why a step served its variant."""

import math
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from starlette.responses import RedirectResponse, Response

from afterglow.errors import AfterglowError
from afterglow.live import Experiment
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.status import Explanation
from afterglow.service.dashboard.charts.intervals import interval_chart
from afterglow.service.dashboard.numbers import aligned, figure, percent
from afterglow.service.dashboard.rendering import HEADERS
from afterglow.service.dashboard.visit import Visit, whole_number
from afterglow.service.problems import Problem, problem_of

LISTED = 12  # values of a list that are listed


def explain_page(visit: Visit) -> Response:
    """The explanation of a step, as a page or as a part of one."""
    experiment, step = visit.experiment(), whole_number(visit.request.path_params["step"])
    if step is None:
        raise Problem("not-found", "no experiment has a step of that number")
    unit = asked_unit(visit, experiment)
    row = next((one for one in experiment.steps(step, 1) if one.unit == unit), None)
    found: dict[str, Any] = {"experiment": experiment, "spec": experiment.spec, "step": step, "row": row}
    found["last"] = last_step(experiment)
    try:
        why = experiment.explain(step, unit)
    except AfterglowError as error:
        problem = problem_of(error)
        found |= {"why": None, "refused": problem.detail, "chart": None, "by_variant": [], "plain": [], "compared": []}
        return visit.page(template(visit), 200 if visit.partial else problem.kind.status, **found)
    by_variant, plain = state_values(why)
    chart = interval_chart(why.estimates, why.variant) if why.unit is None else None
    found |= {"why": why, "refused": "", "chart": chart}
    found |= {
        "compared": compared(experiment.spec, why),
        "unit": experiment.spec.unit if why.index_unit == "amount" else "",
    }
    return visit.page(template(visit), **found, by_variant=by_variant, plain=plain)


def last_step(experiment: Experiment) -> int:
    """The last step that has begun; 0 before the first."""
    decision = experiment.first_decision()
    return max(0, decision.step - (decision.role == "over"))


def compared(spec: Spec, why: Explanation) -> list[tuple[int, str, str]]:
    """Number, name and text of each value that the policy compared, the largest first."""
    known = {name: value for name, value in why.index.items() if not math.isnan(value)}
    order = sorted(known, key=lambda name: -known[name])
    top = max((abs(value) for value in known.values() if math.isfinite(value)), default=0.0)
    texts = {
        name: "not tried yet"
        if math.isinf(value)
        else percent(value)
        if why.index_unit == "share"
        else aligned(value, top)
        for name, value in known.items()
    }
    return [(spec.variants.index(name), name, texts[name]) for name in order]


def asked_unit(visit: Visit, experiment: Experiment) -> str | None:
    """The unit that was asked for, or the first one; None without units."""
    units = experiment.spec.units
    asked = visit.request.query_params.get("unit", "")
    return (asked if asked in units else units[0]) if units else None


def template(visit: Visit) -> str:
    return "explanation_part.html" if visit.partial else "explanation.html"


def explain_form(visit: Visit) -> Response:
    """Redirect to the page of the step that was typed."""
    experiment, step = visit.experiment(), visit.number("step")
    here = f"/experiments/{experiment.name}"
    unit = asked_unit(visit, experiment)
    query = "" if unit is None else f"?{urlencode({'unit': unit})}"
    return RedirectResponse(here if step is None else f"{here}/steps/{step}{query}", 303, HEADERS)


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
