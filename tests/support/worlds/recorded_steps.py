"""Recorded steps of a known world: Bernoulli rewards spread by a kernel for each arm, arms held at random."""

import numpy as np
from numpy.typing import NDArray

from afterglow.lab.reading.tables import Steps

MEANS = np.array([0.3, 0.5, 0.6])
LEVEL_KERNELS = np.zeros((3, 24))  # level within the bins of a fit: even, at once, late
LEVEL_KERNELS[0] = 1 / 24
LEVEL_KERNELS[1, 0] = 1.0
LEVEL_KERNELS[2, 16:] = 1 / 8
LATE = np.eye(24)[[23, 23, 23]]  # all at the last lag


def recorded(seed: int, steps: int, hold: int, kernels: NDArray[np.float64] = LEVEL_KERNELS) -> Steps:
    """Arms drawn at random, each held for half to one and a half times `hold` steps."""
    random = np.random.default_rng(seed)
    arms: list[int] = []
    while len(arms) < steps:
        arms += [int(random.integers(3))] * int(hold * (0.5 + random.random()))
    played = np.array(arms[:steps])
    rewards = (random.random(steps) < MEANS[played]).astype(float)
    totals = np.zeros(steps + kernels.shape[1])
    for lag in range(kernels.shape[1]):
        totals[lag : lag + steps] += rewards * kernels[played, lag]
    return Steps(list(range(steps)), ["ABC"[arm] for arm in played], totals[:steps].tolist(), [])


def as_csv(steps: Steps) -> str:
    rows = zip(steps.step, steps.arm, steps.total, strict=True)
    return "step,arm,total\n" + "".join(f"{step},{arm},{total!r}\n" for step, arm, total in rows)
