"""Make `formats-3`: a database of schema revision 3 and agents of newer policies, and what they decided afterwards.

Like `make_formats.py`, which see. Snapshots are stored more often than the package does, so that the logs stay short.
It ran in a checkout of the parent of the commit that last changed these files:

    PYTHONPATH=src:tests:. python tests/assets/make_formats_3.py
"""

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import psycopg

import afterglow
from afterglow import Agent, Units
from afterglow.live import Experiment, Experiments, follower
from assets import make_formats as first
from support.service.live_fixtures import Clock
from support.service.stored_plays import database_play, play_on, units_play
from support.service.stored_views import agent_view, decisions_of, plain
from support.worlds.pooled import PooledWorld
from testbed.postgres import server

HERE = Path(__file__).parent / "formats-3"
TABLES = (
    "experiments", "events", "steps", "snapshots", "spans", "rewards", "sums", "audit", "tokens", "hooks",
    "hook_places",
)  # fmt: skip
SIZES = {"north": 10.0, "south": 20.0, "east": 40.0, "west": 80.0}
COMPLAINTS = {"complaints": {"at_most": "+10%", "against": "control"}}
WORSE = {"49 kr": 1.0, "59 kr": 2.0, first.VARIANTS[2]: 1.0}
SPEC: dict[str, Any] = {"variants": first.VARIANTS, "window": 2}
TOTALS = first.TOTALS[:8]

AGENTS: dict[str, tuple[int, dict[str, Any]]] = {  # steps played before, arguments
    "random-turns": (90, {"season": 7}),
    "random-turns-horizon": (90, {"horizon": 200, "window": 2}),
    "thrift-ucb": (90, {}),
    "thrift-ucb-knowing": (90, {"aim": "knowing", "horizon": 400}),
    "auto-wash": (90, {"horizon": 400}),
    "thompson": (90, {"noise": 0.2}),
    "ars-exp3": (90, {"horizon": 400}),
    "switchback": (90, {"horizon": 200, "window": 3}),
    "kl-ucb": (90, {}),
}


def make_agents() -> None:
    expected = {}
    (HERE / "agents").mkdir(parents=True, exist_ok=True)
    for name, (steps, arguments) in AGENTS.items():
        policy = min((one for one in AGENTS if name.startswith(one)), key=len)
        given = {"arms": 3, "window": 4, "seed": 5} | arguments
        agent = Agent(**given, policy=policy)
        world = PooledWorld([0.5, 0.6, 0.45], given["window"], "delay", seed=9)
        for _ in range(steps):
            first.one_step(agent, world)
        (HERE / "agents" / f"{name}.json").write_text(agent.to_json() + "\n", encoding="utf-8")
        before, decisions = agent_view(agent), decisions_of(agent, first.FOLLOWING[:100])
        expected[name] = {"before": before, "decisions": decisions, "after": agent_view(agent)}
    first.write(HERE / "agents.json", plain({"totals": first.FOLLOWING[:100], "agents": expected}))


def make_units() -> None:
    team = Units(["A", "B", "Ü"], list(SIZES), window=3, horizon=120, levels=SIZES, seed=7)
    random = Random(3)
    for step in range(50):
        arms = team.select()
        totals = {unit: round(SIZES[unit] * (random.random() + (arms[unit] == "B")), 3) for unit in SIZES}
        if step % 9 == 0:
            del totals["east"]  # not known
        team.update(totals, outside=["west"] if step == 20 else [])
    team.select()
    (HERE / "units.json").write_text(team.to_json() + "\n", encoding="utf-8")
    following = first.FOLLOWING[:70]
    first.write(HERE / "units-after.json", {"totals": following, "after": units_play(team, following)})


