"""One experiment: what is live, what is known, what was held when, what happened."""

from hashlib import sha256
from typing import Any, NamedTuple

from starlette.responses import JSONResponse, Response

from afterglow.errors import OutOfTurn
from afterglow.live import Decision, Experiment
from afterglow.live.domain.command_table import COMMANDS
from afterglow.live.domain.status import Status
from afterglow.live.follower import LogEntry
from afterglow.service.dashboard import sentences
from afterglow.service.dashboard.commands import offered
from afterglow.service.dashboard.comparison import comparison
from afterglow.service.dashboard.intervals import picture
from afterglow.service.dashboard.recent_log import RecentLog
from afterglow.service.dashboard.rendering import HEADERS
from afterglow.service.dashboard.timeline import SPAN, runs, shown, strip
from afterglow.service.dashboard.totals import curve, known
from afterglow.service.dashboard.visit import Visit

LATEST = 30  # lines of the log on the page
ROWS = 60  # runs in the table below the strip


def experiment_page(visit: Visit) -> Response:
    experiment, done = visit.experiment(), visit.request.query_params.get("done", "")
    found = facts(visit, experiment, standing(visit, experiment))
    named = {command.slug: command.label for command in COMMANDS}
    return visit.page(
        "experiment.html", **found, done=done, settings=sentences.settings(experiment.spec), order_names=named
    )


def changes(visit: Visit) -> Response:
    """The parts that move, if anything has changed since the visitor last saw them."""
    experiment = visit.experiment()
    stands = standing(visit, experiment)
    if visit.request.query_params.get("seen") == stands.seen:
        return Response(status_code=204, headers=HEADERS)
    found = facts(visit, experiment, stands)
    if found["strip"] and visit.request.query_params.get("bare"):  # from a page that was drawn before the start
        return Response(status_code=204, headers=HEADERS | {"HX-Refresh": "true"})
    return visit.page("experiment_changes.html", **found)


class Standings(NamedTuple):
    """Where an experiment stands; as long as `seen` is the same, so is everything on its page."""

    status: Status
    decision: Decision
    log: list[LogEntry]
    seen: str


def standing(visit: Visit, experiment: Experiment) -> Standings:
    status, decision = experiment.status(), experiment.decision()
    recent = visit.dashboard.logs.setdefault(experiment.name, RecentLog())
    log = recent.read(experiment, lambda: visit.dashboard.experiments.heads()[experiment.name])
    mark = repr((status, decision, log[-1:], visit.number("until")))
    return Standings(status, decision, log, sha256(mark.encode()).hexdigest()[:16])


def facts(visit: Visit, experiment: Experiment, stands: Standings) -> dict[str, Any]:
    """What the page says."""
    status, decision, spec, until = stands.status, stands.decision, experiment.spec, visit.number("until")
    first, count = shown(status.step, status.phase in ("draft", "scheduled", "over"), until)
    estimates, steps = experiment.estimates(), experiment.steps(first, count)
    held = strip(spec, steps)
    return {
        "spec": spec,
        "status": status,
        "decision": decision,
        "picture": picture(estimates, decision.variant, status.leader, status.disabled),
        "known": sentences.known(spec, status, estimates),
        "compared": comparison(estimates, status.recommended, status.disabled),
        "planned": planned(visit, experiment, status),
        "conditions": sentences.conditions(spec, status),
        "strip": held,
        "curve": curve(held, steps),
        "times": (step_begins(experiment, first), step_begins(experiment, first + count)),
        "earlier": first if first else None,
        "later": first + count + SPAN if until is not None and first + count <= status.step else None,
        "until": until,
        "roles": sentences.ROLES,
        "rows": ROWS,
        "lines": sentences.lines(spec, stands.log)[:LATEST],
        "orders": offered(spec, status) if visit.may("operate") else [],
        "seen": stands.seen,
    }


def planned(visit: Visit, experiment: Experiment, status: Status) -> str:
    """What the plan holds; looked up once while a step lasts, for all visitors."""
    if status.phase != "running":
        return ""
    if status.washout == experiment.spec.window:  # it begins with the step in hand, which is no longer planned
        return "Because steps were voided, another variant is planned from the next step on."
    why = visit.dashboard.plans.get(experiment.name)
    if why is None or why.step != status.step:
        try:
            why = visit.dashboard.plans[experiment.name] = experiment.explain(status.step)
        except OutOfTurn:  # the step has ended meanwhile
            return ""
    return sentences.planned(experiment.spec, why)


def step_begins(experiment: Experiment, step: int) -> float | None:
    """When a step begins by the clock, seconds since 1970."""
    after_creation = experiment.events(0, 2)
    started = [one for one in after_creation if one.kind in ("schedule", "start")]
    if not experiment.spec.step_ms or not started:
        return None
    return float(started[-1].body["starts"] + step * experiment.spec.step_ms) / 1000


def totals(visit: Visit) -> Response:
    """What the chart draws: totals by step, the mean of each run, and which variant was held."""
    experiment = visit.experiment()
    status = experiment.status()
    first, count = shown(status.step, status.phase in ("draft", "scheduled", "over"), visit.number("until"))
    steps = experiment.steps(first, count)
    found = runs(steps)
    means = [run.mean if run.role not in ("void", "missed") else None for run in found for _ in span(run)]
    return JSONResponse({
        "steps": [step.step for step in steps],
        "totals": [known(step) for step in steps],
        "means": means,
        "runs": [[run.first, run.last, experiment.spec.variant(run.variant), run.role] for run in found],
        "variants": experiment.spec.variants,
        "roles": sentences.ROLES,
        "begins": step_begins(experiment, 0),
        "step_seconds": experiment.spec.step_ms / 1000,
    }, headers=HEADERS)  # fmt: skip


def span(run: Any) -> range:
    return range(run.first, run.last + 1)
