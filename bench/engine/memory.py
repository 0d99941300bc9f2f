"""Peak memory of a fresh process, at growing horizons."""

import subprocess
import sys
from pathlib import Path

from bench.report.figures import Figure, Item, digits

CASES = {"skip": (1e6, 1e9, 1e12), "step": (1e6, 1e7, 1e8)}
SCRIPT = """
import sys
from pathlib import Path
from bench.engine.workload import play
play(sys.argv[1], float(sys.argv[2]), 1)
status = Path("/proc/self/status")
if status.exists():
    print(next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM")))
else:
    import resource
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)  # bytes outside Linux
"""


def peak(engine: str, horizon: float) -> float:
    """MiB at the most, of a process that plays one run."""
    command = [sys.executable, "-c", SCRIPT, engine, str(horizon)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout) / 1024


def measure(folder: Path) -> Item:
    figures, rows = [], []
    for engine, horizons in CASES.items():
        peak(engine, horizons[0])  # compiles, if nothing is kept yet
        peaks = [min(peak(engine, horizon) for _ in range(3)) for horizon in horizons]
        rows += [[f"`{engine}`", f"{T:.0e}", digits(size)] for T, size in zip(horizons, peaks, strict=True)]
        growth = peaks[-1] / peaks[0]
        figures.append(
            Figure(f"`{engine}`: peak at T = {horizons[-1]:.0e} over that at 1e6", growth, "×", at_most=1.02)
        )
    note = "A fresh process that plays one run of phased-ucb; nearly all of it is Python, NumPy and Numba."
    return Item("memory", "Memory", figures, ["engine", "horizon", "MiB at the most"], rows, [note])
