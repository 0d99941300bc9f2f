"""Figures as files for papers and slides: sizes, Matplotlib styles, legends that fit, and an index."""

import html
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from afterglow.errors import BadValue, UnknownName, argument
from afterglow.lab.rendering.palette import Stroke
from afterglow.lab.rendering.style import handle, with_style, wrapped

SIZES = {"column": (3.5, 2.7), "page": (7.2, 4.4), "slide": (10.0, 5.6)}  # width and height in inches
LEAST_INCHES, MOST_INCHES = 1.0, 40.0
INCHES_A_CHARACTER = 0.066  # at 8 points
INCHES_A_SAMPLE = 0.62  # of a line, and the space around it
INCHES_A_LINE = 0.175
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


def add_legend(figure: Figure, legend: Sequence[tuple[str, Stroke]], grow: bool = True) -> None:
    """A legend below a figure, in as many columns as its labels allow; long labels are wrapped, none is cut."""
    width = figure.get_figwidth() - 0.2
    longest = max(len(label) for label, _ in legend)
    fits = [count for count in (4, 3, 2) if longest * INCHES_A_CHARACTER + INCHES_A_SAMPLE <= width / count]
    columns = min(fits[0] if fits else 1, len(legend))
    letters = int((width / columns - INCHES_A_SAMPLE) / INCHES_A_CHARACTER)
    texts = [wrapped(label, max(letters, 8)) for label, _ in legend]
    handles = [handle(look, text) for text, (_, look) in zip(texts, legend, strict=True)]
    if grow:
        lines = max(sum(text.count("\n") + 1 for text in texts[part::columns]) for part in range(columns))
        rows = max(lines, -(-len(texts) // columns))
        figure.set_figheight(figure.get_figheight() + INCHES_A_LINE * rows + 0.1)
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False, fontsize=8)


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
