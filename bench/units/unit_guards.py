"""How often guards with units stop variants that keep their limit, and how soon one that doesn't: tables of the guide.

A cell is a world of `testbed/unit_guard_worlds.py` and an effect. False stops are measured with all variants but the
control at exactly the mean that is allowed; one counts if it happens to any variant at any step. Delays are measured
with one variant 1.5 or 2 times as far from the control as its limit. A finished cell is one line of the results file,
and isn't played again if the file has it with enough runs.

    python bench/units/unit_guards.py [--runs 100] [--only rho] [--seed 0] [--write]
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parents[2]
from testbed.unit_guard_worlds import DELAYS, WORLDS, UnitsGuardWorld, play  # noqa: E402

DOCUMENT = ROOT / "docs" / "guides" / "guards.md"
NEVER = 10**9

Cell = tuple[str, UnitsGuardWorld, float]  # kind, world, effect in limits


def cells() -> Iterator[Cell]:
    yield from (("false", world, 1.0) for world in WORLDS)
    for factor in (1.5, 2.0):
        yield from (("delay", world, factor) for world in DELAYS)


def key_of(cell: Cell) -> str:
    kind, world, factor = cell
    return f"{kind} | {world.name} | {factor:g}"


def measure(cell: Cell, runs: int, seed: int) -> dict[str, Any]:
    kind, world, factor = cell
    effect, others = factor * world.limit, world.variants - 1
    effects = [0.0, effect, *[0.0] * (others - 1)] if kind == "delay" else [0.0, *[effect] * others]
    found = [play(world, effects, seed + run) for run in range(runs)]
    when = [steps[1] if kind == "delay" else max(steps) for steps in found]
    middle = median(step or NEVER for step in when)
    stopped = sum(step > 0 for step in when)
    return {"key": key_of(cell), "runs": runs, "stopped": stopped, "median": None if middle >= NEVER else middle}


def read(path: Path) -> dict[str, dict[str, Any]]:
    """The result of each cell with the most runs."""
    found: dict[str, dict[str, Any]] = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        result = json.loads(line)
        if result["runs"] >= found.get(result["key"], {"runs": 0})["runs"]:
            found[result["key"]] = result
    return found


def share(result: dict[str, Any]) -> str:
    return f"{result['stopped']} of {result['runs']}"


def tables(results: dict[str, dict[str, Any]]) -> dict[str, str]:
    false = ["| world | runs with a false stop |", "|---|--:|"]
    for world in WORLDS:
        known = results.get(key_of(("false", world, 1.0)))
        if known is not None:
            false.append(f"| {world.name} | {share(known)} |")
    delays = ["| world | effect | stopped | median step of the stop |", "|---|--:|--:|--:|"]
    for world in DELAYS:
        for factor in (1.5, 2.0):
            one = results.get(key_of(("delay", world, factor)))
            if one is not None:
                step = "—" if one["median"] is None else f"{one['median']:,.0f}"
                delays.append(f"| {world.name} | +{100 * factor * world.limit:g} % | {share(one)} | {step} |")
    return {"false stops with units": "\n".join(false), "delays with units": "\n".join(delays)}


def write(results: dict[str, dict[str, Any]]) -> None:
    """Put the tables between their marks in the guide."""
    text = DOCUMENT.read_text()
    for name, body in tables(results).items():
        begin, end = f"<!-- table: {name} -->\n", f"\n<!-- end: {name} -->"
        before, rest = text.split(begin)
        text = before + begin + "\n" + body + "\n" + end + rest.split(end)[1]
    DOCUMENT.write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--only", default="", help="cells whose key contains this")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--results", type=Path, default=ROOT / "out" / "unit_guards.jsonl")
    parser.add_argument("--write", action="store_true", help="write the tables of the guide from the results")
    asked = parser.parse_args()
    if asked.write:
        write(read(asked.results))
        return
    asked.results.parent.mkdir(parents=True, exist_ok=True)
    for cell in cells():
        runs = asked.runs // (5 if cell[0] == "delay" else 1)
        known = read(asked.results).get(key_of(cell), {"runs": 0})["runs"]
        if known >= runs or asked.only not in key_of(cell):
            continue
        result = measure(cell, runs, asked.seed)
        with asked.results.open("a") as file:
            file.write(json.dumps(result) + "\n")
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
