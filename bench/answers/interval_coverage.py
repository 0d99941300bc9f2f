"""How often intervals hold the truth and grades are right: the tables of docs/coverage.md.

A cell is a world of `testbed/coverage_worlds.py` and a policy. Each cell is played many times with an `Agent`; the
verdict is read every ten steps (the functions that decide `clear` and `proven`), and as `Agent.verdict()` gives it at
the end. Every portion of runs is a line of counts in the results file, and portions of a cell add up: a measurement can
be stopped and continued, and all cells have about the same number of runs at any time.

    python bench/answers/interval_coverage.py [--runs 100] [--only rare] [--policies lean-ucb] [--seed 0] [--write]
"""

import argparse
import json
import math
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from afterglow.errors import AfterglowWarning

ROOT = Path(__file__).parents[2]
from testbed.coverage import EVERY, CoverageWorld, play  # noqa: E402
from testbed.coverage_worlds import OUTSIDE, POWER, STEADY, WORLDS  # noqa: E402
from testbed.quick_agent import compile_kernels  # noqa: E402

POLICIES = ("thrift-ucb", "thrift-ucb, knowing", "lean-ucb", "trim-ucb", "leak-ucb", "switchback", "random-turns")
DOCUMENT = ROOT / "docs" / "coverage.md"
LEAST, MOST = 93.0, 5.0  # percent: intervals that hold the truth, errors of each kind
STEPS = 600  # from which on intervals may be missing in few runs where noise is independent
LONG, FEWER = 10_000, 4  # steps from which on a world has a quarter of the runs
PORTION = 25  # runs that are played and written together
HEAD = "| world | window | steps | policy | runs | holds | missing | wrong clear | wrong proven | wrong alarm |"
POWER_HEAD = "| world | policy | runs | best found | clear at the end | clear before half | oracle |"


def key(world: CoverageWorld, policy: str, every: int) -> str:
    return f"{world.name} | {world.window} | {world.steps} | {policy}" + ("" if every == EVERY else f" | {every}")


COUNTED = (
    "told", "held", "wrong_clear", "wrong_proven", "wrong_alarm", "alarm", "clear", "clear_before_half", "proven",
    "oracle", "best_found", "lingers",
)  # fmt: skip


def measure(world: CoverageWorld, policy: str, seeds: range, every: int, power: bool) -> dict[str, Any]:
    """A portion of a cell's runs, as counts."""
    began = time.process_time()
    found = [play(world, policy, seed, every, power) for seed in seeds]
    counts = {name: sum(bool(getattr(one, name)) for one in found) for name in COUNTED}
    reasons = Counter(one.reason.split(" over about")[0] for one in found if one.reason)
    return {
        "world": world.name, "window": world.window, "steps": world.steps, "policy": policy, "every": every,
        "runs": len(found), "first": seeds[0], **counts, "reasons": reasons, "seconds": time.process_time() - began,
    }  # fmt: skip


def read(path: Path) -> dict[str, dict[str, Any]]:
    """All portions of each cell, added up, and shares in percent."""
    found: dict[str, dict[str, Any]] = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        portion = json.loads(line)
        if (cell := found.setdefault(portion["key"], portion)) is not portion:
            for name in (*COUNTED, "runs", "seconds"):
                cell[name] += portion[name]
    return {key: shares(cell) for key, cell in found.items()}


def shares(cell: dict[str, Any]) -> dict[str, Any]:
    """The counts of a cell as percents, of all runs; those of intervals that hold, of the intervals that were given."""
    share = {name: 100 * cell[name] / cell["runs"] for name in COUNTED}
    missing, holds = 100 - share["told"], 100 * cell["held"] / cell["told"] if cell["told"] else None
    return {**cell, **share, "told": cell["told"], "missing": missing, "holds": holds}


def percent(value: float | None) -> str:
    if value is None:
        return "missing"
    return f"{value:.0f} %" if value in (0, 100) else f"{value:.1f} %"


def passes(cell: dict[str, Any]) -> bool:
    """Whether a cell meets the lines, within what its number of runs can tell (two standard errors)."""
    errors = max(cell["wrong_clear"], cell["wrong_proven"], cell["wrong_alarm"])
    low = LEAST - 200 * math.sqrt(0.07 * 0.93 / max(1, cell["told"]))
    high = MOST + 200 * math.sqrt(0.05 * 0.95 / cell["runs"])
    if cell["world"] in {world.name for world in STEADY} and cell["steps"] >= STEPS:
        errors = max(errors, cell["missing"])
    return bool((cell["holds"] is None or cell["holds"] >= low) and errors <= high)


