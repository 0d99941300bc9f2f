"""`step` beside the same algorithm in C."""

import ctypes
import subprocess
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterglow.engine.outcome import Outcome
from afterglow.policies.phased_ucb import configure
from bench.engine.workload import MEANS, SEED, WINDOW, play
from bench.report.figures import Figure, Item, digits
from bench.report.machine import CC
from bench.report.timing import race

HERE = Path(__file__).parent
FLAGS = ["-O3", "-march=native", "-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
HORIZON = 1_000_000
RUNS = 40
DOUBLES = ctypes.POINTER(ctypes.c_double)


class Setting(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int64) for name in ("arms", "window", "horizon", "hold")),
        ("width", ctypes.c_double),
        ("means", DOUBLES),
        ("weights", DOUBLES),
    )


@dataclass(frozen=True)
class Played:
    """Runs played in C."""

    pulls: NDArray[np.int64]
    facts: NDArray[np.float64]  # seen, pending, generated

    def equals(self, outcome: Outcome) -> bool:
        """The same to the last bit; regret is the pulls times the gaps."""
        ours = np.stack([outcome.seen, outcome.pending, outcome.generated], axis=1)
        return np.array_equal(self.pulls, outcome.pulls) and np.array_equal(self.facts, ours)


def compiled(folder: Path) -> Any:
    """The reference as machine code."""
    library = folder / "reference.so"
    subprocess.run([CC, *FLAGS, "-o", library, HERE / "reference.c", "-lm"], check=True)
    return ctypes.CDLL(str(library)).phased_ucb


def play_in_c(reference: Any, horizon: int, runs: int, window: int = WINDOW) -> Played:
    """The same runs as `play("step", …)`."""
    chosen = configure(len(MEANS), window, horizon)
    means, weights = np.array(MEANS), np.full(window, 1.0 / window)
    setting = Setting(
        len(MEANS), window, horizon, chosen.hold, chosen.width, means.ctypes.data_as(DOUBLES),
        weights.ctypes.data_as(DOUBLES),
    )  # fmt: skip
    played = Played(np.zeros((runs, len(MEANS)), np.int64), np.zeros((runs, 3)))
    reference(
        ctypes.byref(setting), ctypes.c_uint64(SEED), ctypes.c_int64(runs), ctypes.c_void_p(played.pulls.ctypes.data),
        ctypes.c_void_p(played.facts.ctypes.data),
    )  # fmt: skip
    return played


def measure(folder: Path) -> Item:
    reference = compiled(folder)
    for window in (1, 8, WINDOW, 33):
        if not play_in_c(reference, 300_000, 4, window).equals(play("step", 300_000, 4, window=window)):
            raise SystemExit(f"the reference in C and the step engine disagree at window {window}; see reference.c")
    times = race({
        "C": partial(play_in_c, reference, HORIZON, RUNS),
        "step": partial(play, "step", HORIZON, RUNS),
    }, rounds=9)  # fmt: skip
    each = {name: time.per(HORIZON * RUNS / 1e9) for name, time in times.items()}
    ratio = Figure(
        "time of `step` over that of C", each["step"].cpu / each["C"].cpu, "×", at_most=1.25,
        wall=each["step"].wall / each["C"].wall,
    )  # fmt: skip
    return Item(
        "step", "`step` beside the same algorithm in C", [ratio], ["", "ns a step"],
        [[name, digits(time.cpu)] for name, time in each.items()],
        [
            f"phased-ucb, five Bernoulli arms, uniform spread over {WINDOW} steps, T = 1e6, {RUNS} runs; C by "
            f"`{' '.join([Path(CC).name, *FLAGS[:2]])}`. On the same seed both make the same pulls and see the same "
            "sums to the last bit, which is checked first, over windows of 1, 8, 10 and 33."
        ],
    )  # fmt: skip
