"""The page of one experiment: verdict, served variant, estimates, timeline, totals and activity log."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from starlette.responses import JSONResponse, Response

from afterglow.errors import OutOfTurn
from afterglow.live import Decision, Experiment
from afterglow.live.domain.command_table import COMMANDS
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.status import Status
from afterglow.live.log_entries import LogEntry
from afterglow.live.past_steps import Step
from afterglow.service.dashboard import log_sentences, sentences
from afterglow.service.dashboard.charts.dates import date_ticks
from afterglow.service.dashboard.charts.exact_test import exact_rows
from afterglow.service.dashboard.charts.guards import guard_charts
from afterglow.service.dashboard.charts.intervals import interval_chart
from afterglow.service.dashboard.charts.lanes import lanes, served_in, unit_rows
from afterglow.service.dashboard.charts.timeline import SPAN, runs, timeline, visible_steps
from afterglow.service.dashboard.charts.totals import known_total, taken_out, totals_chart
from afterglow.service.dashboard.charts.verdict import verdict_part
from afterglow.service.dashboard.numbers import counted
from afterglow.service.dashboard.pages.commands import offered
from afterglow.service.dashboard.rendering import HEADERS
from afterglow.service.dashboard.silence import silence
from afterglow.service.dashboard.visit import Visit
from afterglow.service.problems import Problem

LATEST = 30  # lines of the activity log
ROWS = 60  # runs in the table below the timeline


def experiment_page(visit: Visit) -> Response:
    experiment, done = visit.experiment(), visit.request.query_params.get("done", "")
    found = page_values(visit, experiment, snapshot(visit, experiment))
    named = {command.slug: command.label for command in COMMANDS}
    return visit.page(
        "experiment.html", **found, done=done, settings=sentences.settings(experiment.spec), action_names=named
    )


def changes(visit: Visit) -> Response:
    """The parts of the page that change, or 204 if nothing has changed since `seen`."""
    experiment = visit.experiment()
    current = snapshot(visit, experiment)
    if visit.request.query_params.get("seen") == current.seen:
        return Response(status_code=204, headers=HEADERS)
    found = page_values(visit, experiment, current)
    if found["timeline"] and visit.request.query_params.get("bare"):  # from a page rendered before the start
        return Response(status_code=204, headers=HEADERS | {"HX-Refresh": "true"})
    return visit.page("experiment_changes.html", **found)


class ExperimentView(NamedTuple):
    """An experiment's status and log; the page is the same as long as `seen` is."""

    status: Status
    decision: Decision
    log: list[LogEntry]
    seen: str


def snapshot(visit: Visit, experiment: Experiment) -> ExperimentView:
    status, decision = experiment.status(), experiment.first_decision()
    recent = visit.dashboard.cache(experiment.name).log
    log = recent.read(experiment, lambda: visit.dashboard.experiments.heads()[experiment.name])
    mark = repr((status, decision, log[-1:], visit.number("until")))
    return ExperimentView(status, decision, log, sha256(mark.encode()).hexdigest()[:16])


def page_values(visit: Visit, experiment: Experiment, current: ExperimentView) -> dict[str, Any]:
    """The values that the templates show."""
    status, decision, spec, until = current.status, current.decision, experiment.spec, visit.number("until")
    first, count = visible_steps(status.step, status.phase in ("draft", "scheduled", "over"), until)
    steps = experiment.steps(first, count)
    own = units_values(spec, status, steps) if spec.units else one_total_values(experiment, status, decision, steps)
    begins, ends = step_begins(experiment, first), step_begins(experiment, first + count)
    goes_on = spec.horizon is not None and status.phase in ("running", "paused")
    verdict = verdict_part(visit, experiment, status, experiment.progress())
    if not experiment.silence()[0]:  # nothing was ever reported, so "let it run" would be wrong
        verdict = verdict._replace(advice="", assumes="")
    return {
        "spec": spec,
        "status": status,
        "decision": decision,
        **own,
        "verdict": verdict,
        "guards": guard_charts(spec, status.guards),
        "exact": exact_rows(status.test, status.recommended),
        "planned": planned(visit, experiment, status),
        "conditions": sentences.conditions(spec, status),
        "silence": silence(experiment.listed()),
        "times": (begins, ends),
        "ends": step_begins(experiment, spec.horizon or 0) if goes_on else None,
        "dates": [] if begins is None or ends is None else date_ticks(begins, ends - begins),
        "earlier": first if first else None,
        "later": first + count + SPAN if until is not None and first + count <= status.step else None,
        "until": until,
        "reach": counted(visit.dashboard.max_age, "second"),
        "roles": sentences.ROLES,
        "rows": ROWS,
        "lines": log_sentences.lines(spec, current.log)[:LATEST],
        "actions": offered(spec, status) if visit.may("operate") else [],
        "seen": current.seen,
    }


