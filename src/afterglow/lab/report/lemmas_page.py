"""The report page of the study of lemmas: largest errors, bounds, and the adversary that reaches them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from afterglow.lab.rendering.html import placed, render, swatch
from afterglow.lab.rendering.palette import BLUE, GREEN, GREY, INK, ORANGE, OTHERS, PAPER, PINK, RED, RULE, SKY, Stroke
from afterglow.lab.rendering.rounding import percent
from afterglow.lab.rendering.style import STYLE, band_line, blank_figure, handle, save, short_ticks, slug, svg
from afterglow.lab.report import one_run
from afterglow.lab.report.lemmas import ADVERSARY, Observed
from afterglow.lab.report.rotation import rotation
from afterglow.lab.versions import versions
from afterglow.worlds.world import World

LOOKS = {
    "the adversary": Stroke(RED, width=2.2), "handicap": Stroke(ORANGE), "chameleon": Stroke(PINK),
    "last": Stroke(BLUE), "delay:uniform": Stroke(SKY, (4, 2)), "uniform": Stroke(GREEN),
}  # fmt: skip
STEPS = 8  # holds of the adversary that are shown


def write(rows: Sequence[Observed], folder: Path) -> Path:
    """Write the page and the figures as SVG, PDF and PNG; the path of the page."""
    drawn = figures(rows)
    path = folder / "index.html"
    path.write_text(page(rows, drawn), encoding="utf-8")
    with_legends(drawn, looks(rows))
    save(drawn, folder / "figures", ["svg", "pdf", "png"])
    return path


def with_legends(drawn: dict[str, Figure], known: dict[str, Stroke]) -> None:
    """Add a legend to figures with lines; on the page it is above them."""
    handles = [handle(look, name) for name, look in known.items()]
    for name, figure in drawn.items():
        if name.startswith("errors-"):
            figure.set_figheight(3.2 + 0.2 * -(-len(handles) // 3))
            figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize=8)


def page(rows: Sequence[Observed], drawn: dict[str, Figure]) -> str:
    """The page as self-contained HTML."""
    windows = sorted({row.window for row in rows})
    largest = [row for row in rows if row.window == windows[-1]]
    described = {name: describe(name) for name in drawn}
    return render(
        "lemmas.html",
        names=names(rows),
        best={name: max(row.reached for row in largest if row.name == name) for name in names(rows)},
        pooled={name: max(row.pooled for row in largest if row.name == name) for name in names(rows)},
        errors={name: [row.single for row in largest if row.name == name] for name in names(rows)},
        sizes=[row for row in largest if row.name == names(rows)[0]],
        windows=windows,
        holds=rows[0].holds,
        svg=placed({name: svg(figure) for name, figure in drawn.items()}, described),
        legend=[(name, slug(name), swatch(look)) for name, look in looks(rows).items()],
        versions=versions(),
    )


def describe(name: str) -> str:
    """The text alternative of a figure."""
    if name.startswith("errors-"):
        return f"largest error of a hold's mean against the length of the hold, window {name.removeprefix('errors-')}"
    if name.startswith("one-run"):
        return "the adversary: arms, totals, and the leakage of each hold"
    return "largest errors of every spread as shares of their bounds"


def names(rows: Sequence[Observed]) -> list[str]:
    """Spreads and the adversary, the largest errors first."""
    sums: dict[str, float] = {}
    for row in rows:
        sums[row.name] = sums.get(row.name, 0.0) + row.reached
    return sorted(sums, key=lambda name: (-round(sums[name], 9), name != "the adversary"))


def looks(rows: Sequence[Observed]) -> dict[str, Stroke]:
    """Strokes of the named lines, and one for all others."""
    known = {name: LOOKS[name] for name in names(rows) if name in LOOKS}
    return known | ({"the others": OTHERS} if len(known) < len(names(rows)) else {})


def figures(rows: Sequence[Observed]) -> dict[str, Figure]:
    """Errors by the length of a hold, shares of the bounds, and a run of the adversary."""
    windows = sorted({row.window for row in rows})
    with matplotlib.rc_context(STYLE):
        found = {f"errors-{window}": errors([row for row in rows if row.window == window]) for window in windows}
        largest = [row for row in rows if row.window == windows[-1]]
        found |= {"shares": shares(largest, False), "shares-narrow": shares(largest, True)}
    shown = adversary(windows[0])
    return found | {"one-run": one_run.draw(shown, False), "one-run-narrow": one_run.draw(shown, True)}


def errors(rows: Sequence[Observed]) -> Figure:
    """The largest error of one hold's mean, by the length of the hold, below both forms of Lemma 1."""
    figure, axes = blank_figure(4.3, 3.2)
    for name in reversed(names(rows)):
        own = sorted((row for row in rows if row.name == name), key=lambda row: row.hold)
        points = [(row.hold, row.single) for row in own if row.single > 0]
        if points:
            x, y = zip(*points, strict=True)
            look = LOOKS.get(name, OTHERS)
            gid = f"line-{slug(name if name in LOOKS else 'the others')}"
            band_line(axes, x, y, y, y, look, gid, band=name in LOOKS, mark="o")
    own = sorted({row.hold: row for row in rows}.values(), key=lambda row: row.hold)
    holds = [row.hold for row in own]
    axes.plot(holds, [row.lemma_1_paper for row in own], color=GREY, linewidth=1.1, linestyle=(0, (5, 2, 1, 2)))
    axes.plot(holds, [row.lemma_1 for row in own], color=INK, linewidth=0.9, zorder=1)
    window = own[0].window
    axes.set(xscale="log", yscale="log", xlabel="steps of a hold, k", ylabel="largest error of its mean")
    axes.set(ylim=(own[-1].lemma_1 / 30, 1.4 * own[0].lemma_1_paper), title=f"window {window}")
    axes.grid(True, which="major")
    short_ticks(axes.xaxis, axes.yaxis)
    axes.set_xticks(holds, [str(hold) for hold in holds])
    return figure


