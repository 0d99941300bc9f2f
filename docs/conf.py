"""Sphinx configuration of the documentation site. `make docs` builds it, from the folder that build.py prepares."""

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

import excerpts
import mathml

HERE = Path(__file__).parent
LIGHT = {
    "font-stack": '"Helvetica Neue", Helvetica, Arial, "Liberation Sans", sans-serif',
    "font-stack--monospace": 'ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace',
    "color-foreground-primary": "#1d1f24",
    "color-foreground-secondary": "#565b66",
    "color-foreground-muted": "#656a75",
    "color-foreground-border": "#b9bdc6",
    "color-background-primary": "#fdfdfb",
    "color-background-secondary": "#f5f6f7",
    "color-background-hover": "#eef5fa",
    "color-background-border": "#dfe1e6",
    "color-brand-primary": "#0072b2",
    "color-brand-content": "#0069a6",
    "color-brand-visited": "#0069a6",
    "color-sidebar-link-text--top-level": "#40444d",
    "color-sidebar-caption-text": "#656a75",
    "color-highlight-on-target": "#fff6dd",
    "color-inline-code-background": "#f1f3f5",
    "color-code-background": "#f5f6f7",
}
DARK = {
    "color-foreground-primary": "#e8e9ec",
    "color-foreground-secondary": "#a9aeb9",
    "color-foreground-muted": "#9299a5",
    "color-foreground-border": "#565c68",
    "color-background-primary": "#14161a",
    "color-background-secondary": "#1a1d22",
    "color-background-hover": "#1d2a36",
    "color-background-border": "#31353d",
    "color-brand-primary": "#4aa8ea",
    "color-brand-content": "#62b4ee",
    "color-brand-visited": "#62b4ee",
    "color-sidebar-link-text--top-level": "#c3c7cf",
    "color-sidebar-caption-text": "#9299a5",
    "color-highlight-on-target": "#33301f",
    "color-inline-code-background": "#22262d",
    "color-code-background": "#1a1d22",
}

project = "Afterglow"
release = re.findall(r'^__version__ = "(.*)"', (HERE.parent / "src/afterglow/release.py").read_text("utf-8"), re.M)[0]
extensions = ["myst_parser"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4  # the same anchors as on GitHub
myst_fence_as_directive = ["math"]
smartquotes_action = "q"
templates_path = [str(HERE / "templates")]

html_theme = "furo"
html_title = project
html_static_path = [str(HERE / "assets")]
html_css_files = ["site.css"]
html_search_scorer = str(HERE / "scorer.js")
html_favicon = str(HERE / "assets/mark.svg")
html_theme_options: dict[str, Any] = {
    "light_css_variables": LIGHT,
    "dark_css_variables": DARK,
    "light_logo": "mark.svg",
    "dark_logo": "mark.svg",
    "top_of_page_buttons": [],
}
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
html_use_index = False
html_permalinks_icon = "#"
pygments_style, pygments_dark_style = "a11y-high-contrast-light", "github-dark"


def setup(app: Sphinx) -> None:
    mathml.setup(app)
    excerpts.setup(app)
