"""One task of a study: simulate ranges of runs until its time is up."""

import pickle
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from afterglow.engine.simulate import simulate
from afterglow.errors import BadValue
from afterglow.lab.study.grid import Cell
from afterglow.lab.study.identity import differences
from afterglow.lab.study.tables import batch_of
from afterglow.lab.versions import versions


class Stopped(Exception):
    """The study was stopped; unfinished runs are discarded."""


@dataclass(frozen=True)
class Piece:
    """Runs first … last - 1 of a cell that remain."""

    cell: Cell
    first: int
    last: int
    pace: float | None = None  # expected seconds per run

    @property
    def runs(self) -> int:
        return self.last - self.first

    def cut(self, runs: int) -> "tuple[Piece, Piece]":
        """The first `runs` of it, and the rest."""
        middle = self.first + runs
        return replace(self, last=middle), replace(self, first=middle)


@dataclass(frozen=True)
class Played:
    """The results of a task."""

    batches: list[Any] = field(default_factory=list)
    left: list[tuple[int, int, int]] = field(
        default_factory=list
    )  # cell, first, last: what the time didn't suffice for
    seconds: list[tuple[int, int, float]] = field(default_factory=list)  # cell, runs, how long they took


def play(pieces: list[Piece], budget: float, stopped: Callable[[], bool] | None = None) -> Played:
    """Simulate the pieces in order for about `budget` seconds, at least one run."""
    found, began = Played(), time.perf_counter()
    for piece in pieces:
        rest = piece
        while rest.runs:
            spare = budget - (time.perf_counter() - began)
            if spare <= 0 and found.batches:
                break
            count = 1 if rest.pace is None else int(min(rest.runs, max(1.0, spare / max(rest.pace, 1e-9))))
            now, rest = rest.cut(count)
            outcome = played(now, stopped)
            found.batches.append(batch_of(now.cell, outcome))
            found.seconds.append((now.cell.index, count, outcome.seconds))
            rest = replace(rest, pace=outcome.seconds / count)
        if rest.runs:
            found.left.append((rest.cell.index, rest.first, rest.last))
    return found


def played(piece: Piece, stopped: Callable[[], bool] | None) -> Any:
    """The outcome of a piece, on this thread alone."""
    cell = piece.cell

    def look(_: int) -> None:
        if stopped is not None and stopped():
            raise Stopped

    return simulate(
        cell.policy, cell.world, cell.horizon, piece.runs, cell.seed, cell.options, cell.engine, threads=1,
        checkpoints=cell.marks, first=piece.first, recommend=True, told_window=cell.told_window,
        told_horizon=cell.told_horizon, season=cell.season, progress=look,
    )  # fmt: skip


# On another machine


def play_on_worker(pieces: list[Piece], budget: float, expected: dict[str, str]) -> Played:
    """The same on a Dask worker, which must have the same versions to get the same numbers."""
    for name, here, there in differences(expected, versions()):
        sentence = f"a worker has {name} {there}, this machine {here}; numbers would differ, install the same"
        raise BadValue(sentence, kind="other-versions", field="dask")
    return play([replace(piece, cell=unpacked_cell(piece.cell)) for piece in pieces], budget)


def unpacked_cell(cell: Cell) -> Cell:
    """A cell after unpickling; the same bytes give the same policy object, compiled once."""
    return replace(cell, policy=unpacked(cell.policy), world=unpacked(cell.world))


def unpacked(thing: Any) -> Any:
    return loaded(thing) if isinstance(thing, bytes) else thing


@cache
def loaded(packed_cell: bytes) -> Any:
    return pickle.loads(packed_cell)
