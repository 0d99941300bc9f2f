"""Inline a Matplotlib SVG into a page: colours from the style sheet, unique ids, no fixed size."""

import re
from html import escape

from afterglow.lab.rendering.palette import VARIABLES


def inline(drawn: str, name: str, description: str) -> str:
    """The drawing as an `<svg>` element that follows the page from light to dark."""
    box = re.search(r'viewBox="[^"]*"', drawn)
    inside = drawn[drawn.index(">", drawn.index("<svg")) + 1 :]
    inside = re.sub(r"<metadata>.*?</metadata>\s*", "", inside, flags=re.DOTALL)
    inside = re.sub(r'\b(id="|url\(#|href="#)', rf"\g<1>{name}-", inside).replace("xlink:href", "href")
    inside = inside.replace("font-family: 'DejaVu Sans', sans-serif", "font-family: var(--sans)")
    size = box[0] if box else ""
    return f'<svg class="drawn" role="img" aria-label="{escape(description)}" {size}>{with_variables(inside).strip()}'


def with_variables(drawn: str) -> str:
    """The drawing with each colour of the palette as a variable of the page's style sheet."""
    for colour, variable in VARIABLES.items():
        drawn = drawn.replace(colour, f"var(--{variable})")
    return drawn