class Play:
    """Experiments on a database, with a clock of their own."""

    def __init__(self, experiments: Experiments, clock: Clock) -> None:
        self.experiments, self.clock, self.random = experiments, clock, Random(4)

    def total(self, experiment: Experiment, unit: str | None = None) -> float:
        level = first.MEANS[experiment.current(unit)] * (SIZES[unit] if unit else 1)
        return round(2 * level * self.random.random(), 2)

    def complaints(self, experiment: Experiment, unit: str | None = None) -> float:
        level = WORSE[experiment.current(unit)] * (SIZES[unit] if unit else 1)
        return round(level * self.random.uniform(0.9, 1.1), 3)

    def alone(self) -> None:
        """Without units: policies that ended, and the default that goes on."""
        play = first.Play(self.experiments, self.clock)
        for policy, steps, more in (
            ("random-turns", 56, {"season": 7}),
            ("thrift-ucb", 56, {}),
            ("switchback", 84, {}),
        ):
            asked = first.ASKED | {"horizon": steps, "policy": policy, "seed": 2} | more
            play.close(self.experiments.create(f"{policy}-ended", **asked), steps)
        made = self.experiments.create("default", **first.ASKED, seed=3, remember=3)
        play.close(made, 40)
        made.void(7, "late: a sale", last=9)
        made.rewards([("open a", 1.5), ("open b", 2.25)])  # of a step that is not closed

    def guarded(self) -> None:
        """A guard stops a variant, with and without units."""
        made = self.experiments.create(
            "guards", **SPEC, horizon=300, policy="switchback", guards=COMPLAINTS, reward_max=10.0, seed=2
        )
        while not made.status().disabled:
            made.close_step(self.total(made), metrics={"complaints": self.complaints(made)})
        for _ in range(5):
            made.close_step(self.total(made), metrics={"complaints": self.complaints(made)})
        made.rewards([("open a", 1.5), ("open a", 2.0, None, "complaints")])
        made = self.experiments.create(
            "units-guards", **SPEC, horizon=300, units=list(SIZES), commit=250, guards=COMPLAINTS, seed=5
        )
        while not made.status().disabled:
            self.close_units(made)
        for _ in range(5):
            self.close_units(made)

    def close_units(self, made: Experiment) -> None:
        complaints = {unit: self.complaints(made, unit) for unit in SIZES}
        made.close_step({unit: self.total(made, unit) for unit in SIZES}, metrics={"complaints": complaints})

    def units(self) -> None:
        """Units on a schedule: a range of missed steps, a void and a pin of one unit, an emergency; and an end."""
        made = self.experiments.create(
            "units", **SPEC, horizon=60, units=list(SIZES), levels=SIZES, step_seconds=3600.0, heartbeat=True
        )
        self.hours(made, 20)
        self.clock.hours(5)  # a void step, and four that were missed: one row
        self.hours(made, 6)
        made.void(3, "a fair", last=4, unit="north")
        made.pin(first.VARIANTS[0], "a fair", unit="south")
        self.hours(made, 3)
        made.unpin("it is over", unit="south")
        made.emergency(first.VARIANTS[2], "it fails")
        self.hours(made, 3)
        made.reward(3.5, "open c", unit="east")
        made = self.experiments.create("units-ended", **SPEC, horizon=30, units=list(SIZES), seed=2)
        for _ in range(30):
            made.close_step({unit: self.total(made, unit) for unit in SIZES})

    def hours(self, made: Experiment, steps: int) -> None:
        """Steps that the clock closes."""
        for _ in range(steps):
            step = made.first_decision().step
            made.rewards([(f"{unit} {step}", self.total(made, unit), None, None, unit) for unit in SIZES])
            self.clock.hours(1)


def fill(address: str) -> tuple[Any, float]:
    """Play, and what is to be seen then."""
    clock = Clock(first.NOW)
    with afterglow.live.open(address, clock=clock) as experiments:
        play = Play(experiments, clock)
        for part in (play.alone, play.guarded, play.units):
            part()
        assert not experiments.tick()
        return database_play(experiments), clock.now


def continued(address: str, now: float) -> Any:
    clock = Clock(now)
    with afterglow.live.open(address, clock=clock) as experiments:
        since = {name: experiments[name].first_decision().step for name in experiments.names()}
        decisions = play_on(experiments, clock.hours, TOTALS)
        return {"decisions": plain(decisions), "view": database_play(experiments, since)}


def dumped(address: str) -> str:
    """A PostgreSQL database as SQL: the layout of its revision, then its rows."""
    layout = first.ROOT / "tests" / "live" / "store" / "schema-3.postgresql.sql"
    lines = [layout.read_text(encoding="utf-8")]
    with psycopg.connect(address) as base:
        for table in TABLES:
            for row in base.execute(f"SELECT * FROM {table} ORDER BY 1, 2"):
                values = ", ".join(first.literal(value) for value in row)
                lines.append(f"INSERT INTO {table} VALUES ({values});\n")
    lines.append("SELECT setval(pg_get_serial_sequence('experiments', 'id'), (SELECT max(id) FROM experiments));\n")
    return "".join(lines)


def make_databases() -> None:
    follower.EVERY, follower.BYTES = 25, 10**9
    file, base = HERE / "experiments.sqlite", server().fresh()
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "experiments.db")
        before, now = fill(path)
        file.unlink(missing_ok=True)
        with afterglow.live.open(path, clock=lambda: now) as experiments:
            experiments.backup(file)
        after = continued(path, now)
    assert fill(base) == (before, now)
    (HERE / "experiments.postgresql.sql").write_text(dumped(base), encoding="utf-8")
    assert continued(base, now) == after
    first.write(HERE / "experiments.json", {"now": now, "totals": TOTALS, "before": before, "after": after})


def main() -> None:
    HERE.mkdir(exist_ok=True)
    for part in (make_agents, make_units, make_databases):
        part()


if __name__ == "__main__":
    main()
