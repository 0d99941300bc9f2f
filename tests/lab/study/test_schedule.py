"""Tasks of a study: one policy is compiled at a time, while the others are played."""

from afterglow.lab.study.play import Played
from afterglow.lab.study.schedule import Schedule
from afterglow.lab.study.study import Study

STUDY = Study(["ucb1", "trim-ucb", "leak-ucb"], [{"rewards": [0.9, 0.8], "window": [4, 8]}], 500, 10)


def test_while_one_policy_is_compiled_the_others_are_played() -> None:
    schedule = Schedule(STUDY.cells, [], budget=0.5)
    labels = [[piece.cell.label for piece in schedule.take(2)] for _ in range(2)]
    assert labels == [["ucb1"], ["ucb1"]]  # the halves of one cell: nothing else is known yet
    schedule.learn(Played(seconds=[(0, 5, 0.05), (0, 5, 0.05)]))
    assert [piece.cell.label for piece in schedule.take(2)] == ["trim-ucb"]
    assert [piece.cell.label for piece in schedule.take(2)] == ["ucb1", "ucb1"]


def test_every_run_is_taken_once() -> None:
    schedule = Schedule(STUDY.cells, [], budget=0.1)
    taken: list[tuple[int, int]] = []
    while schedule.waiting:
        pieces = schedule.take(2)
        taken += [(piece.cell.index, run) for piece in pieces for run in range(piece.first, piece.last)]
        schedule.learn(Played(seconds=[(piece.cell.index, piece.runs, 0.01 * piece.runs) for piece in pieces]))
    assert sorted(taken) == [(cell, run) for cell in range(6) for run in range(10)]
    assert schedule.done == schedule.total == 60
