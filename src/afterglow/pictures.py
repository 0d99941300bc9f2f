"""Small pictures for notebooks: intervals on a common scale and curves, as SVG within HTML, without any package.

Colours are those of the notebook's text, so that pictures suit light and dark. Every drawing has a `viewBox`, without
which notebooks show nothing of it where they resize it.
"""

import html
import math
from collections.abc import Sequence
from typing import Any

LABEL, WIDTH, ROW = 150, 260, 20  # of the names, of the scale and of a row, in pixels
MOST_ROWS = 30
MOST_LETTERS = 22
FRAME = "font:13px/1.5 sans-serif;max-width:46em"
Row = tuple[str, float, float, float, str]  # name, low end, value, high end, text


def intervals(rows: Sequence[Row], description: str) -> str:
    """Rows with a name, an interval as a line, its value as a dot, and a text; the first rows if there are many.

    >>> intervals([("A", 0.2, 0.4, 0.6, "0.4")], "means")[:49]
    '<svg viewBox="0 0 510 24" width="510" role="img" '
    """
    shown = list(rows[:MOST_ROWS])
    ends = [end for row in shown for end in row[1:4] if math.isfinite(end)]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    span = (high - low) or 1.0

    def place(value: float) -> float:
        return LABEL + 8 + (WIDTH - 16) * (min(max(value, low), high) - low) / span

    parts = []
    if low < 0 < high:
        parts.append(
            f'<line x1="{place(0):.1f}" x2="{place(0):.1f}" y1="0" y2="{ROW * len(shown)}" stroke="currentColor" '
            'stroke-opacity=".35" stroke-dasharray="2 2"/>'
        )
    for number, (name, left, value, right, text) in enumerate(shown):
        middle = ROW * number + ROW / 2
        parts.append(f'<text x="0" y="{middle + 4:.1f}" fill="currentColor">{short(name)}</text>')
        if left <= right:
            parts.append(
                f'<line x1="{place(left):.1f}" x2="{place(right):.1f}" y1="{middle}" y2="{middle}" '
                'stroke="currentColor" stroke-width="2" stroke-opacity=".55"/>'
            )
        if math.isfinite(value):
            parts.append(f'<circle cx="{place(value):.1f}" cy="{middle}" r="3.5" fill="currentColor"/>')
        said = html.escape(text)
        parts.append(f'<text x="{LABEL + WIDTH + 8}" y="{middle + 4:.1f}" fill="currentColor">{said}</text>')
    more = f"<p>and {len(rows) - len(shown):,} more</p>" if len(rows) > len(shown) else ""
    return drawing("".join(parts), LABEL + WIDTH + 100, ROW * len(shown) + 4, description) + more


def curve(points: Sequence[tuple[float, float]], description: str, least: float | None = None) -> str:
    """A line through points, with the values at both ends of both axes; `least` is the lower end of the upright one."""
    known = [(x, y) for x, y in points if math.isfinite(x) and math.isfinite(y)]
    if len(known) < 2:
        return ""
    left, right = min(x for x, _ in known), max(x for x, _ in known)
    low, high = min(y for _, y in known) if least is None else least, max(y for _, y in known)
    wide, tall = 300, 90
    spots = [
        (60 + wide * (x - left) / ((right - left) or 1.0), 8 + tall * (1 - (y - low) / ((high - low) or 1.0)))
        for x, y in sorted(known)
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
    texts = [
        (54, 14, "end", high), (54, 8 + tall, "end", low), (60, 24 + tall, "start", left),
        (60 + wide, 24 + tall, "end", right),
    ]  # fmt: skip
    ends = "".join(
        f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="currentColor">{value:,.4g}</text>'
        for x, y, anchor, value in texts
    )
    body = f'<polyline points="{line}" fill="none" stroke="currentColor" stroke-width="2"/>{ends}'
    return drawing(body, wide + 70, tall + 30, description)


def with_estimates(thing: Any) -> str:
    """An agent, or units: its repr, and the picture of its estimates once there are any."""
    return f"<p>{html.escape(repr(thing)[1:-1])}</p>{thing.estimates()._repr_html_() if thing.step else ''}"


def drawing(body: str, width: float, height: float, description: str) -> str:
    """An SVG element that can be resized."""
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" width="{width:g}" role="img" aria-label="{html.escape(description)}" '
        f'style="max-width:100%;height:auto;font:12px sans-serif">{body}</svg>'
    )


def card(title: str, picture: str, *notes: str) -> str:
    """A heading, a picture and sentences."""
    below = "".join(f'<div style="opacity:.75">{html.escape(note)}</div>' for note in notes if note)
    return f'<div style="{FRAME}"><div><strong>{html.escape(title)}</strong></div>{picture}{below}</div>'


def short(name: str) -> str:
    """A name that fits, escaped."""
    text = str(name)
    return html.escape(text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1]}…")
