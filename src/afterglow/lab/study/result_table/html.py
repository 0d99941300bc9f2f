"""HTML of a `ResultTable` for notebooks, with intervals drawn on a common scale."""

import html
import math
from typing import Any

STYLE = (
    "<style>.afterglow{max-height:36em;overflow:auto}"
    ".afterglow table{border-collapse:collapse;color:inherit;font-size:inherit;font-variant-numeric:tabular-nums}"
    ".afterglow th,.afterglow td{padding:.15em .7em;text-align:right;white-space:nowrap;background:none}"
    ".afterglow .text{text-align:left}"
    ".afterglow thead th{border-bottom:1px solid;font-weight:600}"
    ".afterglow p{margin:.3em .7em;max-width:60em;opacity:.75}</style>"
)
WIDTH, HEIGHT = 150, 14
MOST_ROWS = 500  # in a notebook
WIDE = 10.0  # from this ratio on the scale is logarithmic


def page(head: str, columns: list[str], rows: list[dict[str, Any]], texts: list[list[str]], caption: str) -> str:
    """The table, its first rows if it is long; `texts` are the cells as they are read, row by row."""
    if len(rows) > MOST_ROWS:
        caption = f"the first {MOST_ROWS:,} of {len(rows):,} rows, to_pandas() has them all; {caption}"
        rows, texts = rows[:MOST_ROWS], texts[:MOST_ROWS]
    sides = ['class="text"' if all(isinstance(row[name], str) for row in rows) else "" for name in columns]
    bars = drawn(rows)
    titles = [f"<th {side}>{html.escape(name)}</th>" for side, name in zip(sides, columns, strict=True)]
    if bars:
        titles.insert(columns.index("high") + 1, "<th></th>")
    body = []
    for number, cells in enumerate(texts):
        shown = [f"<td {side}>{html.escape(cell)}</td>" for side, cell in zip(sides, cells, strict=True)]
        if bars:
            shown.insert(columns.index("high") + 1, f"<td>{bars[number]}</td>")
        body.append(f"<tr>{''.join(shown)}</tr>")
    return (
        f'{STYLE}<div class="afterglow">{f"<p>{html.escape(head)}</p>" if head else ""}'
        f"<table><thead><tr>{''.join(titles)}</tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table><p>{html.escape(caption)}</p></div>"
    )


def drawn(rows: list[dict[str, Any]]) -> list[str]:
    """For each row its interval and estimate; nothing where rows have none."""
    name = estimate(rows)
    found = [(row["low"], row[name], row["high"]) for row in rows if name and known(row, name)]
    if not found:
        return []
    low, high = min(one[0] for one in found), max(one[2] for one in found)
    logarithmic = low > 0 and high / low >= WIDE
    return [bar(row, name, low, high, logarithmic) if known(row, name) else "" for row in rows]


def estimate(rows: list[dict[str, Any]]) -> str:
    """The column before `low`."""
    names = list(rows[0]) if rows else []
    return names[names.index("low") - 1] if "low" in names else ""


def known(row: dict[str, Any], name: str) -> bool:
    return all(isinstance(row[one], float) and math.isfinite(row[one]) for one in ("low", name, "high"))


def bar(row: dict[str, Any], name: str, low: float, high: float, logarithmic: bool) -> str:
    """A line from low to high with a dot at the estimate, and zero where it is in sight."""

    def place(value: float) -> float:
        top, bottom, at = (math.log(x) if logarithmic else x for x in (high, low, value))
        return 5 + (WIDTH - 10) * (0.5 if top == bottom else (at - bottom) / (top - bottom))

    left, dot, right = (place(row[one]) for one in ("low", name, "high"))
    middle = HEIGHT / 2
    zero = (
        f'<line x1="{place(0.0):.1f}" x2="{place(0.0):.1f}" y1="0" y2="{HEIGHT}" stroke="currentColor" '
        'stroke-opacity=".35" stroke-dasharray="2 2"/>'
        if low < 0 < high
        else ""
    )
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" '
        f'aria-label="{row["low"]:.4g} to {row["high"]:.4g}">{zero}'
        f'<line x1="{left:.1f}" x2="{right:.1f}" y1="{middle}" y2="{middle}" stroke="currentColor" '
        f'stroke-width="2" stroke-opacity=".55"/><circle cx="{dot:.1f}" cy="{middle}" r="3" fill="currentColor"/></svg>'
    )
