"""Summaries of results, each a table whose caption defines its intervals."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from afterglow.checks import number
from afterglow.errors import BadValue
from afterglow.lab.statistics import (
    Interval,
    log_interval,
    mean_interval,
    power_fit,
    probability_interval,
    quantile_interval,
)
from afterglow.lab.study.result_table.table import PLACE, ResultTable

if TYPE_CHECKING:
    from afterglow.lab.study.results import Results

Row = dict[str, Any]


def place_of(cell: Row, without: Sequence[str] = ()) -> Row:
    """The columns that identify a cell."""
    return {name: cell[name] for name in PLACE if name not in without}


def finite(value: float) -> float | None:
    """The value; None if it is infinite or NaN."""
    return float(value) if math.isfinite(value) else None


def spelled(interval: Interval, name: str) -> Row:
    """An interval in three columns."""
    return {name: finite(interval.value), "low": finite(interval.low), "high": finite(interval.high)}


def best_arms(cell: Row) -> list[int]:
    """The arms of largest mean."""
    return [arm for arm, mean in enumerate(cell["means"]) if mean == max(cell["means"])]


INTERVALS = {"student": "Student's t", "log": "of its logarithm, by the delta method"}


def summary(results: "Results", cells: list[Row], level: float, interval: str = "student") -> ResultTable:
    rows = []
    interval_of = log_interval if interval == "log" else mean_interval
    for cell in cells:
        runs = results.runs_of(cell["cell"])
        best = best_arms(cell)
        rows.append(
            place_of(cell)
            | {"runs": int(runs["run"].size)}
            | spelled(interval_of(runs["regret"], level), "regret")
            | {
                "median": float(np.median(runs["regret"])),
                "best_arm": float((runs["pulls"][:, best].sum(axis=1) / runs["pulls"].sum(axis=1)).mean()),
                "found": float(np.isin(runs["recommended"], best).mean()),
                "switches": float(runs["switches"].mean()),
            }
        )
    return ResultTable(
        rows,
        f"regret: mean over runs; low, high: {level:.0%} interval of the mean ({INTERVALS[interval]}, each row by "
        "itself); best_arm: share of the steps on the best arm; found: share of the runs that recommend it",
    )


def paired(results: "Results", first: list[Row], second: list[Row], level: float) -> ResultTable:
    rows = []
    others = {tuple(place_of(cell, ("label",)).values()): cell for cell in second}
    for cell in first:
        other = others.get(tuple(place_of(cell, ("label",)).values()))
        if other is None:
            continue
        a, b = results.runs_of(cell["cell"]), results.runs_of(other["cell"])
        _, left, right = np.intersect1d(a["run"], b["run"], assume_unique=True, return_indices=True)
        if not left.size:
            continue
        gap = a["regret"][left] - b["regret"][right]
        place = {"a": cell["label"], "b": other["label"]} | place_of(cell, ("label",))
        wins = {"a_wins": int((gap < 0).sum()), "b_wins": int((gap > 0).sum()), "ties": int((gap == 0).sum())}
        rows.append(place | {"runs": int(gap.size)} | spelled(mean_interval(gap, level), "difference") | wins)
    if not rows:
        sentence = f"{first[0]['label']} and {second[0]['label']} have no runs in the same world yet"
        raise BadValue(sentence, kind="no-results", field="b")
    apart = any(row["engine"] in ("auto", "skip") for row in rows)
    return ResultTable(
        rows,
        f"difference: mean of a's regret less b's over the runs that both have; low, high: {level:.0%} "
        "interval of that mean (Student's t, each row by itself); wins: runs with the smaller regret"
        + ('; engine "hold" lets these runs meet the same rewards, which narrows the interval' if apart else ""),
    )


def rate(results: "Results", cells: list[Row], along: str, level: float) -> ResultTable:
    groups: dict[Any, list[Row]] = {}
    for cell in cells:
        groups.setdefault(tuple(sameness(cell, along).items()), []).append(cell)
    rows = []
    for key, group in groups.items():
        values = sorted({cell[along] for cell in group})
        if len(values) < 2:
            continue
        if len(values) < len(group):
            sentence = f"two cells of {group[0]['label']} have the same {along}; choose one, such as spread='last'"
            raise BadValue(sentence, kind="ambiguous-cells", field="along")
        rows.append(dict(key) | {"points": len(values)} | exponent(results, group, along, level))
    if not rows:
        sentence = f"a rate needs cells that differ in {along} alone, at least 2; give {along} as a list"
        raise BadValue(sentence, kind="too-few-points", field="along")
    return ResultTable(
        rows,
        f"exponent: slope of the least-squares line through log {along} and log mean regret; low, high: {level:.0%} "
        "interval for the runs at hand (delta method, allowing for common rewards, each row by itself); "
        "misfit: the largest ratio between a mean and the line",
    )


def sameness(cell: Row, along: str) -> Row:
    """The columns that the cells of one line share."""
    if along == "horizon":
        return place_of(cell, ("horizon",))
    if along == "window":
        told = cell["told_window"] / cell["window"]
        return place_of(cell, ("window", "told_window")) | {"told": round(told, 6)}
    return place_of(cell, ("arms", "rewards")) | {"laws": " ".join(dict.fromkeys(cell["laws"]))}


def exponent(results: "Results", group: list[Row], along: str, level: float) -> Row:
    """The fitted exponent of one line."""
    ordered = sorted(group, key=lambda cell: cell[along])
    runs = [results.runs_of(cell["cell"]) for cell in ordered]
    shared = runs[0]["run"]
    for one in runs[1:]:
        shared = np.intersect1d(shared, one["run"])
    samples = np.stack([one["regret"][np.isin(one["run"], shared)] for one in runs], axis=1)
    if not shared.size or np.any(samples.mean(axis=0) <= 0):
        return {"exponent": None, "low": None, "high": None, "misfit": None}
    fit = power_fit(np.array([cell[along] for cell in ordered], float), samples, level)
    return spelled(fit.exponent, "exponent") | {"misfit": fit.misfit}


def quantiles(results: "Results", cells: list[Row], q: Sequence[float], level: float) -> ResultTable:
    rows = []
    for cell in cells:
        regret = results.runs_of(cell["cell"])["regret"]
        for share in q:
            found = quantile_interval(regret, share, level)
            rows.append(place_of(cell) | {"runs": int(regret.size), "q": share} | spelled(found, "regret"))
    return ResultTable(
        rows,
        f"regret: quantile q of the runs; low, high: interval between order statistics that covers the true quantile "
        f"with at least {level:.0%} whatever the law of the runs (each row by itself); – where the runs are too few",
    )


def best_found(results: "Results", cells: list[Row], level: float) -> ResultTable:
    rows = []
    for cell in cells:
        chosen = results.runs_of(cell["cell"])["recommended"]
        hits = int(np.isin(chosen, best_arms(cell)).sum())
        found = probability_interval(hits, chosen.size, level)
        rows.append(place_of(cell) | {"runs": int(chosen.size), "hits": hits} | spelled(found, "probability"))
    return ResultTable(
        rows,
        f"probability: share of the runs whose recommended arm is the best; low, high: exact {level:.0%} interval "
        "(Clopper–Pearson, each row by itself)",
    )


def error_probability(results: "Results", cells: list[Row], level: float) -> ResultTable:
    rows = []
    for cell in cells:
        chosen = results.runs_of(cell["cell"])["recommended"]
        wrong = int((~np.isin(chosen, best_arms(cell))).sum())
        found = probability_interval(wrong, chosen.size, level)
        gaps = max(cell["means"]) - np.array(cell["means"])
        lost = {"simple_regret": float(gaps[chosen].mean())}
        rows.append(place_of(cell) | {"runs": int(chosen.size), "wrong": wrong} | spelled(found, "error") | lost)
    return ResultTable(
        rows,
        f"error: share of the runs that recommend an arm that is not the best after so many steps; low, high: exact "
        f"{level:.0%} interval (Clopper–Pearson, each row by itself); simple_regret: mean gap of the recommended arm",
    )


def time_to_best(results: "Results", cells: list[Row], share: float, level: float) -> ResultTable:
    number("share", share, 0.0, 1.0)
    rows = []
    for cell in cells:
        times = settled(*results.curves_of(cell["cell"])[::2], share)
        found = quantile_interval(times, 0.5, level)
        reached = {"runs": int(times.size), "reached": float(np.isfinite(times).mean())}
        rows.append(place_of(cell) | reached | spelled(found, "median"))
    return ResultTable(
        rows,
        f"a run's time: the step from which on the best arm has at least {share:.0%} of the steps between any two "
        "checkpoints; reached: share of the runs that get there; median over all runs; low, high: interval between "
        f"order statistics that covers the true median with at least {level:.0%} (each row by itself); – not reached",
    )


def settled(marks: Any, shares: Any, share: float) -> Any:
    """For each run the checkpoint after which every stretch has at least `share` of its steps on the best arm."""
    counts = shares * marks
    stretch = np.diff(counts, axis=1, prepend=0.0) / np.diff(marks, prepend=0.0)
    good = stretch >= share - 1e-9
    from_here = np.flip(np.logical_and.accumulate(np.flip(good, axis=1), axis=1), axis=1)
    begins = np.concatenate([[0.0], marks[:-1]])
    return np.where(from_here[:, -1], begins[from_here.argmax(axis=1)], np.inf)


def bands(results: "Results", cells: list[Row], of: str, level: float, simultaneous: bool) -> ResultTable:
    rows = []
    for cell in cells:
        band = results.band(cell["cell"], of, level, simultaneous)
        marks = results.curves_of(cell["cell"])[0]
        columns = zip(marks, band.value, band.low, band.high, strict=True)
        name = "mean" if of == "mean" else "median"
        rows += [
            place_of(cell) | {"t": int(t), name: float(value), "low": float(low), "high": float(high)}
            for t, value, low, high in columns
        ]
    what = {
        ("mean", False): f"low, high: {level:.0%} interval of the mean regret at each step by itself (Student's t)",
        ("mean", True): f"low, high: {level:.0%} band of the mean regret at all checkpoints of a cell at once (sup-t)",
        ("runs", False): f"low, high: between them lie {level:.0%} of the runs at each step by itself",
        ("runs", True): f"low, high: between them lie the whole curves of {level:.0%} of the runs of a cell",
    }
    return ResultTable(rows, what[of, simultaneous])
