"""The report of a study: a page, a PDF or figures.

The same results give the same bytes: a report has no times, machine names or durations.
"""

import json
from pathlib import Path
from shlex import quote
from typing import Any

from afterglow.checks import choice, whole
from afterglow.lab.rendering.html import placed, render, swatch
from afterglow.lab.rendering.pdf import browser, print_figures, print_page
from afterglow.lab.rendering.style import slug, svg
from afterglow.lab.report.error_figure import error_ranking, simple_digits
from afterglow.lab.report.figure_files import labelled, save_gallery
from afterglow.lab.report.figures import PANELS, Gallery, drawn
from afterglow.lab.report.groups import Groups
from afterglow.lab.report.growth import growth, winners
from afterglow.lab.report.headline import headline
from afterglow.lab.report.theorem_bounds import theorem_bounds_of
from afterglow.lab.report.winner_grid import winner_grid
from afterglow.lab.study.results import Results
from afterglow.lab.study.toml_text import toml_of
from afterglow.worlds.spreads import ADVERSARIAL, NAMES

FORMATS = ("html", "pdf", "png")


def write_report(
    results: Results,
    folder: str | Path | None = None,
    format: str = "html",  # noqa: A002
    panels: int | str = PANELS,
) -> Path:
    """Write the report to a folder (default: `report` inside the results) and return the path to open.

    `html` is `index.html` with the figures inside, `pdf` that page printed by Chromium or, without it, the figures one
    per page, and `png` the figures as images. `panels` is how many figures of a kind a page has at most, or "all".
    """
    choice("format", format, FORMATS)
    place = Path(folder) if folder is not None else results.folder / "report"
    gallery = drawn(results, most=None if panels == "all" else whole("panels", panels, 2, 'or "all"'))
    place.mkdir(parents=True, exist_ok=True)
    if format == "png":
        save_gallery(gallery, place / "figures", ["png"])
        return place / "figures"
    path, page, found = place / "report.pdf", place / "index.html", browser()
    if format == "html" or found is not None:
        page.write_text(page_of(gallery), encoding="utf-8")
    if format == "html":
        return page
    if found is None or not print_page(page, path, found):
        print_figures(labelled(gallery), path)
    return path


def page_of(gallery: Gallery) -> str:
    """The page as self-contained HTML."""
    groups, results = gallery.groups, gallery.groups.results
    texts = {name: svg(one.figure) for name, one in gallery.made.items()}
    ranking = groups.ranking
    rivals = [standing for standing in ranking if not standing.reference] or ranking
    kinds: dict[str, list[str]] = {}
    for name, one in gallery.made.items():
        if not name.endswith("-narrow"):
            kinds.setdefault(one.kind, []).append(name)
    played = [cell["runs"] for group in groups.all for cell in group.cells.values()]
    spreads = groups.values("spread")
    errors = error_ranking(groups) if results.objective == "best-arm" else []
    where = winners(groups)
    grid = winner_grid(groups, where)
    return render(
        "study.html",
        name=results.study["name"],
        quoted=[quote(f"{results.study['name']}.toml"), quote(f"results/{results.study['name']}")],
        results=results,
        groups=groups,
        gallery=gallery,
        kinds=kinds,
        ranking=ranking,
        winner=rivals[0],
        headline=headline(groups, rivals, errors, where, grid),
        runs=(min(played), max(played)),
        unfinished=unfinished(results, groups),
        missing=len(groups.labels) * len(groups.all) - sum(len(group.cells) for group in groups.all),
        growth=growth(groups),
        winners=where,
        grid=grid,
        objective=results.objective,
        errors=errors,
        simple_digits=simple_digits(errors),
        theorem_bounds=theorem_bounds_of(groups),
        benign=[spread for spread in spreads if spread not in ADVERSARIAL],
        adversarial=[spread for spread in spreads if spread in ADVERSARIAL],
        asked=asked(groups),
        svg=placed(texts, {name: one.description for name, one in gallery.made.items()}),
        legend=[(label, slug(label), swatch(look)) for label, look in gallery.lines.legend()],
        settings=settings(groups),
        study_texts=[toml_of(with_files(results, part)) for part in results.study.get("merged", [results.study])],
        files=files(results),
        own_spreads=own_spreads(groups),
        versions=results.versions,
    )


def with_files(results: Results, study: dict[str, Any]) -> dict[str, Any]:
    """The study with the file of each policy that was given as an object, which TOML can't name."""
    known = {cell["policy"]: cell["file"] for cell in results.cells}

    def named(value: Any) -> Any:
        if isinstance(value, list):
            return [named(one) for one in value]
        if isinstance(value, dict):
            return value | {"policy": named(value["policy"])}
        return known.get(value) or value

    return study | {"policies": named(study["policies"])}


def files(results: Results) -> list[str]:
    """The files of users' policies that the study needs."""
    found: list[str] = []
    for one in with_files(results, results.study)["policies"]:
        given = one["policy"] if isinstance(one, dict) else one
        found += [name for name in (given if isinstance(given, list) else [given]) if name.endswith(".py")]
    return list(dict.fromkeys(found))


def own_spreads(groups: Groups) -> list[str]:
    """The spreads that are functions of a user's, which TOML can't name."""
    known = [name.split(":")[0] for name in NAMES]
    return [text for text in groups.values("spread") if text.split(":")[0] not in known]


def unfinished(results: Results, groups: Groups) -> dict[str, Any] | None:
    """How much of a study is complete; None if all of it is."""
    if results.complete:
        return None
    done, total = results.runs_done()
    whole = [row for row in results.played() if results.runs_of(row["cell"])["run"].size == row["runs"]]
    absent = [label for label in results.labels if label not in groups.labels]
    return {"done": done, "total": total, "share": done / total, "whole": len(whole), "absent": absent}


def asked(groups: Groups) -> list[tuple[str, str]]:
    """The inputs of the study, axis by axis."""
    found = {"policies": ", ".join(groups.labels)}
    laws = dict.fromkeys(cell["rewards"] for group in groups.all for cell in group.cells.values())
    found["rewards of the arms"] = "; ".join(laws)
    for axis, name in (("baseline", "baseline"), ("spread", "spreads"), ("window", "window"), ("horizon", "steps")):
        values = [f"{value:,}" if isinstance(value, int) else value for value in groups.values(axis) if value]
        if values:
            found[name] = ", ".join(values)
    if "spread" not in groups.varying and groups.all[0].arrival:
        found["spreads"] += f": {groups.all[0].arrival}"
    if "told" in groups.varying:
        found["window given"] = ", ".join(f"×{value}" for value in groups.values("told"))
    if False in groups.values("told_horizon"):
        found["horizon given"] = "yes and no" if "told_horizon" in groups.varying else "no"
    return list(found.items())


def settings(groups: Groups) -> list[tuple[str, str]]:
    """The settings of each policy in its first group; long lists as their length."""
    found = []
    for label in groups.labels:
        known = json.loads(groups.of(label)[0].cells[label]["settings"])
        texts = [f"{key} {value_text(value)}" for key, value in known.items()]
        found.append((label, ", ".join(texts)))
    return found


def value_text(value: Any) -> str:
    if isinstance(value, list):
        return f"[{len(value)} numbers]" if len(value) > 6 else f"[{', '.join(map(value_text, value))}]"
    return f"{value:.6g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
