"""What experiments of all kinds, with units and guards too, served and decide next, as plain JSON.

Unlike `stored_views` it leaves out estimates and sentences, which later releases may compute otherwise.
"""

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from afterglow import Units
from afterglow.live import Experiment, Experiments
from afterglow.live.domain.transitions import NOTICES
from support.service.stored_views import Turn, plain


def experiment_play(experiment: Experiment, step: int = 0) -> Any:
    """What an experiment served, logged and stopped, from a step on; whether all is as logged."""
    status, verified = experiment.status(), experiment.verify()
    shown = [one for one in experiment.events() if one.kind not in NOTICES and one.body.get("step", step) >= step]
    open_step = status.phase in ("running", "paused")
    units = experiment.spec.units or (None,)
    tests = [one.p for one in (status.test, status.units_test) if one is not None]
    return plain(
        {
            "phase": status.phase,
            "learned": status.learned,
            "disabled": status.disabled,
            "recommended": experiment.recommend() if status.learned else None,
            "p": tests,
            "guards": [[one.guard, one.variant, one.stopped_at] for one in experiment.guards() if one.stopped_at],
            "decisions": [decision_of(experiment, unit) for unit in units],
            "figures": [experiment.explain(status.step, unit).figures for unit in units] if open_step else None,
            "steps": [[*row[:7], row.metrics, row.unit] for row in experiment.steps(step)],
            "events": [[one.seq, one.at, one.kind, one.hash[:16]] for one in shown],
            "ok": verified.ok,
        }
    )


def decision_of(experiment: Experiment, unit: str | None) -> list[Any]:
    found = experiment.decision(unit)
    return [found.step, found.variant, found.planned, found.role, unit]


def database_play(experiments: Experiments, since: Mapping[str, int] | None = None) -> Any:
    """The same of all experiments, of all steps or since those given."""
    return {name: experiment_play(experiments[name], (since or {}).get(name, 0)) for name in experiments.names()}


def play_on(experiments: Experiments, turn: Turn, totals: Iterable[float]) -> Any:
    """Play every experiment on, all with the same totals an hour apart; its decisions."""
    decisions: dict[str, list[Any]] = {name: [] for name in experiments.names()}
    for number, total in enumerate(totals):
        for name, found in decisions.items():
            experiment = experiments[name]
            units, decision = experiment.spec.units or (None,), experiment.first_decision()
            found.append([decision_of(experiment, unit) for unit in units])
            if decision.role == "over":
                continue
            sent = [
                (f"{unit} {number}", total + place, None, metric if metric_number else None, unit)
                for place, unit in enumerate(units)
                for metric_number, metric in enumerate(experiment.spec.metrics)
            ]
            experiment.rewards(sent)
            if decision.valid_until is None:
                experiment.close_step(step=decision.step)
        turn(1)
    return decisions


def units_play(team: Units, totals: Iterable[float]) -> Any:
    """The arms that each unit plays when these totals follow until the horizon, each with its steps in a row; what is
    recommended then, and the exact test."""
    played = []
    for number, total in enumerate(totals):
        if not team.finished:
            arms = team.select()
            played.append(list(arms.values()))
            team.update({unit: total + (number + place) % 3 for place, unit in enumerate(team.units)})
    arms_in_a_row = [[arms, len(list(steps))] for arms, steps in groupby(played)]
    return plain({"played": arms_in_a_row, "recommended": team.recommend(), "p": team.test().p})
