"""Time the engine: all items, or those named.

    python bench/run.py [step peers hold skip trillion elimination threads start memory] [--write-docs]

Prints each item's goal, what was measured, and whether it is met; `bench/out/` keeps everything as JSON and
Markdown. Items measured one by one on one machine add up there; another machine or version starts anew.
`--write-docs` writes `docs/speed.md` from what is there, and refuses if an item is missing.
"""

import json
import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import memory
import peers
import start
import step
import threads
import tiers
from machine import machine
from page import page, summary

from afterglow.errors import AfterglowWarning
from figures import Item

HERE = Path(__file__).parent
OUT = HERE / "out"
RESULTS = OUT / "speed.json"
PAGE = HERE.parent / "docs" / "speed.md"
ITEMS: dict[str, Callable[[Path], Item]] = {
    "step": step.measure,
    "peers": peers.measure,
    "hold": tiers.measure_hold,
    "skip": tiers.measure_skip,
    "trillion": tiers.measure_trillion,
    "elimination": tiers.measure_elimination,
    "threads": threads.measure,
    "start": start.measure,
    "memory": memory.measure,
}


def earlier(here: dict[str, str]) -> dict[str, Any]:
    """What is already known of this machine and these versions."""
    if RESULTS.exists():
        results: dict[str, Any] = json.loads(RESULTS.read_text())
        if results["machine"] == here:
            return results
    return {"machine": here, "items": {}}


def main(arguments: list[str]) -> int:
    wanted = [name for name in arguments if name != "--write-docs"]
    if unknown := [name for name in wanted if name not in ITEMS]:
        print(f"no item named {unknown[0]!r}; items are {', '.join(ITEMS)}", file=sys.stderr)
        return 2
    OUT.mkdir(exist_ok=True)
    results = earlier(machine())
    if not wanted and "--write-docs" not in arguments:
        wanted = list(ITEMS)
    load = os.getloadavg()[0]  # before anything here adds to it
    for name in wanted:
        item = replace(ITEMS[name](OUT), load=load)
        results["items"][name] = asdict(item)
        print(item.markdown(), flush=True)
        RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False))
    items = [Item.of(results["items"][name]) for name in ITEMS if name in results["items"]]
    (OUT / "speed.md").write_text(page(results["machine"], items))
    print(summary(items))
    if "--write-docs" in arguments:
        if missing := [name for name in ITEMS if name not in results["items"]]:
            print(f"docs/speed.md needs all items, not yet measured: {', '.join(missing)}", file=sys.stderr)
            return 1
        PAGE.write_text(page(results["machine"], items))
    return 0


if __name__ == "__main__":
    warnings.simplefilter("ignore", AfterglowWarning)
    sys.exit(main(sys.argv[1:]))
