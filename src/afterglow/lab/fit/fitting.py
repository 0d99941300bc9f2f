r"""Fit recorded steps: means of arms, differences between them, lag kernels, and a test of the window.

Means are given twice. Proved bounds for any spread within the window, by `BoundsWithGaps`; they need a window and a
maximum reward of a pull that are given, and means that don't change, so there are none with a season. And estimates
under the model that effects depend on arm and lag only, plus a season that is the same for all arms, which are much
narrower (`regression`).
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from afterglow.checks import choice, number, whole
from afterglow.errors import BadValue, Sentence, UnknownName, argument
from afterglow.lab.fit.aliasing import refuse_aliased
from afterglow.lab.fit.design_test import DesignTest, design_test
from afterglow.lab.fit.priors import Priors, priors_of
from afterglow.lab.fit.proved import most_of_a_pull, proved
from afterglow.lab.fit.recorded import Recorded
from afterglow.lab.fit.regression import LagExcess, Regressed, differs_by_arm, levelled, regression
from afterglow.lab.fit.verdict import FitVerdict, judged
from afterglow.lab.fit.window_check import WindowCheck, check_window
from afterglow.lab.history.estimate import FEWEST, estimate
from afterglow.lab.reading.tables import Source, Steps, read_steps
from afterglow.pictures import card, intervals

DIFFERS = 0.01  # p-value of a slope that is the same for all arms
RUNS = 3  # of an arm, below which the jackknife can't be used
FEW_CHANGES = 8  # of arm
CYCLES = 3  # minimum number of seasons
LOOKED_AT = 20_000  # steps that are searched for a season
READING = ("step", "arm_column", "column", "decimal", "zone")  # how to read a file


@dataclass(frozen=True)
class ArmMean:
    """An arm's mean per pull: an estimate with its interval, and bounds for any spread."""

    arm: str
    mean: float
    low: float
    high: float
    proved_low: float | None
    proved_high: float | None
    pulls: int
    runs: int


@dataclass(frozen=True)
class FitDifference:
    """Difference between the means of two arms, with its interval."""

    arm: str
    than: str
    difference: float
    low: float
    high: float


@dataclass(frozen=True)
class ExpectedEffect:
    """How totals follow what was expected of them: 1 if one to one."""

    slope: float
    low: float
    high: float
    differs: float | None  # p-value that it is the same for all arms


@dataclass(frozen=True)
class Fit:
    """The fit of recorded steps. Intervals of differences are simultaneous, those of means and kernels individual."""

    window: int
    season: int
    reward_max: float
    confidence: float
    means: list[ArmMean]
    differences: list[FitDifference]  # of every arm to one of them
    kernels: dict[str, list[LagExcess]]
    check: WindowCheck
    verdict: FitVerdict
    expected: ExpectedEffect | None  # the coefficient of expected totals, if a column of them was named
    steps: int
    notes: list[str]
    recorded: Recorded = field(repr=False)
    test: DesignTest | None = None  # exact, of a randomised schedule
    regressed: Regressed | None = field(default=None, repr=False, compare=False)

    def priors(self, than: str | None = None) -> Priors:
        """Effects by lag as priors for media-mix models, over the arm `than`; default: that of `differences`."""
        assert self.regressed is not None
        return priors_of(self.regressed, tuple(self.recorded.names), self.window, than or self.differences[0].than)

    def _repr_html_(self) -> str:
        rows = [
            (f"{one.arm} − {one.than}", one.low, one.difference, one.high, f"{one.difference:+.4g}")
            for one in self.differences
        ]
        title = f"Fit of {self.steps:,} steps, window {self.window:,}: {self.verdict.sentence}"
        text = f"differences of means, {self.confidence:.0%} intervals that hold together"
        return card(title, intervals(rows, text), text)

    def to_json(self) -> str:
        """The same as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, without the steps themselves."""
        parts = ("recorded", "regressed", "means", "differences", "kernels", "check", "verdict", "expected", "test")
        plain = {name: value for name, value in vars(self).items() if name not in parts}
        return plain | {
            "means": [asdict(one) for one in self.means],
            "differences": [asdict(one) for one in self.differences],
            "kernels": {arm: [asdict(lags) for lags in row] for arm, row in self.kernels.items()},
            "check": asdict(self.check),
            "verdict": asdict(self.verdict),
            "expected": self.expected and asdict(self.expected),
            "test": self.test and self.test.to_dict(),
        }


