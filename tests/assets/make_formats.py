"""Make `formats-1`: what release 0.1.0 stored (commit 8c534c2), and what it showed and decided afterwards.

Stored formats are promises, so tests never run this program: later releases must read the files as they are. It is
kept to say how they came about. It ran in a checkout of that commit:

    PYTHONPATH=src:tests:. python tests/assets/make_formats.py

The texts of agents, the studies and the logs come out the same whenever it runs; salts of reward keys are random.
"""

import json
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from random import Random
from shutil import copytree, rmtree
from tempfile import TemporaryDirectory
from typing import Any

import psycopg
import psycopg.sql

import afterglow
from afterglow import Agent, Study
from afterglow.live import Experiment, Experiments
from support.service.live_fixtures import Clock
from support.service.stored_views import agent_view, database_view, decisions_of, go_on, plain, results_view
from support.worlds.pooled import PooledWorld
from testbed.postgres import server

HERE = Path(__file__).parent / "formats-1"
ROOT = Path(__file__).parents[2]
NOW = 1_700_000_000.0  # when the experiments begin, seconds since 1970
DELAY = {"mean_delay": 1.5}

AGENTS: dict[str, tuple[int, dict[str, Any]]] = {  # steps played before, arguments
    "trim-ucb": (150, {}),
    "trim-ucb-horizon": (150, {"horizon": 330, "arms": ["A", "B", "Ü"], "reward_max": 250.0, "confidence": 0.9}),
    "trim-ucb-season": (150, {"season": 7, "window": 5}),
    "trim-ucb-options": (150, {"horizon": 900, "level": "plus", "variance": "estimated", "endgame": 20}),
    "trim-ucb-strict": (150, {"level": "strict", "variance": 0.1, "arms": [0.5, 1, "x"]}),
    "lean-ucb": (150, {"horizon": 600}),
    "lean-ucb-season": (150, {"horizon": 600, "season": 6, "noise": 0.2}),
    "leak-ucb": (150, {}),
    "leak-ucb-season": (150, {"season": 3, "C": 0.5}),
    "washout-ucb": (150, {}),
    "washout-ucb-season": (150, {"season": 24, "window": 10, "C": 2.0}),
    "lag-ridge-ucb": (150, {}),
    "lag-ridge-ucb-options": (150, {"C": 0.25, "window": 9}),
    "phased-ucb": (150, {"horizon": 600, "hold": 20}),
    "phased-ucb-corrected": (150, {"horizon": 600, "constants": "corrected", "hold": 15, "a": 0.4}),
    "phased-elimination": (150, {"horizon": 2_000}),
    "improved-ucb": (150, {"horizon": 2_000}),
    "ucb1": (150, {}),
    "ars-ucb": (150, {}),
    "ars-ucb-doubling": (150, {"alpha": 3.0, "growth": "double"}),
    "odaaf": (700, {"horizon": 2_000, **DELAY}),
    "odaaf-bounded": (700, {"horizon": 2_000, **DELAY}),
    "odaaf-variance": (700, {"horizon": 2_000, **DELAY, "delay_variance": 1.25}),
    "composite-exp3": (150, {"horizon": 600, "seed": 11}),
    "composite-tsallis": (150, {"seed": 12, "run": 3}),
}
FOLLOWING = [round((0.1, 1.6)[step // 20 % 2] * Random(step).random(), 3) for step in range(250)]  # low, high, low, …


def write(path: Path, value: Any) -> None:
    """Strict JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(lines(value, 3) + "\n", encoding="utf-8")


def lines(value: Any, levels: int) -> str:
    """JSON with a line for each value down to some levels."""
    if not levels or not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    inner = [f"{json.dumps(key, ensure_ascii=False)}: {lines(one, levels - 1)}" for key, one in value.items()]
    return "{\n" + ",\n".join(inner) + "\n}"


# Agents


def make_agents() -> None:
    expected = {}
    for name, (steps, arguments) in AGENTS.items():
        agent, world = agent_of(name, arguments)
        for _ in range(steps):
            one_step(agent, world)
        while agent.hold is None or not 0 < agent.hold.done < agent.hold.steps:  # in the middle of a hold
            if agent.policy.every_step:
                agent.select()  # its holds are single steps: between select and update
                break
            one_step(agent, world)
        text = agent.to_json()
        (HERE / "agents").mkdir(parents=True, exist_ok=True)
        (HERE / "agents" / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        before, decisions = agent_view(agent), decisions_of(agent, FOLLOWING)
        expected[name] = {"before": before, "decisions": decisions, "after": agent_view(agent)}
    write(HERE / "agents.json", plain({"totals": FOLLOWING, "agents": expected}))


def agent_of(name: str, arguments: dict[str, Any]) -> tuple[Agent, PooledWorld]:
    known = [one for one in AGENTS if one == name or name.startswith(f"{one}-")]
    policy = name if name.startswith("odaaf") else min(known, key=len)
    given = {"arms": 3, "window": 4, "seed": 5} | arguments
    return Agent(**given, policy=policy), PooledWorld([0.5, 0.6, 0.45], given["window"], "delay", seed=9)


def one_step(agent: Agent, world: PooledWorld) -> None:
    agent.update(world.pull(agent.arms.index(agent.select())) * agent.reward_max)


# Databases

VARIANTS = ["49 kr", "59 kr", 'größer "69"']
MEANS = {"49 kr": 3.0, "59 kr": 5.0, 'größer "69"': 2.0}
ASKED: dict[str, Any] = {"variants": VARIANTS, "window": 4, "reward_max": 10.0}
DAILY = {**ASKED, "step_seconds": 3600.0}


class Play:
    """Experiments on a database, with a clock of their own."""

    def __init__(self, experiments: Experiments, clock: Clock) -> None:
        self.experiments, self.clock, self.random = experiments, clock, Random(4)

    def total(self, experiment: Experiment) -> float:
        return round(2 * MEANS[experiment.current()] * self.random.random(), 2)

    def close(self, experiment: Experiment, steps: int) -> None:
        """Steps that the caller closes: most with a total, each fifth with rewards and keys."""
        for _ in range(steps):
            step, total = experiment.decision().step, self.total(experiment)
            if step % 5 == 0:
                experiment.rewards([(f"a {step}", total), (f"b {step}", 0.25)])
                experiment.close_step()
            else:
                experiment.close_step(total)

    def hours(self, experiment: Experiment, steps: int) -> None:
        """Steps that the clock closes."""
        for _ in range(steps):
            experiment.reward(self.total(experiment), f"hour {experiment.decision().step}")
            self.clock.hours(1)

    def manual(self) -> None:
        made = self.experiments.create("trim-pinned", **ASKED, seed=3, confidence=0.9, control="59 kr", remember=3)
        self.close(made, 40)
        made.void(made.decision().step - 1, "the till was down")  # of the hold in hand
        made.rewards([("much", 40.0), ("more", 35.0)])  # more than window x reward_max: capped
        made.close_step()
        made.void(7, "late: a sale", last=9)  # learned long ago
        made.pin(VARIANTS[2], 'the boss said "now"')
        self.close(made, 6)
        made.unpin("enough")
        self.close(made, 9)
        made.pin(VARIANTS[0], "a fair")
        self.close(made, 3)
        made.rewards([("open a", 1.5), ("open b", 2.25)])  # of a step that is not closed
        made = self.experiments.create("washout-disabled", **ASKED, policy="washout-ucb", C=0.5)
        self.close(made, 700)
        made.disable(VARIANTS[2], "sold out")
        self.close(made, 200)
        made.enable(VARIANTS[2], "back")
        self.close(made, 110)  # behind its first snapshot
        made.disable(VARIANTS[1], "sold out")
        self.close(made, 4)
        made = self.experiments.create("phased-live", **ASKED, horizon=400, policy="phased-ucb", hold=9, shadow=True)
        self.close(made, 30)
        made.go_live("it looks right")
        self.close(made, 41)
        made = self.experiments.create("exp3-seeded", **ASKED, horizon=300, policy="composite-exp3", seed=17)
        self.close(made, 50)

    def ended(self) -> None:
        made = self.experiments.create("finished", **ASKED, horizon=60, policy="ucb1")
        self.close(made, 60)
        made.void(11, "found out after the end")
        made = self.experiments.create("stopped", **ASKED, policy="leak-ucb")
        self.close(made, 25)
        made.stop("the budget is spent", keep=VARIANTS[1])
        made = self.experiments.create("called-off", **DAILY, starts=self.clock() + 9e6)
        made.stop("never mind")
        self.experiments.create("draft", **ASKED, start=False)

    def clocked(self) -> None:
        made = self.experiments.create(
            "lean-paused", **DAILY, horizon=500, policy="lean-ucb", season=6, noise=0.2, heartbeat=True
        )
        self.hours(made, 70)
        self.clock.hours(2)  # a void step and one that was missed
        self.hours(made, 30)
        made.void(20, "late: a test order")
        made.pause("a holiday")
        self.hours(made, 4)
        made.resume("back")
        self.hours(made, 20)
        made.pause("another")
        made = self.experiments.create("trim-shadow", **DAILY, shadow=True, season=3)
        self.hours(made, 50)
        made = self.experiments.create("trim-clock", **DAILY, horizon=65, starts=self.clock() - 1000.0)
        self.hours(made, 50)
        self.clock.hours(0.2)
        made.reward(3.5, "open c")
        self.experiments.create("scheduled", **DAILY, starts=self.clock() + 5 * 3600.0)


TOTALS = [4.0, 0.0, 12.5, 7.25, 3.0, 9.0, 1.0, 6.5, 2.0, 8.0, 0.5, 5.0, 0.0, 3.0, 20.0, 1.0]  # what follows
ADMIN, READER, LATE, GONE = (f"ag_00000000000{number}_Stored_format-{number}" for number in range(4))
TOKENS: list[tuple[str, str, str, str | None, int | None, int | None]] = [
    (ADMIN, "first start", "admin", None, None, None),
    (READER, "shop ä", "read decide", "stopped trim-pinned", None, None),
    (LATE, "", "read", None, 1_700_000_000_000, None),
    (GONE, "", "read report", None, None, 1_700_000_000_500),
]
HOOK = ("00000000000a", "https://shop.example/hooks", "agwh_stored_format", "pin stop", "stopped trim-pinned")


def fill(address: str) -> tuple[Any, float]:
    """Play, and what is to be seen then."""
    clock = Clock(NOW)
    with afterglow.live.open(address, clock=clock) as experiments:
        play = Play(experiments, clock)
        for part in (play.manual, play.ended, play.clocked):
            part()
        assert not experiments.tick()
        store: Any = experiments._store
        with store.session(change=True) as session:
            for token, label, scopes, names, expires, revoked in TOKENS:
                _, id_, secret = token.split("_", 2)
                row = (id_, label, sha256(secret.encode()).digest(), scopes, names, 1_699_999_999_000, expires, revoked)
                session.run("INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?, ?, ?)", *row)
            session.run("INSERT INTO hooks VALUES (?, ?, ?, ?, ?, ?)", *HOOK, 1_699_999_999_500)
            session.run("INSERT INTO hook_places VALUES (?, ?, ?)", HOOK[0], "stopped", 20)
            session.run("INSERT INTO hook_places VALUES (?, ?, ?)", HOOK[0], "trim-pinned", 50)
        return database_view(experiments), clock.now


def continued(address: str, now: float) -> Any:
    clock = Clock(now)
    with afterglow.live.open(address, clock=clock) as experiments:
        decisions = go_on(experiments, clock.hours, TOTALS)
        since = {name: found[0][0] for name, found in decisions.items()}
        return {"decisions": decisions, "view": database_view(experiments, since)}


def make_databases() -> None:
    file, base = HERE / "experiments.sqlite", server().fresh()
    with TemporaryDirectory() as folder:
        first = str(Path(folder) / "experiments.db")
        before, now = fill(first)
        file.unlink(missing_ok=True)
        with afterglow.live.open(first, clock=lambda: now) as experiments:
            experiments.backup(file)
        after = continued(first, now)
    assert fill(base) == (before, now)
    (HERE / "experiments.postgresql.sql").write_text(dumped(base), encoding="utf-8")
    assert continued(base, now) == after
    tokens = {"admin": ADMIN, "reader": READER, "expired": LATE, "revoked": GONE}
    write(HERE / "experiments.json", {"now": now, "totals": TOTALS, "tokens": tokens, "before": before, "after": after})


def dumped(address: str) -> str:
    """A PostgreSQL database as SQL: the layout of its release, then its rows."""
    lines = [(ROOT / "tests" / "live" / "store" / "schema-1.postgresql.sql").read_text(encoding="utf-8")]
    tables = ("experiments", "events", "steps", "snapshots", "salts", "rewards", "tokens", "hooks", "hook_places")
    with psycopg.connect(address) as base:
        for table in tables:
            for row in base.execute(f"SELECT * FROM {table} ORDER BY 1, 2"):
                values = ", ".join(literal(value) for value in row)
                lines.append(f"INSERT INTO {table} VALUES ({values});\n")
    lines.append("SELECT setval(pg_get_serial_sequence('experiments', 'id'), (SELECT max(id) FROM experiments));\n")
    return "".join(lines)


def literal(value: Any) -> str:
    if isinstance(value, bytes):
        return rf"'\x{value.hex()}'"
    return psycopg.sql.quote(value)


# Studies

STUDY = """# A small study that was stored complete, and half played.
name = "stored"
question = "Does what was stored still read?"
horizon = 600
runs = 8
seed = 21
checkpoints = 5

[[policies]]
policy = "trim-ucb"

[[policies]]
policy = "washout-ucb"
C = 0.5
label = "washout half"

[[worlds]]
rewards = [0.8, 0.5, 0.4]
window = 4
spread = ["uniform", "last"]
"""


def make_studies() -> None:
    from afterglow.lab.study.identity import identity

    folder = HERE / "study"
    rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    study = Study.read(folder / "study.toml")
    results = study.run(folder / "complete", threads=2)
    interrupt(study, folder / "interrupted")
    write(folder / "expected.json", results_view(results))
    known = {}
    for path in sorted((ROOT / "studies").glob("*.toml")):
        found = identity(Study.read(path))
        known[path.stem] = {key: found[key] for key in ("study", "code", "settings")}
    write(HERE / "studies.json", known)


def interrupt(study: Study, folder: Path) -> None:
    """A journal whose writer was killed in the middle of a batch."""
    with TemporaryDirectory() as room:

        def stop(progress: Any) -> None:
            journal = Path(room) / "out" / "journal.arrows"
            if progress.done > progress.total // 2 and not folder.exists():
                copytree(journal.parent, folder)

        study.run(Path(room) / "out", threads=2, progress=stop)
    journal = folder / "journal.arrows"
    journal.write_bytes(journal.read_bytes()[:-100])


def main(parts: Iterable[Any] = (make_agents, make_databases, make_studies)) -> None:
    HERE.mkdir(exist_ok=True)
    for part in parts:
        part()


if __name__ == "__main__":
    main()
