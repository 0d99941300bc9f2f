"""LaTeX of a `ResultTable`: a booktabs table, with intervals in brackets behind their estimate."""

from typing import Any

SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "×": r"$\times$", "–": "--", "∞": r"$\infty$", "−": "$-$",
    "±": r"$\pm$", "·": r"$\cdot$",
}  # fmt: skip


def escaped(text: str) -> str:
    r"""A text with LaTeX's special characters escaped.

    >>> escaped("a_b & 50 %")
    'a\\_b \\& 50 \\%'
    """
    return "".join(SPECIAL.get(letter, letter) for letter in text)


def latex(
    columns: list[str], rows: list[dict[str, Any]], texts: list[list[str]], head: str, caption: str, label: str
) -> str:
    """The table; `low` and `high` are in brackets in the column before them."""
    joined = columns.index("low") - 1 if {"low", "high"} <= set(columns) and columns.index("low") > 0 else None
    shown = [name for name in columns if joined is None or name not in ("low", "high")]
    sides = "".join("l" if all(isinstance(row[name], str) for row in rows) else "r" for name in shown)
    lines = []
    for cells in texts:
        by_name = dict(zip(columns, cells, strict=True))
        if joined is not None:
            name = columns[joined]
            by_name[name] = f"{by_name[name]} [{by_name['low']}, {by_name['high']}]"
        lines.append(" & ".join(escaped(by_name[name]) for name in shown) + r" \\")
    titles = " & ".join(escaped(name.replace("_", " ")) for name in shown) + r" \\"
    above = f"\\caption{{{escaped(caption)}}}\n" + (f"\\label{{{label}}}\n" if label else "")
    note = f"% {head}\n" if head else ""
    return (
        f"% needs \\usepackage{{booktabs}}\n{note}\\begin{{table}}\n\\centering\n{above}\\begin{{tabular}}{{{sides}}}\n"
        f"\\toprule\n{titles}\n\\midrule\n" + "\n".join(lines) + "\n\\bottomrule\n\\end{tabular}\n\\end{table}\n"
    )
