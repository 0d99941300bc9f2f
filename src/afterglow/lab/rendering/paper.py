"""Figures as files for papers and slides: sizes, Matplotlib styles, legends that fit, and an index."""

import html
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.textpath import text_to_path

from afterglow.errors import BadValue, UnknownName, argument
from afterglow.lab.rendering.style import letters, with_style, wrapped

SIZES = {"column": (3.5, 2.3), "page": (7.2, 3.8), "slide": (10.0, 5.6)}  # width and height in inches
TALLER = ("column", "page")  # sizes whose height grows with legends and rows; that of a slide doesn't
NARROW = 5.5  # inches: below, figures are those of narrow screens
LEAST_INCHES, MOST_INCHES = 1.0, 40.0
SMALL_LETTERS, LARGE_LETTERS = 7.0, 13.0  # points, in a column and on a slide
LEGEND_LETTERS = 8.0
SAMPLE = {"handlelength": 1.9, "handletextpad": 0.5, "columnspacing": 1.2, "labelspacing": 0.35}  # in letters
MOST_COLUMNS = 6
Size = str | tuple[float, float]
Style = str | Path | Mapping[str, Any]


def inches(size: Size | None) -> tuple[float, float] | None:
    """Width and height: a name of `SIZES`, or two numbers in inches."""
    if size is None:
        return None
    if isinstance(size, str):
        if size not in SIZES:
            raise UnknownName("size", size, SIZES, f"it is one of {', '.join(SIZES)}, or (width, height) in inches")
        return SIZES[size]
    try:
        width, height = (float(one) for one in size)
    except (TypeError, ValueError):
        raise BadValue(f"{argument('size')} must be (width, height) in inches, got {size!r}", field="size") from None
    if not (LEAST_INCHES <= width <= MOST_INCHES and LEAST_INCHES <= height <= MOST_INCHES):
        limits = f"from {LEAST_INCHES:g} to {MOST_INCHES:g} inches"
        raise BadValue(f"{argument('size')} must be {limits} each way, got {size!r}", field="size")
    return width, height


def fits_height(size: Size | None) -> bool:
    """Whether a figure may be as high as its legend and rows need."""
    return size is None or size in TALLER


def letters_for(size: Size | None) -> dict[str, Any]:
    """Settings for a size: smaller letters in a column, larger ones on a slide."""
    given = inches(size)
    if given is None or NARROW <= given[0] < SIZES["slide"][0]:
        return {}
    return {"font.size": SMALL_LETTERS if given[0] < NARROW else LARGE_LETTERS}


def style_of(style: Style | None) -> dict[str, Any]:
    """Matplotlib settings: a style's name, the path of a style file, or settings by name."""
    if style is None:
        return {}
    if isinstance(style, Mapping):
        for name in style:
            if name not in matplotlib.rcParams:
                raise BadValue(f"{argument('style')} has no setting {name!r} of Matplotlib", field="style")
        return dict(style)
    from matplotlib import style as styles  # noqa: PLC0415

    if str(style) in styles.library:
        return {str(name): value for name, value in styles.library[str(style)].items()}
    path = Path(style)
    if not path.is_file():
        known = ", ".join(sorted(one for one in styles.library if not one.startswith("_")))
        sentence = f"{argument('style')} must be the path of a style file, or one of {known}, got {str(style)!r}"
        raise BadValue(sentence, field="style")
    found = matplotlib.rc_params_from_file(path, use_default_template=False)
    return {str(name): value for name, value in found.items()}


@contextmanager
def styled(style: Mapping[str, Any]) -> Iterator[None]:
    """Draw in our style, with a user's settings over it."""
    try:
        with matplotlib.rc_context(with_style(style)):
            yield
    except (KeyError, ValueError) as problem:
        if not style:
            raise
        raise BadValue(f"{argument('style')}: {problem}", field="style") from None


def add_legend(figure: Figure, legend: Sequence[Line2D], grow: bool = True) -> None:
    """A legend below a figure, in as many columns as its labels allow; long labels are wrapped, none is cut."""
    points = letters(LEGEND_LETTERS)
    width = 72 * figure.get_figwidth() - 2 * points
    sample = points * (SAMPLE["handlelength"] + SAMPLE["handletextpad"])
    for one in legend:
        text = str(one.get_label())
        fits = len(text) * (width - sample) / max(text_width(text, points), 1.0)
        one.set_label(wrapped(text, max(int(0.95 * fits), 8)) if fits < len(text) else text)
    texts = [str(one.get_label()) for one in legend]
    columns = legend_columns([text_width(text, points) + sample for text in texts], width, points)
    if grow:
        lines = max(sum(text.count("\n") + 1 for text in part) for part in split(texts, columns))
        figure.set_figheight(figure.get_figheight() + (1.6 * lines + 1) * points / 72)
    figure.legend(
        handles=list(legend), loc="outside lower center", ncols=columns, frameon=False, fontsize=points, **SAMPLE
    )


def legend_columns(widths: Sequence[float], width: float, points: float) -> int:
    """The largest number of columns that are together no wider than the figure."""
    for columns in range(min(MOST_COLUMNS, len(widths)), 1, -1):
        parts = split(widths, columns)
        if sum(map(max, parts)) + SAMPLE["columnspacing"] * points * (columns - 1) <= width:
            return columns
    return 1


def split(things: Sequence[Any], columns: int) -> list[list[Any]]:
    """Things in columns, from top to bottom, as a legend has them."""
    return [[things[place] for place in part] for part in np.array_split(np.arange(len(things)), columns)]


def text_width(text: str, points: float) -> float:
    """The width of the widest line in points."""
    font = FontProperties(family=matplotlib.rcParams["font.family"], size=points)
    return max(
        float(text_to_path.get_text_width_height_descent(line, font, ismath=False)[0]) for line in text.split("\n")
    )


def write_index(folder: Path, title: str, figures: Mapping[str, tuple[str, str]], formats: Sequence[str]) -> Path:
    """`index.html`: every figure with its name, what it shows and its caption."""
    shown = next((kind for kind in ("svg", "png") if kind in formats), None)
    parts = []
    for name, (text, caption) in figures.items():
        links = " ".join(f'<a href="{html.escape(name)}.{kind}">{kind}</a>' for kind in formats)
        image = f'<img src="{html.escape(name)}.{shown}" alt="{html.escape(text)}">' if shown else ""
        parts.append(
            f"<figure>{image}<figcaption><strong>{html.escape(name)}</strong> {links}<br>{html.escape(text)}. "
            f"{html.escape(caption)}</figcaption></figure>"
        )
    path = folder / "index.html"
    path.write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{html.escape(title)}</title><style>body{{font:16px/1.5 sans-serif;max-width:50rem;margin:2rem auto;"
        f"padding:0 1rem;color:#1d1f24;background:#fff}}img{{max-width:100%}}figure{{margin:2rem 0}}</style>"
        f"<h1>{html.escape(title)}</h1>{''.join(parts)}</html>\n",
        encoding="utf-8",
    )
    return path
