"""Render report pages from templates, with styles and figures inline."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from afterglow.lab.rendering.palette import VARIABLES, Stroke
from afterglow.lab.rendering.rounding import joined, percent, percent_to_error, to_error, whole_percent
from afterglow.lab.rendering.svg import inline
from afterglow.lab.statistics import LEVEL


def render(template: str, **given: Any) -> str:
    """A page as HTML."""
    environment = Environment(
        loader=PackageLoader("afterglow.lab.rendering", "templates"), autoescape=True, trim_blocks=True,
        lstrip_blocks=True, undefined=StrictUndefined,
    )  # fmt: skip
    environment.filters["count"] = lambda value: f"{value:,.0f}"
    environment.filters["percent"] = percent
    environment.globals["to_error"] = to_error
    environment.globals["percent_to_error"] = percent_to_error
    environment.filters["joined"] = joined
    environment.filters["places"] = lambda value, digits: f"{value:.{digits}f}"
    environment.filters["digits"] = lambda value: f"{round(value, 2) + 0.0:.2f}"
    return environment.get_template(template).render(level=whole_percent(LEVEL).replace(" ", "\u00a0"), **given)


def placed(drawn: dict[str, str], described: dict[str, str]) -> dict[str, str]:
    """Figures as inline SVG with text alternatives."""
    return {name: inline(text, name, described[name]) for name, text in drawn.items()}


def swatch(look: Stroke) -> dict[str, Any]:
    """A sample of a line, for the legend."""
    dash = " ".join(f"{part * look.width:g}" for part in look.dash)
    return {"colour": VARIABLES[look.colour], "dash": dash, "width": look.width + 0.4}


def written(folder: Path, page: str, name: str, data: str) -> Path:
    """The path of a page in a folder, with its data, a JSON text, beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(data + "\n", encoding="utf-8")
    path = folder / "index.html"
    path.write_text(page, encoding="utf-8")
    return path
