"""Plan an experiment before it is created: upload past totals, simulate, create with the settings that came out."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from starlette.responses import Response

from afterglow.errors import BadValue
from afterglow.live.domain import limits
from afterglow.live.domain.arguments import Argument, Kind
from afterglow.live.domain.settings_table import BY_NAME
from afterglow.service.background.plan_jobs import FILE, PlanJob, missing
from afterglow.service.dashboard.forms import decimal_number, whole_number
from afterglow.service.dashboard.plan_answer import plan_answer
from afterglow.service.dashboard.prefill import typed as as_typed
from afterglow.service.dashboard.rendering import HEADERS
from afterglow.service.dashboard.visit import Visit
from afterglow.service.problems import Problem

RUNS = 200  # simulated for each candidate
MOST_STEPS = 100_000  # of the horizon: more takes too long here
FRESH = {
    "variants": "", "window": "", "horizon": "", "gap": "5", "column": "", "reward_max": "", "mean": "",
    "purpose": "earning", "name": "", "unit": "",
}  # fmt: skip
LABELS = {
    "column": "the column of the totals", "total": "the column of the totals", "step": "the column of the times",
    "variants": "variants", "arms": "variants", "window": "the window", "horizon": "the horizon",
    "gap": "the difference", "reward_max": "the maximum value", "mean": "the average total", "history": "the file",
}  # fmt: skip
VARIANTS = Argument("variants", Kind.VARIANTS, "", most=20)
Typed = Mapping[str, str]


def plan_page(visit: Visit) -> Response:
    """The form; sent back with a file of past totals or without, a plan begins."""
    if visit.request.method == "GET":
        return form_page(visit, FRESH) if "again" not in visit.request.query_params else again_page(visit)
    typed = {name: visit.form.get(name, "") for name in FRESH}
    history: bytes | None = getattr(visit.request.state, "file", None)
    try:
        question = asked(typed, history is not None)
        job = visit.dashboard.plans.begin(question, history, typed, owner(visit))
    except BadValue as error:
        return form_page(visit, typed, error)
    return visit.go(f"/plan/{job.id}")


def owner(visit: Visit) -> str:
    return "" if visit.token is None else visit.token.id


def again_page(visit: Visit) -> Response:
    """The form with what was entered for an earlier plan, and why there is none."""
    job = job_of(visit, visit.request.query_params["again"])
    return form_page(visit, job.asked, refused=said(job), wrong=job.wrong, again=True)


def said(job: PlanJob) -> str:
    """Why there is no plan, in the words of the form."""
    return job.refused.worded(word).replace(FILE, "the file")


def word(name: str, value: str | None) -> str:
    """An argument of `plan` as the form calls it, with a value that it could have."""
    label = LABELS.get(name, name.replace("_", " "))
    return label if value is None else f"“{value}” for {label}"


def form_page(
    visit: Visit,
    typed: Typed,
    error: BadValue | None = None,
    *,
    refused: str = "",
    wrong: str = "",
    again: bool = False,
) -> Response:
    if error is not None:
        refused, wrong = error.worded(word), error.field
    return visit.page(
        "plan.html", 422 if error else 200, typed=typed, refused=refused, missing=missing(),
        wrong=wrong if wrong in FRESH else "", again=again,
    )  # fmt: skip


def asked(typed: Typed, history: bool) -> dict[str, Any]:
    """The arguments of `plan`; errors name the field."""
    names = [line.strip() for line in typed["variants"].splitlines() if line.strip()]
    made: dict[str, Any] = {
        "arms": len(VARIANTS.read(names)),
        "window": BY_NAME["window"].read(whole_number("window", typed["window"])),
        "horizon": limits.at_most("horizon", whole_number("horizon", typed["horizon"]), MOST_STEPS),
        "gap": decimal_number("gap", typed["gap"].strip().rstrip("%")) / 100,
        "purpose": "knowing" if typed["purpose"] == "knowing" else "earning",
        "runs": RUNS,
    }  # fmt: skip
    for name in ("reward_max", "mean"):
        if typed[name].strip():
            made[name] = decimal_number(name, typed[name])
    if history and typed["column"].strip():
        made["reading"] = {"column": typed["column"].strip()}
    if not history and ("reward_max" not in made or "mean" not in made):
        raise BadValue(
            "without a file of past totals, the maximum value of one step’s decision and the average total are "
            "needed; choose a file, or enter both",
            field="reward_max",
        )
    return made


def job_of(visit: Visit, id_: str = "") -> PlanJob:
    job = visit.dashboard.plans.get(id_ or visit.request.path_params.get("id", ""), owner(visit))
    if job is None:
        raise Problem(
            "not-found", "this plan is not known here: plans are kept for an hour, by the process that made them"
        )
    return job


def result_page(visit: Visit) -> Response:
    """The progress of a plan, or its result."""
    job = job_of(visit)
    seen = f"{job.state} {job.done:.2f}"
    if visit.partial and visit.request.query_params.get("seen") == seen:
        return Response(status_code=204, headers=HEADERS)
    answer = None if job.plan is None else plan_answer(job.plan, names(job), job.asked["unit"].strip())
    template = "plan_progress.html" if visit.partial else "plan_result.html"
    return visit.page(template, job=job, seen=seen, answer=answer, refused=said(job))


def cancel_page(visit: Visit) -> Response:
    """End a plan; its form opens again with what was entered."""
    job = job_of(visit)
    visit.dashboard.plans.cancel(job)
    return form_page(visit, dict(job.asked))


cancel_page.__name__ = "cancel_plan_page"


def names(job: PlanJob) -> list[str]:
    return [line.strip() for line in job.asked["variants"].splitlines() if line.strip()]


def planned_settings(visit: Visit, id_: str) -> dict[str, str]:
    """What the form for a new experiment shows first: the settings that a plan recommends."""
    job = visit.dashboard.plans.get(id_, owner(visit))
    if job is None or job.plan is None:
        raise Problem("not-found", "this plan is not known here; plan again")
    plan = job.plan
    made: dict[str, Any] = {
        "name": job.asked["name"].strip(), "unit": job.asked["unit"].strip(), "variants": names(job),
        "window": plan["window"], "horizon": plan["horizon"], "reward_max": float(f"{plan['reward_max']:.6g}"),
        "policy": plan["policy"], "options": plan["settings"], "season": plan["season"],
    }  # fmt: skip
    if plan["step_seconds"]:
        made["step_seconds"] = float(plan["step_seconds"])
    if plan["profile"]:
        made |= {"profile": [float(one) for one in plan["profile"]], "profile_from": job.begins}
    return as_typed(made) | start_of(made, visit.now)


def start_of(settings: Mapping[str, Any], now: float) -> dict[str, str]:
    """The fields of the start: steps begin where those of the profile do, at the next boundary; else now.

    >>> start_of({"step_seconds": 3600.0, "profile_from": 1_794_787_200.0}, 1_795_080_438.0)
    {'start': 'at', 'starts': '2026-11-19T10:00'}
    >>> start_of({"step_seconds": 3600.0}, 1_795_080_438.0)
    {}
    """
    begins, step = settings.get("profile_from"), settings.get("step_seconds")
    if begins is None or not step:
        return {}
    at = begins + math.ceil((now - begins) / step) * step
    if at % 60:  # the field takes whole minutes
        return {}
    return {"start": "at", "starts": datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M")}
