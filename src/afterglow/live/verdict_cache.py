"""Verdicts and readings of guards: computed once for each state of a log, outside the lock of the experiment."""

from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import NamedTuple

from afterglow.estimation.verdict import Verdict, Versus
from afterglow.live.domain.guards.stops import GuardStatus
from afterglow.live.domain.rules import AnyCase

Mark = tuple[int, bytes]  # seq and hash of the last record


class Known(NamedTuple):
    mark: Mark
    verdict: Verdict
    at: float  # by the monotonic clock
    lifts: tuple[Versus, ...] | None = None


class KnownGuards(NamedTuple):
    mark: Mark
    read: tuple[GuardStatus, ...]
    at: float


class VerdictCache:
    """Rewards and the current variant never wait for a verdict: only those who ask for one do."""

    def __init__(self) -> None:
        self.turn = Lock()
        self.known: Known | None = None
        self.guards_turn = Lock()
        self.known_guards: KnownGuards | None = None

    def verdict(self, mark: Mark, case: AnyCase) -> Verdict:
        """The verdict on the state after a record."""
        known = self.known
        if known is not None and known.mark == mark:
            return known.verdict
        with self.turn:
            known = self.known
            if known is None or known.mark != mark:
                known = Known(mark, case.verdict(), monotonic())
                self.known = known
            return known.verdict

    def judge(self, mark: Mark, recent: float = 0.0) -> Callable[[AnyCase], Verdict]:
        """A function that makes the verdict on the state after a record; one of the last `recent` seconds may do."""

        def made(case: AnyCase) -> Verdict:
            known = self.known
            if known is not None and known.verdict.over == case.over and monotonic() - known.at < recent:
                return known.verdict
            return self.verdict(mark, case)

        return made

    def watch(
        self, mark: Mark, read: Callable[[], tuple[GuardStatus, ...]], recent: float = 0.0
    ) -> Callable[[], tuple[GuardStatus, ...]]:
        """A function that reads the guards after a record; readings of the last `recent` seconds may do.

        It takes milliseconds for each guard and variant, of which there may be four hundred.
        """

        def made() -> tuple[GuardStatus, ...]:
            with self.guards_turn:
                known = self.known_guards
                if known is None or (known.mark != mark and monotonic() - known.at >= recent):
                    known = self.known_guards = KnownGuards(mark, read(), monotonic())
                return known.read

        return made

    def has(self, mark: Mark) -> bool:
        """Whether the verdict on the state after a record is known."""
        known = self.known
        return known is not None and known.mark == mark

    def lifts(self, mark: Mark, case: AnyCase) -> tuple[Versus, ...]:
        """The difference of every variant to the control."""
        known = self.known
        if known is not None and known.mark == mark and known.lifts is not None:
            return known.lifts
        found = self.verdict(mark, case)
        with self.turn:
            made = case.lifts()
            self.known = Known(mark, found, monotonic(), made)
            return made
