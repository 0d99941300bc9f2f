"""A fit as a page: who brings more, the differences behind it, means, when effects arrive, what was played."""

from pathlib import Path

from afterglow.lab.fit.figures import NARROW, figures
from afterglow.lab.fit.fitting import Fit, FitDifference
from afterglow.lab.rendering.html import placed, render, written
from afterglow.lab.rendering.rounding import amount, signed
from afterglow.lab.rendering.style import svg
from afterglow.lab.versions import versions

DESCRIBED = {
    "differences": "how much more or less each arm brings than one of them, with intervals",
    "kernels": "what each arm pays above the average arm, by steps after the pull, with bands",
    "means": "what a pull of each arm brings, with intervals",
    "timeline": "totals step by step, and the arm that was played",
}


def write(fit: Fit, folder: Path) -> Path:
    """The page's path; beside it `fit.json`."""
    return written(folder, page(fit), "fit.json", fit.to_json())


def page(fit: Fit) -> str:
    """The page as HTML with everything inside."""
    return render(
        "fit.html",
        fit=fit,
        answer=answer(fit.differences),
        than=fit.differences[0].than,
        means=sorted(fit.means, key=lambda one: -one.mean),
        proved=any(one.proved_low is not None for one in fit.means),
        share=f"{100 * fit.confidence:g} %",
        amount=amount,
        signed=lambda value: signed(value, minus="−"),
        svg=placed({name: svg(figure) for name, figure in figures(fit, NARROW).items()}, DESCRIBED),
        legend=[],
        versions=versions(),
    )


def answer(differences: list[FitDifference]) -> str:
    """Who brings more and who less than the arm that all are compared with, as far as it is shown."""
    than = differences[0].than
    more = [one.arm for one in differences if one.low > 0]
    less = [one.arm for one in differences if one.high < 0]
    unsure = [one.arm for one in differences if one.low <= 0 <= one.high]
    parts = []
    if more:
        parts.append(f"{listed(more)} {'brings' if len(more) == 1 else 'bring'} more than {than}")
    if less:
        parts.append(f"{than} brings more than {listed(less)}")
    if not parts:
        return f"no arm is shown to bring more or less than {than}"
    if unsure:
        parts.append(f"{listed(unsure)} can’t be told from it")
    return "; ".join(parts)


def listed(names: list[str]) -> str:
    """A, B and C."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
