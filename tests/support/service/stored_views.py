"""What agents, experiments and results show and decide next, as plain JSON; a comparison that allows new keys."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, fields
from itertools import groupby
from typing import Any

from afterglow import Agent, Estimates, Results
from afterglow.live import Experiment, Experiments
from afterglow.live.domain.status import Status
from afterglow.live.domain.transitions import NOTICES

WORDED = {"alarm", "assumes", "missing", "sentence"}  # sentences: whether there is one is compared, not its words
RENAMED = ("/status/status", "/status/leader", "/status/lead")  # the verdict has what they said, with other grades
REPLACED = ("mean", "low", "high", "missing")  # of differences: their intervals are now those of verdicts
PROVEN = ("decided", "finished")  # what `proven` was called
Turn = Callable[[float], None]  # sets the clock forward by so many hours


def plain(value: Any) -> Any:
    """A value as JSON has it; null for a number that is none."""
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def differences(stored: Any, found: Any, place: str = "") -> Iterator[str]:
    """Where a value isn't what was stored. A mapping may have new keys; floats may differ by rounding."""
    if isinstance(stored, Mapping) and isinstance(found, Mapping):
        for key, value in stored.items():
            if f"{place}/{key}".endswith(RENAMED):
                yield from other_grade(found, place) if key == "status" and value in PROVEN else ()
            elif "/differences/" in place and key in REPLACED:
                continue
            elif key not in found:
                yield f"{place}/{key}: missing"
            elif key not in WORDED or value is None or found[key] is None:
                yield from differences(value, found[key], f"{place}/{key}")
    elif isinstance(stored, list) and isinstance(found, list) and len(stored) == len(found):
        for number, pair in enumerate(zip(stored, found, strict=True)):
            yield from differences(*pair, f"{place}/{number}")
    elif isinstance(stored, float) and isinstance(found, float):
        if not math.isclose(stored, found, rel_tol=1e-12, abs_tol=1e-15):
            yield f"{place}: was {stored!r}, is {found!r}"
    elif stored != found or isinstance(stored, bool) != isinstance(found, bool):
        yield f"{place}: was {stored!r}, is {found!r}"


def other_grade(found: Mapping[str, Any], place: str) -> Iterator[str]:
    """What was proven stays so."""
    if found["grade"] != "proven":
        yield f"{place}/grade: was proven, is {found['grade']}"


def status_view(status: Status) -> Any:
    shown = {one.name: getattr(status, one.name) for one in fields(status) if one.name not in ("judge", "examine")}
    return shown | {"grade": status.status, "sentence": status.verdict.sentence}


def estimates_view(estimates: Estimates) -> Any:
    compared = () if estimates.best is None else estimates.against(estimates.best)
    return plain(
        {
            "arms": [asdict(one) for one in estimates],
            "differences": [asdict(one) for one in compared],
            "surplus": estimates.surplus,
            "alarm": estimates.alarm,
        }
    )


def agent_view(agent: Agent) -> Any:
    hold = agent.hold and agent.hold._asdict()
    recommended = agent.recommend()
    return plain(
        {"step": agent.step, "hold": hold, "recommended": recommended, "estimates": estimates_view(agent.estimates())}
    )


def decisions_of(agent: Agent, totals: Iterable[float]) -> list[list[Any]]:
    """The arms that an agent selects when these totals follow, until its horizon, each with its steps in a row."""
    arms = []
    for total in totals:
        if not agent.finished:
            arms.append(agent.select())
            agent.update(total * agent.reward_max)
    return [[arm, len(list(steps))] for arm, steps in groupby(arms)]


def experiment_view(experiment: Experiment, step: int = 0) -> Any:
    """All that an experiment shows, from a step on. Records of closed steps are named by their hash: `steps` has what
    they say."""
    shown = [one for one in experiment.events() if one.kind not in NOTICES]  # later releases tell more
    status, events = experiment.status(), [one for one in shown if one.body.get("step", step) >= step]
    verdict, notices = experiment.verify(), len(experiment.events()) - len(shown)
    open_step = status.phase in ("running", "paused")
    return plain(
        {
            "decision": experiment.decision()._asdict(),
            "status": status_view(status),
            "estimates": estimates_view(experiment.estimates()),
            "recommended": experiment.recommend() if status.learned else None,
            "explanation": explanation_view(experiment, status.step) if open_step else None,
            "steps": [row[:7] for row in experiment.steps(step)],  # what release 0.1.0 had
            "events": [[one.seq, one.at, one.kind, one.hash[:16]] for one in events],
            "bodies": {one.seq: one.body for one in events if one.kind != "close"},
            "verified": asdict(verdict) | {"records": verdict.records - notices},
        }
    )


def explanation_view(experiment: Experiment, step: int) -> Any:
    told = experiment.explain(step)
    return {"role": told.role, "planned": told.planned, "hold": told.hold, "figures": told.figures}


def database_view(experiments: Experiments, since: Mapping[str, int] | None = None) -> Any:
    """All that experiments show, of all steps or since those given."""
    return {name: experiment_view(experiments[name], (since or {}).get(name, 0)) for name in experiments.names()}


def go_on(experiments: Experiments, turn: Turn, totals: list[float]) -> Any:
    """Play every experiment on, all with the same totals an hour apart; its decisions. Half way, commands end."""
    decisions: dict[str, list[Any]] = {name: [] for name in experiments.names()}
    for number, total in enumerate(totals):
        for name, found in decisions.items():
            experiment = experiments[name]
            decision = experiment.decision()
            found.append([decision.step, decision.variant, decision.planned, decision.role])
            if decision.role in ("over", "waiting"):
                continue
            if number == len(totals) // 2:
                lift(experiment)
            experiment.reward(total, f"total {number}")
            if decision.valid_until is None:
                experiment.close_step(step=decision.step)
        turn(1)
    return decisions


def lift(experiment: Experiment) -> None:
    """Unpin, resume, enable or go live, whatever there is to lift."""
    status = experiment.status()
    experiment.unpin("go on")
    experiment.resume("go on")
    for variant in status.disabled:
        experiment.enable(variant, "go on")
    if status.shadow:
        experiment.go_live("go on")


def results_view(results: Results) -> Any:
    """What results of two policies answer."""
    one, other = results.labels
    return plain(
        {
            "summary": results.summary().rows,
            "paired": results.paired(one, other).rows,
            "quantiles": results.quantiles().rows,
            "best_found": results.best_found().rows,
            "bands": results.bands().rows,
        }
    )