def row(cell: dict[str, Any]) -> str:
    columns = [cell["world"], f"{cell['window']}", f"{cell['steps']:,}", f"`{cell['policy']}`", f"{cell['runs']}"]
    columns += [percent(cell[name]) for name in ("holds", "missing", "wrong_clear", "wrong_proven", "wrong_alarm")]
    return "| " + " | ".join(columns) + " |"


def power_row(cell: dict[str, Any]) -> str:
    columns = [cell["world"], f"`{cell['policy']}`", f"{cell['runs']}"]
    columns += [percent(cell[name]) for name in ("best_found", "clear", "clear_before_half", "oracle")]
    return "| " + " | ".join(columns) + " |"


def table(head: str, rows: list[str]) -> str:
    names = head.strip("| ").split(" | ")
    line = "|" + "|".join("---" if name in ("world", "policy") else "--:" for name in names) + "|"
    return "\n".join([head, line, *rows])


def tables(cells: dict[str, dict[str, Any]]) -> dict[str, str]:
    """The tables of the document, by the name of their place."""

    def chosen(worlds: list[CoverageWorld], every: int = EVERY) -> list[dict[str, Any]]:
        keys = [key(world, policy, every) for world in worlds for policy in POLICIES]
        return [cells[one] for one in keys if one in cells]

    return {
        "coverage": table(HEAD, [row(cell) for cell in chosen(WORLDS)]),
        "power": table(POWER_HEAD, [power_row(cell) for cell in chosen(POWER)]),
        "outside": table(HEAD, [row(cell) for cell in chosen(OUTSIDE)]),
        "every": table(HEAD, [row(cell) for cell in chosen(WORLDS[:1], 1)]),
    }


def merged(old: str, new: str) -> str:
    """A table with the rows of another one that it doesn't have, in their order: results may be some of the cells."""
    rows, fresh = old.strip().splitlines()[2:], new.splitlines()[2:]
    known = {cell_of(line): line for line in fresh}
    kept = [known.pop(cell_of(line), line) for line in rows]
    return "\n".join([*new.splitlines()[:2], *kept, *known.values()])


def cell_of(line: str) -> tuple[str, ...]:
    """World, window, steps and policy of a row; of the table of power, world and policy."""
    columns = line.strip("| ").split(" | ")
    return tuple(columns[:4] if len(columns) > 7 else columns[:2])


def write(cells: dict[str, dict[str, Any]]) -> None:
    """Put the tables between their marks in the document."""
    text = DOCUMENT.read_text()
    for name, body in tables(cells).items():
        begin, end = f"<!-- table: {name} -->\n", f"\n<!-- end: {name} -->"
        before, rest = text.split(begin)
        old, after = rest.split(end)
        text = before + begin + "\n" + merged(old, body) + "\n" + end + after
    DOCUMENT.write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--only", nargs="+", default=[""], help="worlds whose name contains one of these")
    parser.add_argument("--policies", nargs="+", default=list(POLICIES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--results", type=Path, default=ROOT / "out" / "coverage.jsonl")
    parser.add_argument("--write", action="store_true", help="write the tables of docs/coverage.md from the results")
    asked = parser.parse_args()
    if asked.write:
        write(read(asked.results))
        return
    warnings.simplefilter("ignore", AfterglowWarning)
    compile_kernels()
    asked.results.parent.mkdir(parents=True, exist_ok=True)
    plan = [(world, EVERY, False) for world in [*WORLDS, *OUTSIDE]]
    plan += [(world, EVERY, True) for world in POWER] + [(WORLDS[0], 1, False)]
    plan = [cell for cell in plan if any(part in cell[0].name for part in asked.only)]
    cells = [(*cell, policy) for cell in plan for policy in asked.policies if cell[0].possible(policy)]
    for runs in range(PORTION, asked.runs + PORTION, PORTION):
        known = read(asked.results)
        for world, every, power, policy in cells:
            name = key(world, policy, every)
            done = known.get(name, {"runs": 0})["runs"]
            if done >= min(runs, asked.runs) // (FEWER if world.steps >= LONG else 1):
                continue
            seeds = range(asked.seed + done, asked.seed + done + PORTION)
            portion = {"key": name, **measure(world, policy, seeds, every, power)}
            with asked.results.open("a") as file:
                file.write(json.dumps(portion) + "\n")
            cell = read(asked.results)[name]
            print("ok  " if passes(cell) else "FAIL", row(cell), f"{portion['seconds']:.0f} s", flush=True)


if __name__ == "__main__":
    main()
