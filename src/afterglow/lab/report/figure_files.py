"""`save_figures`: every figure of a report as a file for papers, with an index."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from afterglow.checks import choice
from afterglow.lab.rendering.paper import (
    NARROW,
    Size,
    Style,
    add_legend,
    fits_height,
    inches,
    letters_for,
    style_of,
    styled,
    write_index,
)
from afterglow.lab.rendering.style import MADE, PLAIN, letters, save
from afterglow.lab.report.figures import Gallery, drawn
from afterglow.lab.study.results import Results

LINES = ("log", "linear", "share", "along", "error")  # kinds of figures that have a line for each policy


def save_gallery(
    gallery: Gallery,
    folder: Path,
    formats: Sequence[str],
    size: Size | None = None,
    style: Mapping[str, Any] = PLAIN,
) -> list[Path]:
    """The figures of a gallery as files, and `index.html` with all of them."""
    for one in formats:
        choice("format", one, list(MADE))
    with styled(style):
        made = save(labelled(gallery, size), folder, formats, style)
    title = str(gallery.groups.results.question or gallery.groups.results.study["name"])
    said = {one.file: (one.description, with_note(one.caption, one.note)) for one in gallery.made.values()}
    write_index(folder, title, said, formats)
    return made


def with_note(caption: str, note: str) -> str:
    """A caption that says which intervals are drawn."""
    return ". ".join(f"{part[:1].upper()}{part[1:]}" for part in (caption, note) if part) + ("." if note else "")


def labelled(gallery: Gallery, size: Size | None = None) -> dict[str, Figure]:
    """The figures as separate files, with the legends that the page has above them."""
    given, found = inches(size), {}
    for name, wide in gallery.made.items():
        if name.endswith("-narrow"):
            continue
        one = gallery.made.get(f"{name}-narrow", wide) if given is not None and given[0] < NARROW else wide
        legend = gallery.lines.samples() if one.kind in LINES else one.marks
        if given is not None:
            rows = fits_height(size) and one.kind not in LINES
            height = letters(one.figure.get_figheight()) if rows else given[1]
            one.figure.set_size_inches(given[0], height)
        if legend and not one.figure.legends:
            add_legend(one.figure, legend, grow=fits_height(size))
        found[one.file] = one.figure
    return found


def save_figures(
    results: Results,
    folder: str | Path,
    formats: Sequence[str] = ("svg", "pdf"),
    size: Size | None = None,
    style: Style | None = None,
) -> list[Path]:
    """Every figure of the report as a file in each of the formats `svg`, `pdf` and `png`, and `index.html`.

    `size` is that of each figure: `column`, `page`, `slide` or (width, height) in inches; figures of a column or a page
    are as high as their legends and rows need. `style` is a Matplotlib style: a name, a file or settings; its colours
    replace ours. All setups are drawn, however many there are.
    """
    for one in formats:
        choice("format", one, list(MADE))
    inches(size)
    settings = letters_for(size) | style_of(style)
    return save_gallery(drawn(results, settings, None), Path(folder), formats, size, settings)
