"""Formulas as MathML, generated when the site is built: pages need no script, no web font and no network for them."""

import re

from docutils import nodes
from math_core import LatexError, LatexToMathML
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

CONVERTER = LatexToMathML(fancy_error=False)
logger = logging.getLogger(__name__)
NAMED = re.compile(r"\\[a-zA-Z]+(?:\{[a-zA-Z ,]*\})?")  # \log, \text{with words}
PROSE = re.compile(r"(?:\b[a-zA-Z]{2,}\s+){2}[a-zA-Z]{2,}")


def inline(self: HTML5Translator, node: nodes.math) -> None:
    write(self, node, displaystyle=False)


def block(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append('<div class="formula">')
    write(self, node, displaystyle=True)


def write(self: HTML5Translator, node: nodes.Element, *, displaystyle: bool) -> None:
    """Append the formula; one that can't be read, or contains text, is a warning, which stops the build."""
    formula = node.astext()
    if prose := PROSE.search(NAMED.sub(" ", formula)):
        logger.warning("text as a formula, a $ may be missing: %s", prose[0], location=node)
    try:
        self.body.append(CONVERTER.convert_with_local_state(formula, displaystyle=displaystyle))
    except LatexError as wrong:
        logger.warning("a formula that can't be read, %s: %s", wrong, formula, location=node)
    if displaystyle:
        self.body.append("</div>")
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
