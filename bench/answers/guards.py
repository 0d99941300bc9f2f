"""How often guards stop variants that keep their limit, and how soon one that doesn't: the tables of the guide.

A cell is a world of `testbed/guard_worlds.py`, a policy, a number of variants and an effect. *At the limit* all
variants but the control have exactly the mean that is allowed, the hardest case; *no effect* has the control's mean. A
false stop counts if it happens to any variant at any step of the run. Delays are measured with one variant 1.5 or 2
times as far from the control as its limit, and with the largest reward, so that the policy wants to keep it. A finished
cell is one line of the results file, and isn't played again if the file has it with enough runs.

    python bench/answers/guards.py [--runs 400] [--only rare] [--policies thrift-ucb] [--seed 0] [--write]
"""

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from afterglow.errors import AfterglowError, AfterglowWarning

ROOT = Path(__file__).parents[2]
from testbed.guard_worlds import DELAYS, TOTALS, GuardWorld, play, player  # noqa: E402
from testbed.quick_agent import compile_kernels  # noqa: E402

POLICIES = ("thrift-ucb", "trim-ucb", "switchback", "random-turns")
DOCUMENT = ROOT / "docs" / "guides" / "guards.md"
LIMIT = 0.1
FALSE_HEAD = "| secondary total | limit | variants | policy | runs | at the limit | no effect |"
DELAY_HEAD = "| secondary total | policy | runs | effect | stopped within 10,000 steps | median step of the stop |"


class Cell(NamedTuple):
    world: GuardWorld
    policy: str
    effect: float
    delay: bool

    @property
    def key(self) -> str:
        world = self.world
        parts = (world.name, world.kind, world.played_on, world.variants, self.policy, f"{self.effect:g}", self.delay)
        return " | ".join(map(str, parts))


def worlds() -> Iterator[GuardWorld]:
    """Those in which false stops are measured."""
    for total in TOTALS:
        yield GuardWorld(total)
    for total in TOTALS:
        if total.name in ("independent", "rare .02", "noise lingers: rho 0.9", "daily season, told"):
            yield GuardWorld(total, variants=10)
            yield GuardWorld(total, kind="fixed")
            yield GuardWorld(total, kind="at least")
    yield GuardWorld(TOTALS[0], played_on="the metric")
    yield GuardWorld(TOTALS[9], kind="fixed")


def cells(policies: list[str]) -> Iterator[Cell]:
    for world in worlds():
        limit = -LIMIT if world.kind == "at least" else LIMIT
        for policy in policies:
            if policy != "random-turns" or world.total.told:
                yield from (Cell(world, policy, effect, False) for effect in (limit, 0.0))
    for total in DELAYS:
        for policy in policies[:3]:
            yield from (Cell(GuardWorld(total), policy, factor * LIMIT, True) for factor in (1.5, 2.0))


def measure(cell: Cell, runs: int, seed: int) -> dict[str, Any]:
    began = time.process_time()
    others = cell.world.variants - 1
    effects = [0.0, cell.effect, *[0.0] * (others - 1)] if cell.delay else [0.0, *[cell.effect] * others]
    best = 1 if cell.delay else -1
    found = [play(cell.world, cell.policy, effects, seed + run, best) for run in range(runs)]
    when = [one.steps[1] if cell.delay else one.first for one in found]
    stopped = sorted(step for step in when if step)
    beyond = [step or 10**9 for step in when]
    return {
        "key": cell.key, "runs": runs, "seed": seed, "stopped": 100 * len(stopped) / runs,
        "median": median(beyond) if median(beyond) < 10**9 else None,
        "missing": 100 * sum(one.missing is not None for one in found) / runs,
        "seconds": time.process_time() - began,
    }  # fmt: skip


def read(path: Path) -> dict[str, dict[str, Any]]:
    """The result of each cell with the most runs."""
    found: dict[str, dict[str, Any]] = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        result = json.loads(line)
        if result["runs"] >= found.get(result["key"], {"runs": 0})["runs"]:
            found[result["key"]] = result
    return found


def percent(value: float) -> str:
    return f"{value:.0f} %" if value in (0, 100) else f"{value:.1f} %"


def table(head: str, rows: list[str]) -> str:
    names = head.strip("| ").split(" | ")
    left = ("secondary total", "limit", "policy")
    return "\n".join([head, "|" + "|".join("---" if name in left else "--:" for name in names) + "|", *rows])


def false_rows(results: dict[str, dict[str, Any]]) -> list[str]:
    rows = []
    for world in worlds():
        words = {"relative": "+10%", "fixed": "fixed", "at least": "at least −10%"}[world.kind]
        name = world.name + (", is the reward" if world.played_on == "the metric" else "")
        for policy in POLICIES:
            limit = -LIMIT if world.kind == "at least" else LIMIT
            known = [results.get(Cell(world, policy, effect, False).key) for effect in (limit, 0.0)]
            if known[0] is None:
                continue
            shares = ["not played" if one is None else percent(one["stopped"]) for one in known]
            columns = [name, words, str(world.variants), f"`{policy}`", str(known[0]["runs"]), *shares]
            rows.append("| " + " | ".join(columns) + " |")
    return rows


def delay_rows(results: dict[str, dict[str, Any]]) -> list[str]:
    rows = []
    for total in DELAYS:
        for policy in POLICIES[:3]:
            for factor in (1.5, 2.0):
                known = results.get(Cell(GuardWorld(total), policy, factor * LIMIT, True).key)
                if known is not None:
                    step = "—" if known["median"] is None else f"{known['median']:,.0f}"
                    columns = [total.name, f"`{policy}`", str(known["runs"]), f"+{100 * factor * LIMIT:g} %"]
                    rows.append("| " + " | ".join([*columns, percent(known["stopped"]), step]) + " |")
    return rows


def write(results: dict[str, dict[str, Any]]) -> None:
    """Put the tables between their marks in the guide."""
    text = DOCUMENT.read_text()
    made = {
        "false stops": table(FALSE_HEAD, false_rows(results)),
        "delays": table(DELAY_HEAD, delay_rows(results)),
    }
    for name, body in made.items():
        begin, end = f"<!-- table: {name} -->\n", f"\n<!-- end: {name} -->"
        before, rest = text.split(begin)
        text = before + begin + "\n" + body + "\n" + end + rest.split(end)[1]
    DOCUMENT.write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--only", default="", help="cells whose key contains this")
    parser.add_argument("--policies", nargs="+", default=list(POLICIES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--results", type=Path, default=ROOT / "out" / "guards.jsonl")
    parser.add_argument("--write", action="store_true", help="write the tables of the guide from the results")
    asked = parser.parse_args()
    if asked.write:
        write(read(asked.results))
        return
    warnings.simplefilter("ignore", AfterglowWarning)
    compile_kernels()
    asked.results.parent.mkdir(parents=True, exist_ok=True)
    for cell in cells(asked.policies):
        runs = asked.runs // (4 if cell.delay else 1)
        known = read(asked.results).get(cell.key, {"runs": 0})["runs"]
        if known >= runs or asked.only not in cell.key:
            continue
        try:
            player(cell.world, cell.policy, 1)
        except AfterglowError:  # too short for this policy
            continue
        result = measure(cell, runs, asked.seed)
        with asked.results.open("a") as file:
            file.write(json.dumps(result) + "\n")
        print(cell.key, json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
