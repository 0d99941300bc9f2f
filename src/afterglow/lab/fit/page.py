"""The report page of a fit: differences, means, when effects arrive, the recorded steps."""

from pathlib import Path

from afterglow.lab.fit.figures import NARROW, figures
from afterglow.lab.fit.fitting import Fit, FitDifference
from afterglow.lab.rendering.html import placed, render, written
from afterglow.lab.rendering.rounding import amount, signed
from afterglow.lab.rendering.style import svg
from afterglow.lab.versions import versions

DESCRIBED = {
    "differences": "differences of average per pull to the reference arm, with intervals",
    "kernels": "each arm's reward above the average arm, by steps after the pull, with bands",
    "means": "average per pull of each arm, with intervals",
    "timeline": "totals by step, and the arm played",
}


def write(fit: Fit, folder: Path) -> Path:
    """Write the page and `fit.json`; the path of the page."""
    return written(folder, page(fit), "fit.json", fit.to_json())


def page(fit: Fit) -> str:
    """The page as self-contained HTML."""
    return render(
        "fit.html",
        fit=fit,
        answer=claim(fit),
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


def claim(fit: Fit) -> str:
    """Which arms are better or worse; nothing while the window is too short."""
    if fit.check.verdict == "too short":
        return f"nothing can be said: the window of {fit.window:,} is too short"
    return answer(fit.differences)


def answer(differences: list[FitDifference]) -> str:
    """Which arms are better or worse than the reference arm, as far as the intervals show."""
    than = differences[0].than
    more = [one.arm for one in differences if one.low > 0]
    less = [one.arm for one in differences if one.high < 0]
    unsure = [one.arm for one in differences if one.low <= 0 <= one.high]
    parts = []
    if more:
        parts.append(f"{listed(more)} {'is' if len(more) == 1 else 'are'} better than {than}")
    if less:
        parts.append(f"{than} is better than {listed(less)}")
    if not parts:
        return f"no arm is shown to be better or worse than {than}"
    if unsure:
        parts.append(f"the difference to {listed(unsure)} is not clear")
    return "; ".join(parts)


def listed(names: list[str]) -> str:
    """A, B and C."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
