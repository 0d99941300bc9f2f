"""The cells of a study: all combinations of its fields."""

import math
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

from afterglow.engine.rounds.simulate import first_settings
from afterglow.engine.simulate import log_marks, tier_for
from afterglow.errors import AfterglowWarning, BadValue
from afterglow.lab.study.mean_delay import with_lags
from afterglow.policies.registry import AnyPolicy, round_policy
from afterglow.policies.rounds import RoundPolicy
from afterglow.policies.season import seasonal
from afterglow.worlds.units_world import UnitsWorld
from afterglow.worlds.world import World

MOST_CELLS = 100_000


@dataclass(frozen=True)
class Entry:
    """A policy with its options and its label in tables and figures."""

    label: str
    policy: AnyPolicy
    options: Mapping[str, Any]
    runs: int | None = None  # in place of the study's


@dataclass(frozen=True)
class Cell:
    """All runs of one policy in one world."""

    index: int
    label: str
    policy: AnyPolicy = field(repr=False)
    options: dict[str, Any]
    world: World | UnitsWorld
    horizon: int
    told_window: int
    told_horizon: bool
    runs: int
    seed: int
    engine: str
    season: int
    marks: tuple[int, ...] = field(repr=False)

    @property
    def title(self) -> str:
        """A short description, for messages."""
        return f"{self.label}, {self.world.spread.text}, window {self.world.window:,}, {self.horizon:,} steps"

    def settings(self) -> dict[str, Any]:
        """The policy's settings; raises if it refuses them."""
        if isinstance(self.world, UnitsWorld):
            tier_for(self.engine, round_policy(self.policy), self.world.pulls)
            return first_settings(
                self.policy, self.world, self.horizon, self.seed, self.options, self.told_window, self.season
            )  # fmt: skip
        if isinstance(self.policy, RoundPolicy):
            sentence = f"{self.policy.name} decides for several units, this world has one; write units = 8 in the world"
            raise BadValue(sentence, kind="needs-units", field="worlds")
        horizon = self.horizon if self.told_horizon else None
        tier_for(self.engine, self.policy, self.world)
        policy = seasonal(self.policy, self.season)
        found: dict[str, Any] = asdict(policy.settings(self.world.arms, self.told_window, horizon, self.options))
        return found


def expanded(table: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A table once for each combination of the values that its lists hold.

    >>> list(expanded({"window": [4, 8], "spread": "last"}))
    [{'window': 4, 'spread': 'last'}, {'window': 8, 'spread': 'last'}]
    """
    values = [value if isinstance(value, list | tuple) else [value] for value in table.values()]
    refuse_many(math.prod(map(len, values)))
    for choice in product(*values):
        yield dict(zip(table, choice, strict=True))


def refuse_many(cells: int) -> None:
    """Refuse a grid that would take minutes to write down."""
    if cells > MOST_CELLS:
        sentence = f"a study must have at most {MOST_CELLS:,} cells, got {cells:,}; divide it into several"
        raise BadValue(sentence, kind="too-many-cells", field="worlds")


def given_window(window: int, asked: int | str | None) -> int:
    """The window given to the policy: the world's, a number of steps, or a multiple such as "x1/8".

    >>> given_window(16, None), given_window(16, 5), given_window(16, "x1/8"), given_window(16, "x2")
    (16, 5, 2, 32)
    """
    if asked is None or asked == "world":
        return window
    if isinstance(asked, int):
        return asked
    return max(1, round(window * Fraction(asked.removeprefix("x"))))


def marks_for(horizon: int, checkpoints: int | tuple[int, ...]) -> tuple[int, ...]:
    """The steps at which regret is recorded, the horizon last."""
    if isinstance(checkpoints, int):
        return tuple(log_marks(horizon, checkpoints))
    return (*(mark for mark in checkpoints if mark < horizon), horizon)


@dataclass(frozen=True)
class Grid:
    """The cells of a study, with messages about cells left out and warnings."""

    cells: list[Cell] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)  # what a policy refuses
    warned: list[str] = field(default_factory=list)  # what a policy plays but warns of

    def add(self, cell: Cell, leave_out: bool) -> None:
        """Add a cell if its policy accepts it."""
        try:
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always", AfterglowWarning)
                cell.options.update(with_lags(cell.policy, cell.options, cell.world))
                cell.settings()
        except BadValue as problem:
            if not leave_out:
                way_out = 'take it out of the study, or set refused = "leave out"'
                raise BadValue(f"{cell.title}: {problem}; {way_out}", kind=problem.kind, field="policies") from None
            self.left_out.append(f"{cell.title}: {problem}")
        else:
            self.cells.append(cell)
            self.warned.extend(f"{cell.title}: {one.message}" for one in said)


def grid_of(
    entries: list[Entry],
    worlds: list[World | UnitsWorld],
    axes: Mapping[str, Any],
    checkpoints: int | tuple[int, ...],
    leave_out: bool = False,
) -> Grid:
    """Every combination; `axes` are the study's own fields.

    Multiples of a short window can give the same window, and a policy's own number of runs replaces all that the study
    lists; these are one cell.
    """
    refuse_many(math.prod(map(len, axes.values())) * len(worlds) * len(entries))
    grid = Grid()
    had: set[Any] = set()
    for seed, world, horizon, asked, knows, engine, season, runs, entry in product(
        axes["seed"], worlds, axes["horizon"], axes["told_window"], axes["told_horizon"], axes["engine"],
        axes["season"], axes["runs"], entries,
    ):  # fmt: skip
        window = given_window(world.window, asked)
        place = (seed, id(world), horizon, window, knows, engine, season, entry.runs or runs, entry.label)
        if place not in had:
            had.add(place)
            cell = Cell(
                len(grid.cells), entry.label, entry.policy, dict(entry.options), world, horizon, window, knows,
                entry.runs or runs, seed, engine, season, marks_for(horizon, checkpoints),
            )  # fmt: skip
            grid.add(cell, leave_out)
    return grid
