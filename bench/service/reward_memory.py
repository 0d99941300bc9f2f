"""Memory of the service over a million rewards, of one total and of eight units."""

from pathlib import Path

from bench.report.figures import Figure, Item, digits
from bench.service.databases import sqlite_file
from bench.service.load import Plan, load
from testbed.service import Serving

REWARDS = 1_000_000
STEP = 100_000  # rewards in a step
BATCH = 500
CONNECTIONS = 8
UNITS = 8
EXPERIMENT = {"name": "shipping", "variants": ["49", "59", "69"], "window": 24, "reward_max": 1e9}
WITH_UNITS = {
    "name": "shipping", "variants": ["49", "59", "69"], "window": 24, "horizon": 1000,
    "units": [f"u{unit}" for unit in range(UNITS)],
}  # fmt: skip
PATH = "/v1/experiments/shipping"


def mebibytes(process: int) -> float:
    """What a process has in memory now."""
    status = Path(f"/proc/{process}/status").read_text().splitlines()
    return int(next(line.split()[1] for line in status if line.startswith("VmRSS"))) / 1024


def sizes_of(folder: Path, experiment: dict[str, object], units: int) -> list[float]:
    """What the service has in memory before the first reward, and after each step."""
    sizes, total = list[float](), 0
    with sqlite_file(folder) as address, Serving(address, "--rate-limit", "1e9") as service, service.client() as client:
        client.post("/v1/experiments", json=experiment).raise_for_status()
        assert service.process is not None
        sizes.append(mebibytes(service.process.pid))
        plan = Plan(
            service.port,
            f"{PATH}/rewards",
            service.token,
            CONNECTIONS,
            requests=STEP // BATCH,
            batch=BATCH,
            units=units,
        )
        for step in range(REWARDS // STEP):
            load(plan)
            closed = client.post(f"{PATH}/steps/{step}", json={"total": None}).raise_for_status().json()
            total += closed["total"]
            sizes.append(mebibytes(service.process.pid))
    if total != REWARDS:
        raise SystemExit(f"{REWARDS:,} rewards of 1 were sent, the totals add up to {total:,}")
    return sizes


def measure(folder: Path) -> Item:
    sizes, by_unit = sizes_of(folder, EXPERIMENT, 0), sizes_of(folder, WITH_UNITS, UNITS)
    half = REWARDS // STEP // 2
    figures = [
        Figure(f"after {REWARDS:,} over after {STEP:,}", sizes[-1] / sizes[1], "×", at_most=1.05),
        Figure(f"after {REWARDS:,} over after {half * STEP:,}", sizes[-1] / sizes[half], "×", at_most=1.02),
        Figure(f"{UNITS} units: after {REWARDS:,} over after {STEP:,}", by_unit[-1] / by_unit[1], "×", at_most=1.05),
        Figure(f"{UNITS} units: after {REWARDS:,} over after {half * STEP:,}", by_unit[-1] / by_unit[half], "×"),
    ]
    rows = [
        [f"{count * STEP:,}", digits(sizes[count]), digits(by_unit[count])] for count in (0, 1, 2, half, len(sizes) - 1)
    ]
    note = (
        f"In SQLite, {BATCH} rewards a request on {CONNECTIONS} connections, {STEP:,} in a step; their keys are erased "
        "as steps close."
    )
    return Item(
        "rewards-memory",
        "Memory over a million rewards",
        figures,
        ["rewards", "MiB in use", f"MiB, {UNITS} units"],
        rows,
        [note],
    )