def shares(rows: Sequence[Observed], narrow: bool) -> Figure:
    """The largest error of every spread as a share of its bound: of one hold, and of all holds of an arm together."""
    order = names(rows)[::-1]
    figure, axes = blank_figure(4.6 if narrow else 8.2, 0.29 * len(order) + 0.9)
    axes.axvline(1, color=INK, linewidth=0.9, zorder=1)
    for place, name in enumerate(order):
        own = [row for row in rows if row.name == name]
        one, all_ = max(row.reached for row in own), max(row.pooled for row in own)
        axes.plot([min(one, all_), max(one, all_)], [place, place], color=RULE, linewidth=3, zorder=0.5)
        said = ("one hold, Lemma 1", "all holds of an arm, Lemma 2") if place == 0 else (None, None)
        axes.plot(one, place, "o", color=BLUE, markersize=4.2, zorder=3, label=said[0])
        axes.plot(all_, place, "s", color=RED, markerfacecolor=PAPER, markersize=7, zorder=2, label=said[1])
    axes.set_yticks(range(len(order)), order)
    axes.set(xlim=(-0.03, 1.08), ylim=(-0.7, len(order) - 0.3), xlabel="share of the bound")
    axes.xaxis.set_major_formatter(lambda value, _: percent(value))
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(True, axis="x")
    axes.legend(loc="lower center", bbox_to_anchor=(0.6, 0), frameon=False, fontsize=8.5)
    return figure


def adversary(window: int) -> one_run.RunPicture:
    """A few holds of the world that reaches the bound."""
    hold = 2 * window
    settings: Any = rotation.settings(2, 1, STEPS * hold, {"hold": hold, "commit": STEPS * hold})
    shown = one_run.RunPicture("rotation", World.of(ADVERSARY, window, "handicap"), "the adversary")
    return one_run.played(shown, rotation, settings, 1, STEPS * hold)
