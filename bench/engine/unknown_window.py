"""auto-wash by the engine beside a second implementation with NumPy, without the engine.

    python bench/engine/unknown_window.py [RUNS]

Five arms in each of their 120 orders equally often, T = 100,000, window 200, spread `last`. The two draw their own
rewards, so their means agree up to chance: the program fails if they differ by more than four standard errors.
"""

import math
import sys
from itertools import permutations

import numpy as np

from afterglow import World, simulate

MEANS, WINDOW, HORIZON = (0.9, 0.8, 0.7, 0.6, 0.5), 200, 100_000


class Run:
    """One run: totals as prefix sums, and a list of (arm, first step, steps)."""

    def __init__(self, means: tuple[float, ...], seed: int) -> None:
        self.means, self.draws = np.array(means), np.random.default_rng(seed).random(HORIZON)
        self.due, self.sums = np.zeros(HORIZON + WINDOW), np.zeros(HORIZON + 1)
        self.now, self.regret, self.window = 0, 0.0, 1
        self.runs: list[list[int]] = []

    def play(self, arm: int, steps: int) -> None:
        steps, now = min(steps, HORIZON - self.now), self.now
        self.due[now + WINDOW - 1 : now + WINDOW - 1 + steps] += self.draws[now : now + steps] < self.means[arm]
        self.sums[now + 1 : now + steps + 1] = self.sums[now] + np.cumsum(self.due[now : now + steps])
        self.regret += steps * (self.means.max() - self.means[arm])
        self.now += steps
        self.runs[-1][2] += steps

    def mean(self, first: int, last: int) -> float:
        """Of the current run, over the steps after `first` up to `last`."""
        begun = self.runs[-1][1]
        return float(self.sums[begun + last] - self.sums[begun + first]) / (last - first)

    def choice(self) -> tuple[int, int]:
        kept, total = np.zeros(len(MEANS), int), np.zeros(len(MEANS))
        for arm, begun, steps in self.runs:
            if steps >= 2 * self.window:
                kept[arm] += steps - self.window + 1
                total[arm] += self.sums[begun + steps] - self.sums[begun + self.window - 1]
        known = np.maximum(kept, 1)
        index = np.where(kept > 0, total / known + np.sqrt(0.5 * math.log(max(self.now, 1)) / known), np.inf)
        arm = int(np.argmax(index))
        return arm, int(kept[arm])

    def settle(self, arm: int, most: int) -> None:
        while self.now < HORIZON:
            steps = self.runs[-1][2]
            early, late = self.mean(steps // 4, steps // 2), self.mean(steps // 2, steps)
            if late > 0 and abs(early - late) <= 1.5 * math.sqrt(variance(late) * 6 / steps):
                return
            if 2 * steps > most:
                return
            self.play(arm, steps)

    def test(self) -> None:
        steps, w, found = self.runs[-1][2], self.window, 0
        while 3 * w <= steps:
            early, late = self.mean(w - 1, 2 * w - 1), self.mean(2 * w - 1, steps)
            limit = math.sqrt(2 * math.log(HORIZON) * variance(late) * (1 / w + 1 / (steps - 2 * w)))
            found = w if abs(early - late) > limit else found
            w *= 2
        self.window = 2 * found or self.window

    def whole(self) -> float:
        least = math.ceil(2 * math.sqrt(HORIZON / len(MEANS)))
        while self.now < HORIZON:
            arm, kept = self.choice()
            if self.runs and self.runs[-1][0] == arm:
                self.play(arm, max(least, self.window, math.ceil(kept / 2)))
            else:
                steps = max(least, 2 * self.window, self.window - 1 + math.ceil(kept / 2))
                first = not self.runs
                self.runs.append([arm, self.now, 0])
                self.play(arm, steps)
                most = max(4 * steps, HORIZON // (4 * len(MEANS))) if first else max(4 * least, 8 * self.window)
                self.settle(arm, most)
            self.test()
        return self.regret


def variance(mean: float) -> float:
    return 0.25 if mean >= 1 else max(mean * (1 - mean), 0.05)


def main(runs: int) -> None:
    orders = list(permutations(MEANS))
    each = max(1, runs // len(orders))
    played = [(means, seed * len(orders) + number) for number, means in enumerate(orders) for seed in range(each)]
    own = np.array([Run(means, seed).whole() for means, seed in played])
    engine = np.concatenate([
        simulate("auto-wash", World.of(means, WINDOW, "last"), HORIZON, runs=each, seed=number).regrets
        for number, means in enumerate(orders, 1)
    ])  # fmt: skip
    error = [float(one.std(ddof=1)) / math.sqrt(one.size) for one in (own, engine)]
    print(f"second implementation: {own.mean():,.0f} ± {error[0]:.0f} over {own.size:,} runs")
    print(f"the engine:            {engine.mean():,.0f} ± {error[1]:.0f} over {engine.size:,} runs")
    if abs(own.mean() - engine.mean()) > 4 * math.hypot(*error):
        raise SystemExit("they differ by more than four standard errors")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)
