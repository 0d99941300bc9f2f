"""A server under load, time and again: medians of what its callers see, and the CPU that it takes."""

import os
from pathlib import Path
from statistics import median

from bench.report.figures import digits
from bench.service.load import Plan, Result, load

COLUMNS = ["p50, ms", "p99, ms", "µs of CPU a request", "load's own CPU"]


class Contender:
    def __init__(self, plan: Plan, process: int) -> None:
        self.plan = plan
        self.process = process
        self.results = list[Result]()
        self.costs = list[float]()  # microseconds of CPU a request
        self.accepted = 0  # rewards in all

    def run(self, counted: bool = True) -> None:
        """Load it once; the first time is not counted."""
        before = cpu_of(self.process)
        result = load(self.plan)
        self.accepted += result.accepted
        if counted:
            self.results.append(result)
            self.costs.append(1e6 * (cpu_of(self.process) - before) / sum(result.statuses.values()))

    @property
    def rate(self) -> float:
        """Answers a second."""
        return median(result.rate for result in self.results)

    @property
    def cpu(self) -> float:
        return median(self.costs)

    def cells(self, each: int = 1) -> list[str]:
        """Rate, with `each` things in an answer, and `COLUMNS`."""
        p50, p99 = (1000 * median(getattr(result, name) for result in self.results) for name in ("p50", "p99"))
        busy = max(result.busy for result in self.results)
        return [digits(each * self.rate), digits(p50), digits(p99), digits(self.cpu), f"{100 * busy:.0f} %"]


def cpu_of(process: int) -> float:
    """Seconds of CPU that a process took so far."""
    user, system = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
