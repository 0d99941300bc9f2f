"""Sentences that were written for Python, in the words of the command line.

A sentence that says both, `column='sum' (--column sum)`, keeps the second. What only Python can do has another way out
here.
"""

import re

VALUE = r"(?:'[^']*'|\"[^\"]*\"|[^\s;]+)"
OPTION = r"--[a-z-]+ [^\s()']*(?:'[^']*'[^\s()']*)*"
BOTH = re.compile(rf"\b[a-z_]+={VALUE} \(({OPTION})\)")
ONLY_PYTHON = {
    "; stop it, or open with read_only=True": "; stop it first; `afterglow verify`, `backup` and `export` can be used",
    "; open it without read_only to create it": "; name the file of the experiments",
    "; open it without read_only to change it": "; this command only reads",
}


def spoken(sentence: str) -> str:
    """A sentence as the command line says it."""
    for python, here in ONLY_PYTHON.items():
        sentence = sentence.replace(python, here)
    return BOTH.sub(lambda both: both[1], sentence)
