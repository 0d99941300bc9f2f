"""Batches of washed totals, kept in a stream, are those that the whole history gives."""

import json
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterglow.estimation.batch_means import LENGTHS, Batches, Washed
from afterglow.estimation.bounds import Bounds
from afterglow.live.domain.bounds import ExperimentBounds

ARMS = 3
Entry = float | None  # a total, None if it is void


class Run(NamedTuple):
    arm: int
    entries: list[Entry]
    settled: int  # steps that are final before others are taken back
    taken_back: frozenset[int]
    interrupted: bool  # behind its end


TOTALS = st.one_of(st.none(), st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
RUNS = st.builds(
    Run,
    st.integers(0, ARMS - 1),
    st.lists(TOTALS, min_size=1, max_size=40),
    st.integers(0, 40),
    st.frozensets(st.integers(0, 39), max_size=4),
    st.booleans(),
)


def kept(run: Run) -> list[Entry]:
    """What is left of a run."""
    return [None if i in run.taken_back and i >= run.settled else entry for i, entry in enumerate(run.entries)]


def joined(runs: list[Run]) -> list[tuple[int, list[Entry]]]:
    """Runs of one arm that follow each other without an interruption are one."""
    whole = list[tuple[int, list[Entry]]]()
    for before, run in zip([None, *runs], runs, strict=False):
        if before is not None and before.arm == run.arm and not before.interrupted:
            whole[-1][1].extend(kept(run))
        else:
            whole.append((run.arm, kept(run)))
    return whole


def seasons(entries: list[Entry], season: int) -> list[float]:
    """Sums of whole seasons without a void step."""
    sums, now = list[float](), list[float]()
    for entry in entries:
        now = [] if entry is None else [*now, entry]
        if len(now) == season:
            sums, now = [*sums, sum(now)], []
    return sums


def recomputed(runs: list[Run], window: int, season: int) -> list[Washed]:
    """The same from the whole history, in the plainest way."""
    size = -(-window // season)  # seasons in a batch
    found = [Washed() for _ in range(ARMS)]
    means: list[list[list[float]]] = [[[] for _ in range(LENGTHS)] for _ in range(ARMS)]
    for arm, entries in joined(runs):
        sums = seasons(entries[window - 1 :], season)
        found[arm].steps += season * len(sums)
        found[arm].total += sum(sums)
        for length in range(LENGTHS):
            long = size << length
            full = [sums[i : i + long] for i in range(0, len(sums) - long + 1, long)]
            means[arm][length] += [sum(batch) / (season * long) for batch in full]
    for arm, length in ((arm, length) for arm in range(ARMS) for length in range(LENGTHS)):
        batch_means = means[arm][length]
        if batch_means:
            centre = sum(batch_means) / len(batch_means)
            found[arm].counts[length] = len(batch_means)
            found[arm].means[length] = centre
            found[arm].scatters[length] = sum((mean - centre) ** 2 for mean in batch_means)
    return found


def same(streamed: list[Washed], plain: list[Washed]) -> bool:
    return all(
        (one.steps, one.counts) == (other.steps, other.counts)
        and one.total == pytest.approx(other.total, abs=1e-9)
        and one.means == pytest.approx(other.means, abs=1e-9)
        and one.scatters == pytest.approx(other.scatters, abs=1e-9)
        for one, other in zip(streamed, plain, strict=True)
    )


def play(books: ExperimentBounds, run: Run) -> None:
    for step, entry in enumerate(run.entries, start=1):
        if entry is None:
            books.lose(run.arm)
        else:
            books.record(run.arm, entry)
        if step == run.settled:
            books.settle()
    for place in sorted(run.taken_back):
        if run.settled <= place < len(run.entries) and run.entries[place] is not None:
            books.retract(run.entries[place] or 0.0, len(run.entries) - place)
    if run.interrupted:
        books.interrupt()


@given(st.lists(RUNS, max_size=8), st.integers(1, 6), st.integers(1, 5))
def test_streamed_batches_are_those_of_the_whole_history(runs: list[Run], window: int, season: int) -> None:
    """Void steps are left out, whenever they became so, and what an interruption has cut."""
    books = ExperimentBounds(ARMS, window, 0.95, season)
    for run in runs:
        play(books, run)
        again = ExperimentBounds(ARMS, window, 0.95, season)
        again.restore(json.loads(json.dumps(books.values())))
        assert again.counted().values() == books.counted().values()
        books = again
    if not any(run.interrupted for run in runs[-1:]):
        books.interrupt()  # takes what can still be taken back as final
    assert same(books.batches.arms, recomputed(runs, window, season))


def test_a_ledger_without_gaps_keeps_the_same_batches() -> None:
    ledger, books = Bounds(2, 4, 0.95, 3), ExperimentBounds(2, 4, 0.95, 3)
    for step in range(400):
        for one in (ledger, books):
            one.record(step // 50 % 2, (step * 7 % 11) / 11)
    assert books.counted().values() == ledger.counted().values()
    assert ledger.batches.size == 6


def test_a_cycle_adds_the_same_to_all_arms() -> None:
    batches, cycle = Batches(2, 3, season=5), [0.0, 0.1, 0.4, 0.3, 0.2]
    for step in range(200):
        if step % 33 == 0:
            batches.end()
        batches.add(step // 33 % 2, cycle[step % 5] + 0.5)
    for washed in batches.arms:
        assert washed.total / washed.steps == pytest.approx(0.7)
        assert washed.scatters == pytest.approx([0.0] * LENGTHS, abs=1e-12)


def test_a_scatter_that_is_small_beside_the_mean_is_not_lost() -> None:
    """Squares of totals would have eaten it up."""
    batches = Batches(1, 1)
    for step in range(2_000):
        batches.add(0, 1e6 + 1e-4 * (step % 2))
    assert batches.arms[0].scatters[0] == pytest.approx(2_000 * 0.25e-8, rel=1e-3)
