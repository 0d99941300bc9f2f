"""Make a plan in a process of its own, for programs that must bound its time and memory: `python -m
afterglow.lab.plan.process`.

It reads a question from standard input as JSON: `plan`, the arguments of `plan`; `seconds` of processor time and
`memory` in bytes that it may use. It writes JSON lines: `{"done": 0.4, "what": "…"}` while it works, and at the end
`{"plan": …, "begins": …}`, or `{"refused": "…", "field": "…"}` with a sentence, in which arguments are marked as in
`afterglow.errors`, and the argument at fault. `begins` is the time after the last step of the
history in seconds since 1970, with times that have no zone taken as UTC; null if it is not known.
"""

import json
import os
import resource
import sys
from typing import Any

from afterglow.errors import AfterglowError
from afterglow.lab.plan.past_totals import time_after
from afterglow.lab.plan.planner import plan
from afterglow.lab.reading.tables import read_totals

NICE = 10  # the service comes first
GRACE = 5  # seconds from the signal that time is up to the one that ends the process


def limit(seconds: int, memory: int) -> None:
    """Give way to others; end after so much processor time, refuse more memory."""
    os.nice(NICE)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + GRACE))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main() -> None:
    question = json.load(sys.stdin)
    limit(question["seconds"], question["memory"])
    given: dict[str, Any] = question["plan"]
    try:
        found = plan(**given, threads=1, progress=lambda done, what: say({"done": done, "what": what}))
        say({"plan": found.to_dict(), "begins": begins(given)})
    except AfterglowError as error:
        say({"refused": error.marked(), "field": error.field})
    except MemoryError:
        say({"refused": "the plan needs more memory than a plan may have here; use fewer variants or a shorter file"})


def begins(given: dict[str, Any]) -> float | None:
    """When the step after the last one of the history begins."""
    if given.get("history") is None:
        return None
    reading = {name: value for name, value in (given.get("reading") or {}).items() if name != "expected"}
    return time_after(read_totals(given["history"], **reading))


def say(line: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(line, allow_nan=False) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
