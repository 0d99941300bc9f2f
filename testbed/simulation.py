"""A whole life of an experiment on a simulated clock, scheduler and store, decided by one seed.

Two processes use one database: they serve, report, close steps, give commands and follow the log. The seed decides who
does what next, and what goes wrong: transactions that fail before or after their commit, processes that are killed at
every boundary of a transaction, clocks that jump, databases that lose their last versions, receivers of webhooks whose
answers are lost. Reward writer, ticker and deliveries are the service's own: see `simulated_service`.

    Life(seed).run()        # raises AssertionError if a promise is broken

Every reward is another power of two, so the total of a step says which rewards were counted in it, and how often. Every
third one belongs to a metric that a guard watches.
"""

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from functools import cache
from random import Random
from typing import Any, NamedTuple, cast

from afterglow.errors import Conflict, OutOfTurn, Unavailable
from afterglow.live import Experiment, Experiments, Receipt, cached_state, experiments, schedule
from afterglow.live.domain.log import read_body
from afterglow.live.domain.step_rows import StepRow, totals_in
from afterglow.live.store.access import Access
from afterglow.live.store.contract import Store
from afterglow.live.verify import verify
from afterglow.service.background.reward_writer import Batch
from testbed.simulated_service import HOOK, Receiver, SimulatedService
from testbed.simulated_store import BEGAN, Crash, Database, SimulatedStore, Tables

NAME = "e"
PROCESSES = 2
MOMENTS = 30  # things that happen
REWARDS = 40
MICRO = Decimal(1_000_000)
SET_RIGHT = 0.6  # probability that a clock which has jumped is set right after the next call
LONG_AWAY = 0.3  # probability that nothing is sent again for hours in the end
DELIVERIES = 60  # rounds in the end at most, of which most succeed
FAULTS = 0.06  # of a transaction, at each of its boundaries
STEP = 100.0  # seconds
METRIC = "complaints"
ASKED: dict[str, Any] = {
    "variants": ["a", "b"], "window": 1, "reward_max": 1e12, "policy": "ucb1", "step_seconds": STEP,
    "guards": {METRIC: {"at_most": "+10%"}},
}  # fmt: skip
UNITS = ["x", "y", "z"]
WITH_UNITS: dict[str, Any] = {
    "variants": ["a", "b"], "window": 2, "horizon": 100_000, "units": UNITS, "step_seconds": STEP,
}  # fmt: skip


class Acknowledged(NamedTuple):
    version: int  # of the database, which has it
    step: int | None  # None if it had been counted before


class Seen(NamedTuple):
    mark: bytes  # hash of the last record that the process had; a rewound database may have lost it
    step: int
    variant: str
    unit: str | None


class Process:
    """One replica, until it is killed."""

    def __init__(self, base: Database, receiver: Receiver) -> None:
        self.base = base
        self.receiver = receiver
        self.begin()

    def begin(self) -> None:
        self.store = SimulatedStore(self.base)
        self.experiments = Experiments(cast(Store, self.store))
        self.parts: SimulatedService | None = None

    @property
    def service(self) -> SimulatedService:
        """Writer, ticker and deliveries, made when they are used: most processes are killed before."""
        if self.parts is None:
            self.parts = SimulatedService(self.experiments, cast(Access, self.store), self.receiver)
        return self.parts

    def experiment(self) -> Experiment:
        return self.experiments.get(NAME)


@cache
def created(units: bool) -> Tables:
    """The experiment as it is created: the same in every life."""
    base = Database(Random(0), faults=0.0)
    with simulated_time(lambda: 0.0):
        Experiments(cast(Store, SimulatedStore(base))).create(NAME, **(WITH_UNITS if units else ASKED))
    return base.data[NAME]


