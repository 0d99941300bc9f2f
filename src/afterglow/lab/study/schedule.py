"""Schedule of the remaining runs, in tasks of about equal duration."""

import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace

from afterglow.lab.study.grid import Cell
from afterglow.lab.study.journal import Stretch
from afterglow.lab.study.play import Piece, Played

MOST = 200  # pieces in a task


@dataclass(frozen=True)
class Progress:
    """How far a study is."""

    done: int  # runs, including those of earlier calls
    total: int
    rate: float  # runs per second in this call
    left: float | None  # estimated seconds left
    cell: str  # the current cell


def line_of(cell: Cell) -> object:
    """What decides how long a run takes, apart from the world."""
    return cell.label, cell.horizon


class Pace:
    """Seconds per run: of the cell, else of its policy at its horizon, else of all cells."""

    def __init__(self) -> None:
        self.sums: dict[object, tuple[int, float]] = {}

    def learn(self, cell: Cell, runs: int, seconds: float) -> None:
        for key in (cell.index, line_of(cell), None):
            before = self.sums.get(key, (0, 0.0))
            self.sums[key] = (before[0] + runs, before[1] + seconds)

    def of(self, cell: Cell, guess: bool = False) -> float | None:
        """Seconds per run of this cell; with `guess`, also from others."""
        keys = (cell.index, line_of(cell), None) if guess else (cell.index, line_of(cell))
        for key in keys:
            if key in self.sums:
                runs, seconds = self.sums[key]
                return seconds / runs
        return None


class Schedule:
    """The remaining pieces, and the progress of the study."""

    def __init__(self, cells: list[Cell], stretches: Iterable[Stretch], budget: float) -> None:
        self.cells = {cell.index: cell for cell in cells}
        self.budget, self.pace = budget, Pace()
        self.waiting = deque(missing(cells, stretches))
        self.trying: set[object] = set()  # policies and horizons that are played for the first time
        self.total = sum(cell.runs for cell in cells)
        self.left = {piece.cell.index: 0 for piece in self.waiting}
        for piece in self.waiting:
            self.left[piece.cell.index] += piece.runs
        self.before = self.done = self.total - sum(self.left.values())
        self.began = time.monotonic()

    def take(self, size: int) -> list[Piece]:
        """The next of `size` simultaneous tasks: about `budget` seconds of work.

        A piece of unknown pace is a task of its own. Its policy may have to be compiled, which only one thread can do
        at a time: until it was played once, the other workers take pieces of known pace, if there are any.
        """
        found: list[Piece] = []
        expected = 0.0
        while self.waiting and expected < self.budget and len(found) < MOST:
            piece = self.next_piece(bool(found))
            if piece is None:
                break
            pace = self.pace.of(piece.cell)
            if pace is None:
                count = -(-piece.runs // size)
                self.trying.add(line_of(piece.cell))
            else:
                count = min(piece.runs, max(1, int((self.budget - expected) / max(pace, 1e-9))))
            now, rest = replace(piece, pace=pace).cut(count)
            if rest.runs:
                self.waiting.appendleft(rest)
            found.append(now)
            expected += self.budget if pace is None else pace * count
        return found

    def next_piece(self, more: bool) -> Piece | None:
        """The next piece of unknown pace; of known pace while another is tried for the first time, or to add `more`."""
        known = more or bool(self.trying)
        for place, piece in enumerate(self.waiting):
            if (self.pace.of(piece.cell) is not None) == known:
                del self.waiting[place]
                return piece
        return None if more else self.waiting.popleft()

    def put_back(self, pieces: Iterable[Piece]) -> None:
        """Put pieces back at the front of the queue."""
        self.waiting.extendleft(reversed(list(pieces)))

    def learn(self, played: Played) -> None:
        """Count the results of a task, and queue what it left."""
        for index, runs, seconds in played.seconds:
            self.pace.learn(self.cells[index], runs, seconds)
            self.trying.discard(line_of(self.cells[index]))
            self.left[index] -= runs
            self.done += runs
        self.put_back(Piece(self.cells[index], first, last) for index, first, last in played.left)

    def progress(self, size: int, cell: str) -> Progress:
        passed = time.monotonic() - self.began
        known = [(self.pace.of(self.cells[index], guess=True), runs) for index, runs in self.left.items() if runs]
        left = sum(pace * runs for pace, runs in known if pace is not None) / size if self.pace.sums else None
        return Progress(self.done, self.total, (self.done - self.before) / max(passed, 1e-9), left, cell)


def missing(cells: list[Cell], stretches: Iterable[Stretch]) -> list[Piece]:
    """The runs that the journal doesn't have, in the order of the cells."""
    had: dict[int, list[Stretch]] = {}
    for stretch in stretches:
        had.setdefault(stretch.cell, []).append(stretch)
    found = []
    for cell in cells:
        at = 0
        for stretch in sorted(had.get(cell.index, []), key=lambda one: one.first):
            if stretch.first > at:
                found.append(Piece(cell, at, stretch.first))
            at = stretch.last
        if at < cell.runs:
            found.append(Piece(cell, at, cell.runs))
    return found
