"""Time the engine and the service: all items, those of a section, or those named.

    python bench/run.py [engine | live | ITEM]... [--write-docs | --write-sections]

    engine: step peers hold skip trillion elimination every-step gym long threads start memory units fit-rows
    live:   current lanes frozen rewards-sqlite rewards-postgres rewards-memory decision million kills
            simulation

Prints each item's goal, what was measured, and whether it is met; `bench/out/` keeps everything as JSON and
Markdown. Items measured one by one on one machine add up there; another machine or version starts anew.
`--write-docs` writes `docs/speed.md` from what is there, and refuses if an item is missing; `--write-sections` puts the
items just measured into the page as it is, with the processor if it is another one.
"""

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from afterglow.errors import AfterglowWarning
from bench.engine import every_step, fit_rows, memory, peers, start, step, threads, tiers
from bench.report.figures import Item
from bench.report.machine import machine
from bench.report.page import page, summary, with_section
from bench.service import current, decision, frozen, kills, lanes, million, reward_memory, rewards, simulation
from bench.units import units

HERE = Path(__file__).parent
OUT = HERE / "out"
RESULTS = OUT / "speed.json"
PAGE = HERE.parent / "docs" / "speed.md"
ENGINE: dict[str, Callable[[Path], Item]] = {
    "step": step.measure,
    "peers": peers.measure,
    "hold": tiers.measure_hold,
    "skip": tiers.measure_skip,
    "trillion": tiers.measure_trillion,
    "elimination": tiers.measure_elimination,
    "every-step": every_step.measure,
    "gym": every_step.measure_gym,
    "long": every_step.measure_long,
    "threads": threads.measure,
    "start": start.measure,
    "memory": memory.measure,
    "units": units.measure,
    "fit-rows": fit_rows.measure,
}
LIVE: dict[str, Callable[[Path], Item]] = {
    "current": current.measure,
    "lanes": lanes.measure,
    "frozen": frozen.measure,
    "rewards-sqlite": rewards.measure_sqlite,
    "rewards-postgres": rewards.measure_postgres,
    "rewards-memory": reward_memory.measure,
    "decision": decision.measure,
    "million": million.measure,
    "kills": kills.measure,
    "simulation": simulation.measure,
}
SECTIONS = {"engine": ENGINE, "live": LIVE}
ITEMS = ENGINE | LIVE


def earlier(here: dict[str, str]) -> dict[str, Any]:
    """What is already known of this machine and these versions."""
    if RESULTS.exists():
        results: dict[str, Any] = json.loads(RESULTS.read_text())
        if results["machine"] == here:
            return results
    return {"machine": here, "items": {}}


def chosen(arguments: list[str]) -> list[str]:
    """The items to measure: all of them, unless some are named or only the page is wanted."""
    if not arguments:
        return list(ITEMS)
    given = [name for name in arguments if not name.startswith("--write-")]
    return [item for name in given for item in SECTIONS.get(name, [name])]


def known(results: dict[str, Any], names: Iterable[str]) -> list[Item]:
    return [Item.of(results["items"][name]) for name in names if name in results["items"]]


def main(arguments: list[str]) -> int:
    wanted = chosen(arguments)
    if unknown := [name for name in wanted if name not in ITEMS]:
        names = ", ".join([*SECTIONS, *ITEMS])
        print(f"no item named {unknown[0]!r}; items and sections are {names}", file=sys.stderr)
        return 2
    OUT.mkdir(exist_ok=True)
    results = earlier(machine())
    load = os.getloadavg()[0]  # before anything here adds to it
    for name in wanted:
        item = replace(ITEMS[name](OUT), load=load)
        results["items"][name] = asdict(item)
        print(item.markdown(), flush=True)
        RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False))
    text = page(results["machine"], known(results, ENGINE), known(results, LIVE))
    (OUT / "speed.md").write_text(text)
    print(summary(known(results, ITEMS)))
    if "--write-sections" in arguments:
        text = PAGE.read_text()
        for item in known(results, wanted):
            section = next(section for section in SECTIONS.values() if item.name in section)
            before = known(results, list(section)[: list(section).index(item.name)])
            text = with_section(text, item, results["machine"], [one.title for one in before])
        PAGE.write_text(text)
    if "--write-docs" in arguments:
        if missing := [name for name in ITEMS if name not in results["items"]]:
            print(f"docs/speed.md needs all items, not yet measured: {', '.join(missing)}", file=sys.stderr)
            return 1
        PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    warnings.simplefilter("ignore", AfterglowWarning)
    sys.exit(main(sys.argv[1:]))
