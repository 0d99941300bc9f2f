"""Excerpts of the pages for the search results, stored in a script.

Sphinx loads them from the pages with `fetch`, which browsers refuse for files on disk. This extension writes the text
of every page into excerpts.js, which the search page reads instead.
"""

import json
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

HEADER_LINK = re.compile(r'<a class="headerlink".*?</a>', re.DOTALL)
TAG = re.compile(r"<(?!/?section\b)[^>]*>")  # sections stay: a hit in a title shows the text below it
ANSWER = 'window.fetch = (page) => Promise.resolve({ text: () => `<div role="main">${PAGES[page]}</div>` });'


def setup(app: Sphinx) -> None:
    pages: dict[str, str] = {}

    def keep(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: object) -> None:
        if tree is not None:
            text = TAG.sub("", HEADER_LINK.sub("", context["body"]))
            pages[f"./{page}.html"] = re.sub(r"\s+", " ", text)

    def write(app: Sphinx, wrong: Exception | None) -> None:
        if wrong is None:
            script = f"const PAGES = {json.dumps(pages, ensure_ascii=False, sort_keys=True)};\n{ANSWER}\n"
            (Path(app.outdir) / "excerpts.js").write_text(script, encoding="utf-8")

    app.connect("html-page-context", keep)
    app.connect("build-finished", write)
