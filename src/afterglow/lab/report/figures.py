"""The figures of a study: regret curves, growth along an axis, final regret, heat maps, probability of error."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from afterglow.errors import BadValue
from afterglow.lab.rendering.paper import styled
from afterglow.lab.rendering.style import blank_figure, slug
from afterglow.lab.report import one_run
from afterglow.lab.report.curves import draw_curves, dullness
from afterglow.lab.report.error_figure import draw_errors
from afterglow.lab.report.finals import dot_legend, dots, heat
from afterglow.lab.report.groups import Group, Groups, picked
from afterglow.lab.report.growth import ALONG, DRAWN_WITHIN, draw_along
from afterglow.lab.report.lines import lines_of
from afterglow.lab.statistics import LEVEL
from afterglow.lab.study.results import Results

PANELS = 9  # of a kind on a page
WORDS = {"spread": "spread", "rewards": "rewards", "baseline": "baseline"} | ALONG
LEAST_CHECKPOINTS = 4  # of a curve over time
LONGEST = 70  # letters of a file's name
BAND = f"{LEVEL:.0%} band of the mean at each step by itself"
INTERVAL = f"mean with its {LEVEL:.0%} interval"
FITS = f"where within a factor of {DRAWN_WITHIN:g} of all means"
ON_LOG = "by the delta method for its logarithm"
SAID = {"log": "regret-log", "linear": "regret-linear", "share": "best-arm-share"}


@dataclass(frozen=True)
class Drawn:
    """A figure with its kind, title, description, caption and file name."""

    figure: Figure
    kind: str  # log, linear, share, along, error, dots, heat or one-run
    title: str
    description: str
    caption: str = ""
    file: str = ""  # without suffix: says what it shows
    note: str = ""  # which intervals are drawn
    marks: list[Line2D] = field(default_factory=list)  # samples for the legend of a separate file


class Gallery:
    """All figures of a study; `most` panels of a kind at most, all of them for None."""

    def __init__(self, groups: Groups, style: Mapping[str, Any] | None = None, most: int | None = PANELS) -> None:
        self.groups, self.most = groups, most
        self.lines = lines_of(groups, style)
        self.order, self.looks = self.lines.order, self.lines.looks
        self.made: dict[str, Drawn] = {}
        self.dropped: dict[str, tuple[int, int]] = {}  # kind: how many panels are drawn, of how many
        self.picture: one_run.RunPicture | None = None
        self.no_picture: list[tuple[str, str]] = []  # labels without a picture, and their files
        with styled(style or {}):
            if groups.results.objective == "best-arm":
                self.errors()
            self.over_time()
            self.along_axes()
            self.finals()
            self.tables()
            self.one_run()

    def keep(self, name: str, drawn: Drawn) -> None:
        self.made[slug(name)] = drawn

    def shown(self, kind: str, things: list[Any]) -> list[Any]:
        """The panels to draw, evenly chosen where there are too many; how many is remembered."""
        found = things if self.most is None else picked(things, self.most)
        if len(found) < len(things):
            self.dropped[kind] = (len(found), len(things))
        return found

    def file(self, what: str, title: str) -> str:
        """A file's name: what it shows, and where; with a number if another has it."""
        name = slug(f"{what} {title}".strip().replace("×", "x"))[:LONGEST].rstrip("-.")
        taken = {one.file for one in self.made.values()}
        return name if name not in taken else next(f"{name}-{n}" for n in range(2, 9999) if f"{name}-{n}" not in taken)

    @property
    def panels(self) -> list[Group]:
        """The groups of longest horizon; shorter ones are in the figure of growth along it."""
        longest: dict[Any, Group] = {}
        for group in self.groups.all:
            other = longest.get(group.without("horizon"))
            if other is None or other.place["horizon"] < group.place["horizon"]:
                longest[group.without("horizon")] = group
        return list(longest.values())

    def over_time(self) -> None:
        """Curves of the setups whose cells have enough checkpoints for one."""
        for number, group in enumerate(self.shown("log", [one for one in self.panels if self.curved(one)]), 1):
            title = self.groups.title(group, "horizon")
            for kind in ("log", "linear", "share"):
                figure, axes = blank_figure(4.3, 3.2)
                draw_curves(axes, self.lines, group, kind, title)
                what = "share of the steps on the best arm" if kind == "share" else "regret"
                scales = "; both axes logarithmic" if kind == "log" else ""
                caption = group.arrival if "spread" in self.groups.varying and kind != "share" else ""
                note = f"{BAND}, {ON_LOG}" if kind == "log" else f"{BAND}, Student's t"
                drawn = Drawn(
                    figure, kind, title, f"{what} over time, {title}{scales}", caption, self.file(SAID[kind], title),
                    note,
                )  # fmt: skip
                self.keep(f"{kind}-{number}", drawn)

    def curved(self, group: Group) -> bool:
        cells = group.cells.values()
        return max(self.groups.results.curves_of(cell["cell"])[0].size for cell in cells) >= LEAST_CHECKPOINTS

    def members(self, axis: str) -> list[list[Group]]:
        """The groups that differ in one axis alone."""
        rest: dict[Any, list[Group]] = {}
        for group in self.groups.all:
            rest.setdefault(group.without(axis), []).append(group)
        return list(rest.values())

    def along_axes(self) -> None:
        for axis, what in ALONG.items():
            several = [members for members in self.members(axis) if len(members) > 1]
            for number, members in enumerate(self.shown("along", several), 1):
                title = self.groups.title(members[0], axis) if len(several) > 1 else ""
                figure, axes = blank_figure(4.3, 3.2)
                draw_along(axes, self.lines, members, axis, title or f"along {what.partition(',')[0]}")
                text = f"final regret against {what}{', ' if title else ''}{title}"
                note = f"{INTERVAL}, {ON_LOG}; dotted: the fitted curve, {FITS}; grey: the regret of the worst arm"
                name = self.file(f"growth along {axis}", title)
                self.keep(f"along-{axis}-{number}", Drawn(figure, "along", title, text, "", name, note))

    def errors(self) -> None:
        for number, members in enumerate(self.shown("error", self.members("horizon")), 1):
            title = self.groups.title(members[0], "horizon")
            figure, axes = blank_figure(4.3, 3.2)
            draw_errors(axes, self.lines, members, title)
            text = f"probability of recommending a wrong arm against the budget of steps, {title}"
            note = f"share of the runs with its exact {LEVEL:.0%} interval, Clopper and Pearson's"
            name = self.file("error-probability", title)
            self.keep(f"error-{number}", Drawn(figure, "error", title, text, "", name, note))

    def finals(self) -> None:
        rest = self.members("spread")
        shown = self.shown("dots", rest)
        for number, members in enumerate(shown, 1):
            title = self.groups.title(members[0], "spread") if len(rest) > 1 else ""
            text = f"final regret of every policy with intervals, {title or 'spread by spread'}"
            name, note = self.file("final-regret", title), f"{INTERVAL}, {ON_LOG}"
            wide = len(rest) == 1
            for narrow in (False, True) if wide else (True,):
                figure = dots(self.lines, members, title, narrow)
                marks = dot_legend(figure.axes, members)
                drawn = Drawn(figure, "dots", title, text, "", name, note, marks)
                self.keep(f"dots-{number}{'-narrow' if narrow and wide else ''}", drawn)

    def tables(self) -> None:
        for axis in [axis for axis in WORDS if axis in self.groups.varying] or ["spread"]:
            if len(self.groups.values(axis)) > 14:
                continue
            for narrow in (False, True):
                text = f"policy by {WORDS[axis]}: regret as a share of that of random play, darker for more"
                name = f"regret-by-{axis}"
                drawn = Drawn(heat(self.lines, axis, narrow), "heat", WORDS[axis], text, "", name, "means")
                self.keep(f"heat-{axis}{'-narrow' if narrow else ''}", drawn)

    def one_run(self) -> None:
        """The first run of the best policy, with the true window and possible leakage, a short one if any."""
        for label in self.order:
            group = min(self.groups.of(label), key=lambda one: dullness(one, one_run.MOST_STEPS))
            if group.cells[label]["file"]:
                self.no_picture.append((label, group.cells[label]["file"]))
            title = self.groups.title(group)
            self.picture = one_run.picture_of(group.cells[label], title)
            if self.picture is not None:
                for name, narrow in (("one-run", False), ("one-run-narrow", True)):
                    text = f"one run of {label}: arms held, totals and leakage"
                    self.keep(name, Drawn(one_run.draw(self.picture, narrow), "one-run", title, text, "", "one-run"))
                return


def drawn(results: Results, style: Mapping[str, Any] | None = None, most: int | None = PANELS) -> Gallery:
    """The figures of a study; `most` panels of a kind, all of them for None."""
    groups = Groups(results)
    if not groups.all:
        sentence = f"{results.folder} has no finished run yet; run `afterglow run` for longer"
        raise BadValue(sentence, kind="no-results", field="results")
    return Gallery(groups, style, most)
