"""A whole life of an experiment on a simulated clock, scheduler and store, decided by one seed.

Two processes use one database: they serve, report, close steps, give commands and follow the log. The seed decides who
does what next, and what goes wrong: transactions that fail before or after their commit, processes that are killed at
every boundary of a transaction, clocks that jump, databases that lose their last versions.

    Life(seed).run()        # raises AssertionError if a promise is broken

Every reward is another power of two, so the total of a step says which rewards were counted in it, and how often.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from random import Random
from typing import Any, NamedTuple, cast

from afterglow.errors import Conflict, OutOfTurn, Unavailable
from afterglow.live import Experiment, Experiments, cached_state, schedule
from afterglow.live.domain.log import BEGINNING, Place
from afterglow.live.store.contract import Store
from afterglow.live.verify import verify
from testbed.simulated_store import Crash, Database, SimulatedStore

NAME = "e"
PROCESSES = 2
MOMENTS = 30  # things that happen
REWARDS = 40
MICRO = Decimal(1_000_000)
LONG_AWAY = 0.3  # probability that nothing is sent again for hours in the end
FAULTS = 0.06  # of a transaction, at each of its boundaries
STEP = 100.0  # seconds
ASKED: dict[str, Any] = {
    "variants": ["a", "b"], "window": 1, "reward_max": 1e12, "policy": "ucb1", "step_seconds": STEP,
}  # fmt: skip


class Acknowledged(NamedTuple):
    version: int  # of the database, which has it
    step: int | None  # None if it had been counted before


class Seen(NamedTuple):
    mark: bytes  # hash of the last record that the process had; a rewound database may have lost it
    step: int
    variant: str


class Process:
    """One replica, until it is killed."""

    def __init__(self, base: Database) -> None:
        self.base = base
        self.begin()

    def begin(self) -> None:
        self.store = SimulatedStore(self.base)
        self.experiments = Experiments(cast(Store, self.store))

    def experiment(self) -> Experiment:
        return self.experiments.get(NAME)


class Life:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.base = Database(self.random, FAULTS)
        self.processes = [Process(self.base) for _ in range(PROCESSES)]
        self.sent = 0  # rewards
        self.first_steps: dict[int, int] = {}  # to which rewards were sent first, at the earliest
        self.open: list[int] = []  # rewards whose answer was lost
        self.acknowledged: dict[int, Acknowledged] = {}
        self.unsure: set[int] = set()  # rewards that the service refused to count again
        self.seen: list[Seen] = []
        self.place = BEGINNING  # of a reader of the log
        self.read: set[bytes] = set()  # hashes of what it has read
        self.backward = False  # whether the clock was set back

    def run(self) -> None:
        with simulated_time(lambda: self.base.elapsed):
            self.live()

    def live(self) -> None:
        faults, self.base.faults = self.base.faults, 0.0
        self.processes[0].experiments.create(NAME, **ASKED)
        self.base.faults = faults
        self.created = len(self.base.versions) - 1
        actions = [self.report] * 6 + [self.again] * 3 + [self.ask] * 4 + [self.tick] * 2
        actions += [self.command] * 2 + [self.follow] * 2 + [self.pass_time] * 5 + [self.jump, self.lose, self.kill]
        for _ in range(MOMENTS):
            process = self.random.choice(self.processes)
            with self.surviving(process):
                self.random.choice(actions)(process)
        self.base.faults = 0.0
        for process in self.processes:
            process.begin()
        if self.random.random() < LONG_AWAY:
            self.stay_away()
        while self.open:
            self.again(self.processes[0])
        self.follow(self.processes[0])
        self.check()

    @contextmanager
    def surviving(self, process: Process) -> Iterator[None]:
        try:
            yield
        except Crash:
            process.begin()
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

    def send(self, process: Process, reward: int, step: int | None) -> None:
        try:
            taken = process.experiment().reward(Decimal(1 << reward) / MICRO, f"key {reward}", step)
        except Conflict as refused:
            if refused.kind != "sealed":
                raise
            self.open.remove(reward)
            self.unsure.add(reward)
            return
        self.open.remove(reward)
        known = Acknowledged(process.store.committed, taken.step if taken.accepted else None)
        self.acknowledged.setdefault(reward, known)

    def ask(self, process: Process) -> None:
        decision = process.experiment().decision()
        self.seen.append(Seen(process.experiment()._cache.copy.hash, decision.step, decision.variant))

    def tick(self, process: Process) -> None:
        assert not process.experiments.tick()

    def command(self, process: Process) -> None:
        names = ("pin", "unpin", "pause", "resume", "void")
        name = self.random.choice(names)
        given: dict[str, Any] = {"reason": "simulated"}
        if name == "pin":
            given["variant"] = self.random.choice(ASKED["variants"])
        if name == "void":
            given["step"] = self.random.randrange(1 + self.latest_step())
        with suppress(OutOfTurn):
            process.experiment().command(name, **given)

    def follow(self, process: Process) -> None:
        """Read the log as a webhook does."""
        located = process.experiments.locate({NAME: self.place})[NAME]
        for _, entry in process.experiments.changes({NAME: located.seq}):
            self.read.add(bytes.fromhex(entry.hash))
            self.place = entry.place()
        if located.lost and self.place.seq > located.seq:
            self.place = Place(located.seq, self.place.at, located.hash)

    def pass_time(self, process: Process) -> None:
        seconds = self.random.choice([0.2, 10.0, 50.0, 100.0, 110.0, 350.0])
        self.base.time += seconds
        self.base.elapsed += seconds

    def jump(self, process: Process) -> None:
        seconds = self.random.choice([-1000.0, -10.0, 1000.0, 4000.0])
        self.backward |= seconds < 0
        self.base.time += seconds

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
        process.begin()

    def stay_away(self) -> None:
        """Until the keys of earlier steps are erased: what is sent again after that must not be counted again."""
        for _ in range(3):
            self.base.time += 4000.0
            self.base.elapsed += 4000.0
            self.tick(self.processes[0])

    # What must hold

    def check(self) -> None:
        tables = self.base.data[NAME]
        verdict = verify(NAME, cast(Any, tables))
        assert verdict.ok, verdict
        state = self.processes[0].experiment()._cache.copy.state
        fresh = Process(self.base).experiment()._cache.copy.state
        assert state.text() == fresh.text(), "memory and replay differ"
        variants = {row.step: ASKED["variants"][row.served] for row in tables.steps()}
        left = {record.hash for record in tables.log}
        for one in self.seen:
            assert one.mark not in left or variants[one.step] == one.variant, f"step {one.step} had two variants"
        self.check_rewards({row.step: row.total for row in tables.steps()})
        if not self.backward:
            assert {record.hash for record in tables.log} <= self.read, "a reader of the log has missed records"

    def check_rewards(self, totals: dict[int, int | None]) -> None:
        tables = self.base.data[NAME]
        counted: dict[int, list[int]] = {}
        for step, total in totals.items():
            sum_ = tables.reported(step)[1] if total is None else total
            for reward in range(sum_.bit_length()):
                if sum_ >> reward & 1:
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
    modules: list[Any] = [cached_state, schedule]
    kept = [module.monotonic for module in modules]
    for module in modules:
        module.monotonic = elapsed
    try:
        yield
    finally:
        for module, clock in zip(modules, kept, strict=True):
            module.monotonic = clock


FAILED: tuple[int, ...] = (75, 142, 278, 5543)  # every seed that ever failed


def failures(seeds: Iterable[int]) -> dict[int, str]:
    """What went wrong, by seed."""
    found = dict[int, str]()
    for seed in seeds:
        try:
            Life(seed).run()
        except Exception as error:
            found[seed] = f"{type(error).__name__}: {error}"
    return found
