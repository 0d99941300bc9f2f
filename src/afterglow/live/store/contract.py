"""The interface of stores. tests/contracts/test_stores.py checks every store against it.

A store keeps the log of each experiment, one row for each step, snapshots of the state, and for as long as they are
needed the digests by which a repeated reward is recognised. It knows nothing of policies.

- `reading` sees one consistent snapshot. `writing` and `creating` are exclusive: while one is open no other call
  appends to that experiment. Several `reporting` may be open at once, each of which adds salts and rewards only; no
  `writing` begins before they have ended. Changes are durable when they end, and undone if an exception ends them.
- Records are only ever appended, with seq 0, 1, 2, …; a step has one row, inserted when its variant is decided.
- A database may still lose records: a standby is promoted, a backup restored. `head` therefore has the hash of the last
  record, which identifies all records up to it. Inside `writing` and `reporting` it is final.
- After `forget` and the end of its transaction, `tidy` leaves no byte of the forgotten digests and salts, as far as
  the database allows.
- A database that can't be reached, is locked for too long or full is `Unavailable`. Nothing was acknowledged then, and
  the next call tries again. If the answer to a commit was lost, the commit may have taken effect.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from math import inf
from typing import NamedTuple, Protocol

from afterglow.errors import Unavailable
from afterglow.live.domain.log import Place, Record
from afterglow.live.domain.step_rows import StepRow, StepRun
from afterglow.live.store.access import Access
from afterglow.live.store.session import Session
from afterglow.live.store.steady_time import ClockReading


class Raced(Exception):
    """Another process has stored the same digest: the transaction has to begin again."""


class Busy(Unavailable):
    """Another process, or another thread, has the lock of an experiment; the others can be used."""


KeptReward = tuple[bytes, int, int]  # digest of its key, amount in micro-units, series


class Span(NamedTuple):
    """Steps whose reward keys are digested with the same salt, and forgotten together."""

    number: int
    salt: bytes
    first: int  # step; keys of steps before it are in earlier spans
    began: int  # milliseconds since 1970


class Snapshot(NamedTuple):
    seq: int  # of the last record in it
    step: int  # the current step then
    state: str
    check: bytes


class Reading(Protocol):
    """One experiment at one moment."""

    def head(self) -> Place:
        """The place of the last record."""

    def last_before(self, at: int) -> int:
        """Seq of the last record that is older than a time in milliseconds; -1 if there is none."""

    def records(self, after: int = -1, count: int | None = None, kind: str | None = None) -> Iterator[Record]:
        """Records with seq > after, in order; of one kind if it is named."""

    def steps(self, first: int = 0, count: int | None = None) -> Iterator[StepRow]:
        """Rows of steps from `first` on, in order."""

    def step_runs(self, first: int = 0, count: int | None = None) -> Iterator[StepRun]:
        """The same, with missed steps as they are stored: one row for all. A week away may be 600 million steps."""

    def snapshot(self, step: int | None = None) -> Snapshot | None:
        """The last snapshot; the last one of at most a step."""

    def snapshots(self) -> Iterator[Snapshot]:
        """All snapshots, in order."""

    def reported(self, step: int) -> dict[int, tuple[int, int]]:
        """How many rewards each series of a step has, if any, and their sum, which may need more than 64 bits."""

    def spans(self) -> list[Span]:
        """The spans whose keys are not forgotten, oldest first; rewards are added to the last."""

    def amounts(self, span: int, digests: Collection[bytes]) -> dict[bytes, tuple[int, int]]:
        """Amount and series reported under these digests in a span, where there are such."""

    def recounted(self) -> dict[int, dict[int, tuple[int, int]]]:
        """The same as `reported`, added up reward by reward, of all steps whose keys are not forgotten."""


class Writing(Reading, Protocol):
    """The same, alone, with what may be changed."""

    def append(self, records: Iterable[Record]) -> None:
        """Add records to the log."""

    def put_steps(self, rows: Iterable[StepRow]) -> None:
        """Insert rows of steps."""

    def repeat_step(self, row: StepRow, count: int) -> None:
        """Insert a row that stands for so many steps, from its own on; there may be millions."""

    def end_step(self, step: int, total: int, role: str, void: int, series: str | None = None) -> None:
        """Fill in the row of a step that has ended."""

    def put_series(self, series: Iterable[tuple[int, str]]) -> None:
        """Replace what rows of steps have of each series, by step."""

    def void_steps(self, first: int, last: int) -> None:
        """Mark the rows of steps as void."""

    def spoil_step(self, step: int, served: int, role: str) -> None:
        """Give the row of the current step another variant, and mark it as void."""

    def put_snapshot(self, snapshot: Snapshot) -> None:
        """Keep a snapshot."""

    def put_span(self, span: Span) -> None:
        """Begin a span, unless there is one of its number."""

    def put_rewards(self, span: int, step: int, rewards: Sequence[KeptReward]) -> None:
        """Keep new rewards and add them up by series; Raced if one is there already."""

    def forget(self, before: int) -> bool:
        """Erase digests and salts of all spans before this one; whether there were any."""

    def drop_sums(self, before: int) -> None:
        """Erase what was added up for steps before this one: their totals are in the log."""


class Store(Access, Protocol):
    """All experiments of a database."""

    address: str  # to be shown: without a password
    alone: bool  # no other process can write while this store is open
    read_only: bool

    def now(self) -> float:
        """Seconds since 1970, by the clock of the store."""

    def read_clock(self) -> ClockReading:
        """A reading of that clock, which may be as old as the last transaction."""

    def names(self) -> list[str]:
        """The experiments, oldest first."""

    def heads(self) -> dict[str, Place]:
        """The place of every experiment's last record."""

    def forget_numbers(self) -> None:
        """Look experiments up again: the database is another one than before."""

    def creating(self, name: str) -> AbstractContextManager[Writing]:
        """A new experiment; Conflict if there is one of that name."""

    def reading(self, name: str) -> AbstractContextManager[Reading]:
        """UnknownName if there is none."""

    def apart(self) -> AbstractContextManager[Session]:
        """A transaction to read, for what takes long: no call but others of its kind waits for it.

        With PostgreSQL at most eight go on at once; `Unavailable` if one of them doesn't end in ten seconds.
        """

    def aside(self, name: str) -> AbstractContextManager[Reading]:
        """The same as `reading`, for what takes long: as `apart`."""

    def writing(self, name: str, patience: float = inf) -> AbstractContextManager[Writing]:
        """UnknownName if there is none; `Busy` if another process has its lock for longer than `patience` seconds.

        A file has one lock, for all experiments: whoever waits for it waits for the database.
        """

    def reporting(self, name: str) -> AbstractContextManager[Writing]:
        """UnknownName if there is none."""

    def damage(self) -> list[str]:
        """Damaged pages by table, as far as this process can tell; none if there are none."""

    def tidy(self) -> bool:
        """Remove all traces of what was forgotten; False if that has to wait for a reader."""