def fit(
    source: Source | Steps,
    window: int | None = None,
    reward_max: float | None = None,
    confidence: float = 0.95,
    season: int | None = None,
    against: str | None = None,
    reading: Mapping[str, str] | None = None,
    design: str | None = None,
    turns: int | None = None,
    expected: str | None = None,
) -> Fit:
    """Fit recorded steps: a CSV file with step, arm and total, its text, or `Steps`.

    Without a window, the one that the data suggest is used. `reward_max` is the maximum reward of one pull; there are
    proved bounds only if it and the window are given. `season` is the length of a cycle in steps, 1 says that there is
    none. Arms are compared with the arm `against`, by default the best. `reading` says how to read a file: `step`,
    `arm_column`, `column`, `decimal` and `zone` of `read_steps`. `expected` names a column of expected totals, one more
    regressor. With a `design`, `blocks` or `coin`, and the number of steps of its `turns`, the schedule is tested too.
    """
    steps = steps_of(source, reading or {}, expected)
    confidence = number("confidence", confidence, 0.5, 1.0)
    given = None if window is None else whole("window", window, 1, "1 = paid at once")
    recorded = Recorded.of(steps, 1 if season is None else whole("season", season, 1, "1 = none"))
    check_size(recorded, against)
    refuse_aliased(recorded, season)
    notes = list(steps.notes)
    check = check_window(recorded, given, confidence)
    used = given or check.suggested or check.window
    refuse_few_steps(recorded, used)
    ceiling = most_of_a_pull(recorded, used, reward_max)
    alarm, bounds = proved(recorded, given, None if reward_max is None else ceiling, confidence, notes)
    check = check.with_alarm(alarm)
    test = schedule_test(recorded, used, confidence, design, turns)
    found = regression(recorded, used, confidence)
    means = means_of(recorded, found, bounds)
    notes += doubts(recorded, found, means)
    doubt = "the window is too short" if check.verdict == "too short" else None
    untried = [name for name, given in (("season", season), ("expected", recorded.expected)) if given is None]
    verdict = judged(recorded.names, [one.runs for one in means], found, bounds, doubt, untried)
    return Fit(
        used, recorded.season, ceiling, confidence, means, differences_of(means, found, against),
        {name: found.kernel(arm) for arm, name in enumerate(recorded.names)}, check, verdict,
        expected_effect(recorded, found, used, notes), len(recorded), notes, recorded, test, found,
    )  # fmt: skip


def steps_of(source: Source | Steps, reading: Mapping[str, str], expected: str | None) -> Steps:
    """The recorded steps, read from a file if they are not read already."""
    for name in reading:
        choice("reading", name, READING)
    if expected is not None and isinstance(source, Steps):
        raise BadValue(f"{argument('expected')} names a column of a file, got steps that are read already")
    return source if isinstance(source, Steps) else read_steps(source, **reading, expected=expected)


def refuse_few_steps(recorded: Recorded, window: int) -> None:
    if len(recorded) < 4 * window:
        sentence = f"a fit needs at least four windows, {4 * window:,} steps, the table has {len(recorded):,}"
        raise BadValue(sentence, kind="too-few-steps", field="window")


def expected_effect(recorded: Recorded, found: Regressed, window: int, notes: list[str]) -> ExpectedEffect | None:
    """The coefficient of expected totals, with a note if it differs between arms."""
    if recorded.expected is None:
        return None
    p = differs_by_arm(recorded, found, window)
    if p is not None and p < DIFFERS:
        notes.append(
            f"totals follow what was expected differently under different arms (p = {p:.2g}): the expected totals "
            "depend on the arm, which is forbidden, or effects scale with demand"
        )
    return ExpectedEffect(*found.expectation(), p)