def one_total_values(
    experiment: Experiment, status: Status, decision: Decision, steps: Sequence[Step]
) -> dict[str, Any]:
    """Parts of the page that experiments with one total a step have."""
    spec, chart = experiment.spec, timeline(experiment.spec, steps)
    shown = interval_chart(experiment.estimates(), decision.variant, status.leader, status.disabled)
    return {
        "estimates_chart": shown, "timeline": chart, "totals_chart": totals_chart(chart, steps),
        "taken_out": taken_out(spec, steps), "served": (),
    }  # fmt: skip


def units_values(spec: Spec, status: Status, steps: Sequence[Step]) -> dict[str, Any]:
    """Parts of the page that experiments with units have."""
    test = status.units_test
    return {
        "timeline": lanes(spec, steps), "served": served_in(status), "unit_rows": unit_rows(spec, status),
        "units_test": test,
    }  # fmt: skip


def planned(visit: Visit, experiment: Experiment, status: Status) -> str:
    """Which variant the plan keeps; computed once per step for all visitors."""
    if status.phase != "running" or experiment.spec.units:
        return ""
    if status.washout == experiment.spec.window:  # it begins with the current step, which is no longer planned
        return "Because steps were voided, another variant is planned from the next step on."
    cache = visit.dashboard.cache(experiment.name)
    why = cache.plan
    if why is None or why.step != status.step:
        try:
            why = cache.plan = experiment.explain(status.step)
        except OutOfTurn:  # the step has ended meanwhile
            return ""
    return "" if why.planned in status.disabled else sentences.planned(experiment.spec, why)


def step_begins(experiment: Experiment, step: int) -> float | None:
    """When a step begins on its schedule, in seconds since 1970; None without a schedule."""
    after_creation = experiment.events(0, 2)
    started = [one for one in after_creation if one.kind in ("schedule", "start")]
    if not experiment.spec.step_ms or not started:
        return None
    return float(started[-1].body["starts"] + step * experiment.spec.step_ms) / 1000


def totals(visit: Visit) -> Response:
    """JSON for the chart: totals by step, the average of each run, and the variant served."""
    experiment = visit.experiment()
    if experiment.spec.units:
        raise Problem("not-found", "an experiment with units has a chart of totals for each unit on its page")
    status = experiment.status()
    first, count = visible_steps(status.step, status.phase in ("draft", "scheduled", "over"), visit.number("until"))
    steps = experiment.steps(first, count)
    found = runs(steps)
    means = [run.mean if run.role not in ("void", "missed") else None for run in found for _ in steps_of(run)]
    return JSONResponse({
        "steps": [step.step for step in steps],
        "totals": [known_total(step) for step in steps],
        "expected": [step.expected for step in steps] if experiment.spec.adjusts else None,
        "means": means,
        "runs": [[run.first, run.last, experiment.spec.variant(run.variant), run.role] for run in found],
        "variants": experiment.spec.variants,
        "roles": sentences.ROLES,
        "begins": step_begins(experiment, 0),
        "step_seconds": experiment.spec.step_ms / 1000,
    }, headers=HEADERS)  # fmt: skip


def steps_of(run: Any) -> range:
    return range(run.first, run.last + 1)
