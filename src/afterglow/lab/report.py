"""A comparison as files: a page to read, figures, and everything as data.

The same comparison gives the same bytes: nothing here knows the time, the machine or how long it took.
"""

import json
import platform
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import afterglow
from afterglow.lab import figures
from afterglow.lab.compare import ADVERSARIAL, QUICK, Comparison, Standing
from afterglow.lab.drawing import save, slug, svg
from afterglow.lab.page import placed, render, swatch
from afterglow.lab.palette import OTHERS, STROKES
from afterglow.policies.registry import named
from afterglow.worlds.spreads import NAMES

THEOREMS = {
    "theorem_1_paper": "Theorem 1 of Garg & Akash, as printed",
    "theorem_1_corrected": "Theorem 1 with corrected constants",
    "regret_as_set": "proved for these settings",
    "theorem_2_paper": "Theorem 2 of Garg & Akash, as printed",
    "theorem_2_sharper": "Theorem 2, sharpened",
}


def write(comparison: Comparison, folder: Path) -> Path:
    """The page's path; beside it `results.json` and `figures/`."""
    folder.mkdir(parents=True, exist_ok=True)
    data = json.dumps(results(comparison), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    (folder / "results.json").write_text(data, encoding="utf-8")
    drawn = figures.figures(comparison)
    save(drawn, folder / "figures", ("svg", "png"))
    path = folder / "index.html"
    path.write_text(page(comparison, {name: svg(figure) for name, figure in drawn.items()}), encoding="utf-8")
    return path


def results(comparison: Comparison) -> dict[str, Any]:
    """Everything as plain data."""
    return {
        "study": asdict(comparison.study),
        "seed": comparison.seed,
        "versions": versions(),
        "ranking": [
            {"label": place.entry.label, "worst": place.worst.spread, "regret": asdict(place.worst.regret)}
            for place in comparison.ranking()
        ],
        "bounds": comparison.bounds,
        "cells": [cell.as_data() for cell in comparison.cells],
    }


def versions() -> dict[str, str]:
    """Of what the numbers depend on."""
    found = {name: version(name) for name in ("numpy", "numba", "matplotlib")}
    return {"afterglow": afterglow.__version__, "python": platform.python_version(), **found}


def page(comparison: Comparison, drawn: dict[str, str]) -> str:
    """The page as HTML with everything inside; `drawn` are the figures as SVG."""
    study = comparison.study
    ranking = comparison.ranking()
    return render(
        "comparison.html",
        comparison=comparison,
        study=study,
        ranking=ranking,
        winner=next(place for place in ranking if place.entry.kind != "reference"),
        paper=[place for place in ranking if place.entry.kind == "paper"],
        benign=[spread for spread in study.spreads if spread not in ADVERSARIAL],
        adversarial=[spread for spread in study.spreads if spread in ADVERSARIAL],
        needs=lambda standing: ", ".join(named(standing.entry.policy).needs()) or "nothing",
        svg=placed(drawn, {name: describe(name) for name in drawn}),
        legend=[(label, slug(label), swatch(look)) for label, look in {**STROKES, "the others": OTHERS}.items()],
        arrivals={spread: arrival(spread) for spread in study.spreads},
        theorems=theorems(ranking, comparison),
        versions=versions(),
        command="afterglow compare" + (" --quick" if study == QUICK else "") + f" --seed {comparison.seed}",
        cells=len(comparison.cells),
        runs=sorted({cell.runs for cell in comparison.cells}),
    )


def describe(name: str) -> str:
    """What a figure shows, for those who can't see it; the numbers are in the table and in results.json."""
    if name.startswith("curves-"):
        return f"regret of every policy over time under spread {name.removeprefix('curves-')}, both axes logarithmic"
    if name.startswith("dots"):
        return "final regret of every policy under every spread, with intervals"
    return "table of final regret, policies by spreads, coloured by size"


def arrival(spread: str) -> str:
    """When a reward arrives under a spread, in words."""
    known = {name.partition(":")[0]: text for name, text in NAMES.items()}
    return known.get(spread.partition(":")[0], "").partition(" (")[0]


def theorems(ranking: list[Standing], comparison: Comparison) -> list[dict[str, Any]]:
    """Every bound on the regret of a policy beside its regret in the worst spread."""
    found: list[dict[str, Any]] = []
    for place in ranking:
        known = comparison.bounds.get(place.entry.label, {})
        mine = [name for name in THEOREMS if name in (place.entry.theorem, "regret_as_set", "theorem_2_sharper")]
        values = {round(known[name]): name for name in reversed(mine) if known.get(name) is not None}
        for value, name in sorted(values.items(), reverse=True):
            text = f"ours, {THEOREMS[name]}" if place.entry.kind == "ours" else THEOREMS[name]
            found.append({"place": place, "text": text, "bound": value})
    return found
