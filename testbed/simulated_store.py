"""A store of experiments in memory, in which one seed decides what goes wrong at the end of every transaction.

It keeps every version of its data, so that it can be rewound as a restored backup or a promoted standby is.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from math import inf
from random import Random
from typing import Any

from afterglow.errors import Conflict, Unavailable, UnknownName
from afterglow.live.domain.log import BEGINNING, Place, Record
from afterglow.live.domain.step_rows import StepRow, StepRun
from afterglow.live.store.access import HookRow
from afterglow.live.store.contract import KeptReward, Raced, Snapshot, Span
from afterglow.live.store.steady_time import ClockReading

BEGAN = 1_000_000.0  # seconds since 1970


class Crash(BaseException):
    """The process ends here: at the beginning of a transaction, before its commit, or after it."""


class Tables:
    """One experiment; a transaction works on a copy."""

    def __init__(self) -> None:
        self.log: list[Record] = []
        self.rows: dict[int, tuple[StepRow, int]] = {}  # and the last step that it stands for
        self.kept: list[Snapshot] = []
        self.salts: list[Span] = []
        self.digests: dict[tuple[int, bytes], tuple[int, int, int]] = {}  # step, amount, series
        self.sums: dict[int, dict[int, tuple[int, int]]] = {}  # by step and series

    def copied(self) -> "Tables":
        made = copy(self)
        made.log, made.rows, made.kept = self.log[:], self.rows.copy(), self.kept[:]
        made.salts, made.digests, made.sums = self.salts[:], self.digests.copy(), self.sums.copy()
        return made

    def take_over(self, other: "Tables") -> None:
        """Have what other tables have."""
        vars(self).update(vars(other.copied()))

    # Reading

    def head(self) -> Place:
        last = self.log[-1] if self.log else None
        return BEGINNING if last is None else Place(last.seq, last.at, last.hash)

    def last_before(self, at: int) -> int:
        return max((one.seq for one in self.log if one.at < at), default=-1)

    def records(self, after: int = -1, count: int | None = None, kind: str | None = None) -> Iterator[Record]:
        found = [one for one in self.log[after + 1 :] if kind is None or one.kind == kind]
        return iter(found if count is None else found[:count])

    def steps(self, first: int = 0, count: int | None = None) -> Iterator[StepRow]:
        found = [
            row._replace(step=step)
            for row, last in self.rows.values()
            for step in range(max(row.step, first), last + 1)
        ]
        return iter(found if count is None else found[:count])

    def step_runs(self, first: int = 0, count: int | None = None) -> Iterator[StepRun]:
        end = max((last for _, last in self.rows.values()), default=-1) if count is None else first + count - 1
        for row, last in sorted(self.rows.values(), key=lambda one: one[0].step):
            begin, final = max(row.step, first), min(last, end)
            if begin <= final:
                yield StepRun(row._replace(step=begin), final)

    def snapshot(self, step: int | None = None) -> Snapshot | None:
        return next((one for one in reversed(self.kept) if step is None or one.step <= step), None)

    def snapshots(self) -> Iterator[Snapshot]:
        return iter(self.kept)

    def reported(self, step: int) -> dict[int, tuple[int, int]]:
        return self.sums.get(step, {})

    def recounted(self) -> dict[int, dict[int, tuple[int, int]]]:
        found = dict[int, dict[int, tuple[int, int]]]()
        for step, amount, series in self.digests.values():
            add(found, step, series, amount)
        return found

    def spans(self) -> list[Span]:
        return self.salts[:]

    def amounts(self, span: int, digests: Collection[bytes]) -> dict[bytes, tuple[int, int]]:
        return {one: self.digests[span, one][1:] for one in digests if (span, one) in self.digests}

    # Writing

    def append(self, records: Iterable[Record]) -> None:
        for one in records:
            assert one.seq == len(self.log), "a record behind a gap, or in the place of another"
            self.log.append(one)

    def put_steps(self, rows: Iterable[StepRow]) -> None:
        for row in rows:
            self.repeat_step(row, 1)

    def repeat_step(self, row: StepRow, count: int) -> None:
        assert row.step not in self.rows, "a second row of a step"
        self.rows[row.step] = (row, row.step + count - 1)

    def end_step(self, step: int, total: int, role: str, void: int, series: str | None = None) -> None:
        row, last = self.rows[step]
        self.rows[step] = (row._replace(total=total, role=role, void=int(void), series=series), last)

    def put_series(self, series: Iterable[tuple[int, str]]) -> None:
        for step, text in series:
            row, last = self.rows[step]
            self.rows[step] = (row._replace(series=text), last)

    def void_steps(self, first: int, last: int) -> None:
        for step in range(first, last + 1):
            if step in self.rows:
                row, end = self.rows[step]
                self.rows[step] = (row._replace(void=1), end)

    def put_snapshot(self, snapshot: Snapshot) -> None:
        self.kept.append(snapshot)

    def put_span(self, span: Span) -> None:
        if all(one.number != span.number for one in self.salts):
            self.salts.append(span)

    def put_rewards(self, span: int, step: int, rewards: Sequence[KeptReward]) -> None:
        for digest, amount, series in rewards:
            if (span, digest) in self.digests:
                raise Raced("a digest was there already")
            self.digests[span, digest] = (step, amount, series)
            self.sums[step] = self.sums.get(step, {}).copy()  # an earlier version has the old one
            add(self.sums, step, series, amount)

    def forget(self, before: int) -> bool:
        old = len(self.salts)
        self.salts = [one for one in self.salts if one.number >= before]
        self.digests = {key: value for key, value in self.digests.items() if key[0] >= before}
        return len(self.salts) < old

    def drop_sums(self, before: int) -> None:
        self.sums = {step: value for step, value in self.sums.items() if step >= before}


def add(sums: dict[int, dict[int, tuple[int, int]]], step: int, series: int, amount: int) -> None:
    of_step = sums.setdefault(step, {})
    count, total = of_step.get(series, (0, 0))
    of_step[series] = (count + 1, total + amount)


class Database:
    """What all processes share: every version of the data, and a clock."""

    def __init__(self, random: Random, faults: float) -> None:
        self.random = random
        self.faults = faults  # probability that something goes wrong in a transaction
        self.versions: list[dict[str, Tables]] = [{}]
        self.places: list[dict[tuple[str, str], Place]] = [{}]  # of webhooks, in each version
        self.hooks: list[HookRow] = []
        self.ids = [0]  # of the versions; never used again after a rewind
        self.last_id = 0
        self.time = BEGAN
        self.elapsed = 0.0  # the monotonic clock

    @property
    def data(self) -> dict[str, Tables]:
        return self.versions[-1]

    def commit(self, data: dict[str, Tables], places: dict[tuple[str, str], Place] | None = None) -> int:
        self.last_id += 1
        self.versions.append(data)
        self.places.append(self.places[-1] if places is None else places)
        self.ids.append(self.last_id)
        return self.last_id

    def rewind(self, place: int) -> None:
        """Lose all versions after one of them."""
        del self.versions[place + 1 :]
        del self.places[place + 1 :]
        del self.ids[place + 1 :]


class SimulatedStore:
    """One process's view of the database."""

    alone = read_only = False
    address = "simulated"

    def __init__(self, base: Database) -> None:
        self.base = base
        self.committed = -1  # the version of the last transaction

    def now(self) -> float:
        return self.base.time

    def read_clock(self) -> ClockReading:
        return ClockReading(self.base.time, self.base.elapsed, self.base.elapsed)

    def names(self) -> list[str]:
        return list(self.base.data)

    def heads(self) -> dict[str, Place]:
        return {name: tables.head() for name, tables in self.base.data.items()}

    def hook_places(self) -> dict[tuple[str, str], Place]:
        self.go_wrong(0)
        return dict(self.base.places[-1])

    def put_hook_places(self, places: Mapping[tuple[str, str], Place]) -> None:
        self.go_wrong(0)
        self.committed = self.base.commit(self.base.data, {**self.base.places[-1], **places})
        self.go_wrong(2)

    def hooks(self) -> list[HookRow]:
        return self.base.hooks

    def forget_numbers(self) -> None: ...

    def damage(self) -> list[str]:
        return []

    def tidy(self) -> bool:
        return True

    def close(self) -> None: ...

    @contextmanager
    def creating(self, name: str) -> Iterator[Tables]:
        if name in self.base.data:
            raise Conflict("taken", kind="name-taken")
        with self.change(name, Tables()) as tables:
            yield tables

    @contextmanager
    def reading(self, name: str) -> Iterator[Tables]:
        self.go_wrong(0)
        yield self.found(name)

    aside = reading

    @contextmanager
    def writing(self, name: str, patience: float = inf) -> Iterator[Tables]:
        with self.change(name, self.found(name).copied()) as tables:
            yield tables

    reporting = writing

    def found(self, name: str) -> Tables:
        if name not in self.base.data:
            raise UnknownName("experiment", name, [])
        return self.base.data[name]

    @contextmanager
    def change(self, name: str, tables: Tables) -> Iterator[Tables]:
        self.go_wrong(0)
        yield tables
        self.go_wrong(1)  # before the commit
        self.committed = self.base.commit({**self.base.data, name: tables})
        self.go_wrong(2)  # the commit is durable, and its reply is lost

    def go_wrong(self, when: int) -> None:
        random = self.base.random
        if random.random() < self.base.faults:
            wrong: list[Callable[[], BaseException]] = [Crash, lambda: Unavailable(f"lost at {when}")]
            raise random.choice(wrong)()

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"the simulation has no {name}")
