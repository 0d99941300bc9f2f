"""Verdicts of the past: how likely each variant seemed to be the best, at some steps from the start until now.

Nothing of it is stored. The state at an earlier step is a snapshot, or is replayed from one, and is judged as it was
then: a step that was voided later still counts in the points before that. `BUDGET` limits the replay, so a log of a
million steps takes about a second: its points are the steps of snapshots.
"""

from collections.abc import Iterator
from typing import NamedTuple

from afterglow.estimation.verdict import Gained, Verdict
from afterglow.live.domain.log import Record
from afterglow.live.domain.rules import rules_of
from afterglow.live.domain.state import WAITING
from afterglow.live.domain.versions import computed_now
from afterglow.live.follower import Follower
from afterglow.live.store.contract import Reading, Store

POINTS = 60
BUDGET = 6_000  # records that are replayed in all
BATCH = 500  # records read at once
FEW = 12  # variants; with more there are fewer points, as each takes longer


class VerdictPoint(NamedTuple):
    """What was known when a step began."""

    step: int
    grade: str
    recommended: str | None
    chances: dict[str, float]  # empty while the noise was unknown
    gained: Gained | None = None  # against having kept the control


def history(store: Store, name: str, now: int, count: int = POINTS) -> list[VerdictPoint]:
    """Up to `count` points at about equal distances, the last before step `now`."""
    past = Follower(name)
    with store.reading(name) as log:
        past.begin(log, 0)
    count = max(2, count * FEW // max(FEW, len(past.spec.variants)))
    left, points = BUDGET, list[VerdictPoint]()
    for place in range(1, count):
        wanted = now * place // count
        if wanted <= past.state.step:
            continue
        with store.reading(name) as log:
            jump(past, log, wanted)
        left -= replay(past, store, wanted, min(left, BUDGET))
        state = past.state
        if state.phase not in WAITING and state.step > (points[-1].step if points else 0):
            points.append(point(past))
    return points


def point(past: Follower) -> VerdictPoint:
    found: Verdict = rules_of(past.spec).case_of(past.spec, past.state).verdict()
    best = None if found.recommended is None else str(found.recommended)
    chances = {str(arm): one for arm, one in found.chances.items()}
    return VerdictPoint(past.state.step, found.grade, best, chances, found.gained)


def jump(past: Follower, log: Reading, step: int) -> None:
    """Go on with the last snapshot of at most a step, if that is further and of this version."""
    snapshot = log.snapshot(step)
    if snapshot is None or snapshot.seq <= past.seq or not computed_now(snapshot.state):
        return
    record = next(log.records(snapshot.seq - 1, 1), None)
    if record is not None:
        past.restore(snapshot.state)
        past.seq, past.hash, past.latest = record.seq, record.hash, record.at


def replay(past: Follower, store: Store, step: int, most: int) -> int:
    """Replay records until a step, at most so many; how many they were. Beyond that the state stays where it is."""
    done = 0
    for record in batches(past, store):
        if done >= most or past.state.step >= step:
            break
        past.take(record)
        done += 1
    return done


def batches(past: Follower, store: Store) -> Iterator[Record]:
    """The records that follow, read in short transactions."""
    while True:
        with store.reading(past.name) as log:
            found = list(log.records(past.seq, BATCH))
        yield from found
        if len(found) < BATCH:
            return