def schedule_test(
    recorded: Recorded, window: int, confidence: float, design: str | None, turns: int | None
) -> DesignTest | None:  # fmt: skip
    """The exact test of the schedule, if its design is given."""
    if design is None or turns is None:
        for name, value in (("design", design), ("turns", turns)):
            if value is not None:
                needs = argument("design" if design is None else "turns")
                raise BadValue(f"{argument(name)} is for the test of a schedule, which needs {needs} too")
        return None
    return design_test(recorded, window, turns, design, confidence, recorded.expected)


def check_size(recorded: Recorded, against: str | None) -> None:
    """Refuse data that can't be fitted."""
    if np.isnan(recorded.total).all():
        sentence = f"a fit needs totals, the {len(recorded):,} steps of the table have none"
        raise BadValue(sentence, kind="too-few-steps", field="source")
    if recorded.season > 1 and len(recorded) < CYCLES * recorded.season:
        raise BadValue(
            f"a season of {recorded.season:,} steps needs three cycles, {CYCLES * recorded.season:,} steps, the table "
            f"has {len(recorded):,}",
            kind="too-few-steps",
            field="season",
        )
    if against is not None and against not in recorded.names:
        known = ", ".join(recorded.names)
        raise UnknownName("arm", against, recorded.names, f"the arms are {known}", field="against")


def means_of(recorded: Recorded, found: Regressed, bounds: list[tuple[float, float] | None]) -> list[ArmMean]:
    """The means of the arms, in their order."""
    means = []
    before = np.concatenate([[-1], recorded.arm[:-1]])
    for arm, name in enumerate(recorded.names):
        low, high = bounds[arm] or (None, None)
        played = recorded.arm == arm
        means.append(
            ArmMean(name, *found.mean(arm), low, high, int(played.sum()), int((played & (before != arm)).sum()))
        )
    return means


def differences_of(means: list[ArmMean], found: Regressed, against: str | None) -> list[FitDifference]:
    """Differences of all other arms to `against` or the best, the largest first."""
    best = max(means, key=lambda one: one.mean).arm
    names = [one.arm for one in means]
    than = names.index(against or best)
    together = len(names) - 1 if against is not None else len(names) * (len(names) - 1) // 2
    rows = [
        FitDifference(name, names[than], *found.difference(arm, than, together))
        for arm, name in enumerate(names)
        if arm != than
    ]
    return sorted(rows, key=lambda one: -one.difference)


def doubts(recorded: Recorded, found: Regressed, means: list[ArmMean]) -> list[str]:
    """Notes on the limits of a fit."""
    notes = []
    if recorded.changes < FEW_CHANGES:
        notes.append(f"only {recorded.changes} changes of arm: kernels are very uncertain")
    notes += [
        f"arm {one.arm!r} was played in {'one run' if one.runs == 1 else 'two runs'} only: its intervals are not "
        f"reliable{'' if one.proved_low is None else ', its proved bounds are'}"
        for one in means
        if one.runs < RUNS
    ]
    if found.lingers:
        notes.append(
            "noise lingers longer than the blocks behind the errors: intervals of means are too narrow, those of "
            "differences hold only if arms changed often"
        )
    return notes + unseen_season(recorded, found)


def unseen_season(recorded: Recorded, found: Regressed) -> list[str]:
    """A note if the residuals follow a cycle."""
    known = ~np.isnan(found.rest)
    rest = found.rest.copy()
    rest[known] = levelled(rest[known], np.flatnonzero(known) % recorded.season)
    seen = rest[:LOOKED_AT]
    cycle = estimate(seen.tolist()).season if np.isfinite(seen).sum() >= FEWEST and np.nanstd(seen) > 0 else 1
    if cycle in (1, recorded.season):
        return []
    given = f"beyond the season of {recorded.season:,} " if recorded.season > 1 else ""
    allowed = argument("season", cycle)
    return [Sentence(f"{given}totals follow a cycle of {cycle:,} steps; with {allowed} a fit allows for it")]