class Life:
    def __init__(self, seed: int, units: bool = False) -> None:
        self.random = Random(seed)
        self.asked: dict[str, Any] = WITH_UNITS if units else ASKED
        self.units: list[str | None] = [*UNITS] if units else [None]  # reward n is one of unit n modulo their number
        self.base = Database(self.random, FAULTS)
        self.base.hooks = [HOOK]
        self.receiver = Receiver(self.random)
        self.processes = [Process(self.base, self.receiver) for _ in range(PROCESSES)]
        self.leader: Process | None = None  # which delivers webhooks
        self.sent = 0  # rewards
        self.first_steps: dict[int, int] = {}  # to which rewards were sent first, at the earliest
        self.open: list[int] = []  # rewards whose answer was lost
        self.acknowledged: dict[int, Acknowledged] = {}
        self.unsure: set[int] = set()  # rewards that the service refused to count again
        self.seen: list[Seen] = []
        self.backward = False  # whether the clock was set back
        self.fooled = False  # whether a wrong clock was accepted, or a process began with one

    def run(self) -> None:
        with simulated_time(lambda: self.base.elapsed):
            self.live()

    def live(self) -> None:
        faults, self.base.faults = self.base.faults, 0.0
        with self.processes[0].store.creating(NAME) as tables:
            tables.take_over(created(len(self.units) > 1))
        self.processes[0].experiment()
        self.base.faults = faults
        self.created = len(self.base.versions) - 1
        actions = [self.report] * 6 + [self.again] * 3 + [self.ask] * 4 + [self.tick] * 2
        actions += [self.report_many] * 3 + [self.news] + [self.command] * 4 + [self.deliver] * 3
        actions += [self.pass_time] * 5 + [self.jump, self.lose, self.kill]
        for _ in range(MOMENTS):
            process = self.random.choice(self.processes)
            with self.surviving(process):
                self.random.choice(actions)(process)
        self.base.faults = 0.0
        last = self.processes[-1]
        self.kill(last)  # the first one stays, and has in memory what it has done
        if self.random.random() < LONG_AWAY:
            self.stay_away(last)
        while self.open:
            self.again(last)
        for _ in range(DELIVERIES):
            self.deliver(last)
            if last.service.deliveries.is_idle():
                break
        self.check()

    def wrong(self) -> bool:
        """Whether the clock is not where it would be if nobody had set it."""
        return self.base.time != BEGAN + self.base.elapsed

    @contextmanager
    def surviving(self, process: Process) -> Iterator[None]:
        try:
            yield
        except Crash:
            self.kill(process)
        except Unavailable:
            pass

    # What happens

    def report(self, process: Process) -> None:
        if self.sent < REWARDS:
            reward, self.sent = self.sent, self.sent + 1
            self.open.append(reward)
            self.first_steps[reward] = self.latest_step()
            self.send(process, reward, None)

    def again(self, process: Process) -> None:
        if self.open:
            reward = self.random.choice(self.open)
            self.send(process, reward, self.first_steps[reward])

    def latest_step(self) -> int:
        """The step that a sender knows; a rewound database may be behind it, so the one it has now."""
        return max(self.base.data[NAME].rows)

    def counted_steps(self) -> list[int]:
        """Steps that have ended and are not void: there is something to be voided."""
        rows = [row for row, _ in self.base.data[NAME].rows.values()]
        return [row.step for row in rows if row.total is not None and not row.void]

    def send(self, process: Process, reward: int, step: int | None) -> None:
        try:
            metric, unit = self.series(reward)
            taken = process.experiment().reward(Decimal(1 << reward) / MICRO, f"key {reward}", step, metric, unit=unit)
        except Conflict as refused:
            if refused.kind != "sealed":
                raise
            self.open.remove(reward)
            self.unsure.add(reward)
            return
        self.count(process, reward, taken)

    def count(self, process: Process, reward: int, taken: Receipt) -> None:
        """A reward was acknowledged."""
        if reward in self.open:
            self.open.remove(reward)
        known = Acknowledged(process.store.committed, taken.step if taken.accepted else None)
        self.acknowledged.setdefault(reward, known)

    def series(self, reward: int) -> tuple[str | None, str | None]:
        """The metric and the unit of a reward."""
        unit = self.units[reward % len(self.units)]
        return METRIC if reward % 3 == 2 and unit is None else None, unit

    def ask(self, process: Process) -> None:
        unit = self.random.choice(self.units) if len(self.units) > 1 else None
        decision = process.experiment().decision(unit)
        self.seen.append(Seen(process.experiment()._cache.copy.hash, decision.step, decision.variant, unit))

    def tick(self, process: Process) -> None:
        assert not process.experiments.tick()

    def command(self, process: Process) -> None:
        names = ("pin", "unpin", "pause", "resume", "void", "void", "void", "accept_clock", "enable")
        name = self.random.choice(names)
        given: dict[str, Any] = {"reason": "simulated"}
        if name in ("pin", "enable"):
            given["variant"] = self.random.choice(ASKED["variants"])
        if name == "void":
            given["step"] = self.random.choice(self.counted_steps() or [self.latest_step()])
        if len(self.units) > 1 and name in ("pin", "unpin", "void"):
            given["unit"] = self.random.choice([None, *self.units])
        held = name == "accept_clock" and process.experiment().status().held
        with suppress(OutOfTurn):
            self.fooled |= held and self.wrong()
            process.experiment().command(name, **given)

    def report_many(self, process: Process) -> None:
        """Rewards that arrive during one commit, new ones and ones that are sent again, some of them twice."""
        new = range(self.sent, min(self.sent + self.random.randrange(1, 4), REWARDS))
        self.sent += len(new)
        for reward in new:
            self.open.append(reward)
            self.first_steps[reward] = self.latest_step()
        chosen = [*new, *self.random.sample(self.open, min(2, len(self.open)))]
        self.random.shuffle(chosen)
        steps = [None if one in new else self.first_steps[one] for one in chosen]
        batches: list[Batch] = [
            [(f"key {one}", float(1 << one) / 1e6, step, *self.series(one))]
            for one, step in zip(chosen, steps, strict=True)
        ]
        answers = process.service.report(process.experiment(), batches)
        for reward, answer in zip(chosen, answers, strict=True):
            if answer.receipt is not None:
                self.count(process, reward, answer.receipt)
            else:
                assert answer.problem is not None
                assert answer.problem.kind.slug == "database-unavailable" or answer.problem.error_kind == "sealed"
                if answer.problem.error_kind == "sealed" and reward in self.open:
                    self.open.remove(reward)
                    self.unsure.add(reward)

    def news(self, process: Process) -> None:
        process.service.news()

    def deliver(self, process: Process) -> None:
        """Deliver webhooks; one process at a time has the lock."""
        if self.leader is not process:
            if self.leader is not None:
                with self.surviving(self.leader):
                    self.leader.service.deliveries.end_term()
            self.leader = process
            process.service.deliveries.begin_term()
        process.service.deliveries.look()

    def pass_time(self, process: Process) -> None:
        seconds = self.random.choice([0.2, 10.0, 50.0, 100.0, 110.0, 350.0])
        self.base.time += seconds
        self.base.elapsed += seconds

    def jump(self, process: Process) -> None:
        seconds = self.random.choice([-1000.0, -10.0, 1000.0, 4000.0])
        self.backward |= seconds < 0
        self.base.time += seconds
        if self.random.random() < SET_RIGHT:
            with self.surviving(process):
                self.random.choice([self.ask, self.tick, self.report])(process)
            self.backward |= self.base.time > BEGAN + self.base.elapsed
            self.base.time = BEGAN + self.base.elapsed

    def lose(self, process: Process) -> None:
        """The database loses its last versions, and everything that depended on them."""
        last = len(self.base.versions)
        self.base.rewind(self.random.randrange(max(self.created, last - 6), last))
        left = set(self.base.ids)
        lost = [reward for reward, one in self.acknowledged.items() if one.version not in left]
        for reward in lost:
            del self.acknowledged[reward]
            self.unsure.add(reward)

    def kill(self, process: Process) -> None:
        self.fooled |= self.wrong()
        self.leader = None if self.leader is process else self.leader
        process.begin()

    def stay_away(self, process: Process) -> None:
        """Until keys of earlier steps are in an earlier span, or erased; what is sent again must not count again."""
        for _ in range(self.random.randrange(1, 4)):
            self.base.time += 4000.0
            self.base.elapsed += 4000.0
            self.tick(process)

    # What must hold

    def check(self) -> None:
        tables = self.base.data[NAME]
        verdict = verify(NAME, cast(Any, tables))
        assert verdict.ok, verdict
        cache = self.processes[0].experiment()._cache
        with cache.reading():
            state = cache.copy.state
        fresh = Process(self.base, self.receiver).experiment()._cache.copy.state
        assert state.text() == fresh.text(), "memory and replay differ"
        rows = [(row.step, unit, *cell) for row in tables.steps() for unit, cell in enumerate(self.cells(row))]
        variants = {(step, self.units[unit]): self.asked["variants"][served] for step, unit, served, _ in rows}
        left = {record.hash for record in tables.log}
        for one in self.seen:
            known = one.mark not in left or variants[one.step, one.unit] == one.variant
            assert known, f"step {one.step} had two variants"
        self.check_rewards({(step, unit): total for step, unit, _, total in rows})
        if len(self.units) == 1:
            self.check_stops(state)
        if not self.fooled:
            assert state.step <= self.base.elapsed // STEP, "a step has ended before its time, by a wrong clock"
        self.receiver.check()
        if not self.backward:
            assert left <= {bytes.fromhex(event.hash) for event in self.receiver.got}, "a webhook has missed records"

    def check_stops(self, state: Any) -> None:
        """A variant is stopped once, until it is enabled; the control never is."""
        stopped = set[int]()
        for record in self.base.data[NAME].log:
            variant: Any = read_body(record.body).get("variant")
            if record.kind == "guarded":
                assert variant not in stopped | {0}, f"variant {variant} was stopped twice, or is the control"
                stopped.add(variant)
            elif record.kind == "enable":
                stopped.discard(variant)
        assert stopped == set(state.stops) <= set(state.disabled)

    def cells(self, row: StepRow) -> list[tuple[int, int | None]]:
        """What each unit was served and came to; without units, all metrics together."""
        if len(self.units) == 1:
            return [(row.served, None if row.total is None else sum(totals_in(row)))]
        kept = read_body(row.series or "{}")
        return list(zip(kept["served"], kept["totals"], strict=True))

    def check_rewards(self, totals: dict[tuple[int, int], int | None]) -> None:
        tables = self.base.data[NAME]
        counted: dict[int, list[int]] = {}
        for (step, unit), total in totals.items():
            sums = tables.reported(step)
            chosen = sums.values() if len(self.units) == 1 else [sums.get(unit, (0, 0))]
            sum_ = sum(added for _, added in chosen) if total is None else total
            for reward in range(sum_.bit_length()):
                if sum_ >> reward & 1:
                    assert reward % len(self.units) == unit, f"reward {reward} was counted in unit {unit}"
                    counted.setdefault(reward, []).append(step)
        for reward, one in self.acknowledged.items():
            steps = counted.pop(reward, [])
            assert len(steps) == 1, f"reward {reward} was acknowledged and counted in steps {steps}"
            assert one.step in (None, steps[0]), f"reward {reward} was acknowledged for step {one.step}, not {steps[0]}"
        for reward, steps in counted.items():
            assert reward in self.unsure, f"reward {reward} was counted in steps {steps} and never sent"
            assert len(steps) == 1, f"reward {reward} was counted in steps {steps}"


@contextmanager
def simulated_time(elapsed: Callable[[], float]) -> Iterator[None]:
    """Let the monotonic clock of experiments be the simulated one."""
    modules: list[Any] = [cached_state, schedule, experiments]
    kept = [module.monotonic for module in modules]
    for module in modules:
        module.monotonic = elapsed
    try:
        yield
    finally:
        for module, clock in zip(modules, kept, strict=True):
            module.monotonic = clock


FAILED: tuple[int, ...] = (7, 11, 75, 142, 278, 1305, 1953, 2255, 5543)  # every seed that ever failed


def failures(seeds: Iterable[int], units: bool = False, most: int | None = None) -> dict[int, str]:
    """What went wrong, by seed; at most so many of them."""
    found = dict[int, str]()
    with without_collections():
        for seed in seeds:
            try:
                Life(seed, units).run()
            except Exception as error:
                found[seed] = f"{type(error).__name__}: {error}"
                if len(found) == most:
                    break
    return found


@contextmanager
def without_collections() -> Iterator[None]:
    """Let the garbage collector leave alone what was there before: lives make much, and little of it stays."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
