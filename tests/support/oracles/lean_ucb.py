"""Lean UCB once more, as its description reads: one step at a time, every batch in a list. An oracle, not fast."""

import math
from typing import Any

from support.worlds.stationary import World


def scattered(batches: list[list[float]], size: int) -> tuple[float, int]:
    """SS and df."""
    square, freedom = 0.0, 0
    for means in batches:
        square += sum((mean - sum(means) / len(means)) ** 2 for mean in means)
        freedom += max(0, len(means) - 1)
    return size * square, freedom


class Text:
    def __init__(self, K: int, d: int, T: int, P: int = 1, sd0: float = 0.0) -> None:
        self.K, self.d, self.T, self.P, self.sd0 = K, d, T, P, sd0
        self.w = d - 1
        self.h = self.up(math.ceil(d / 2))
        self.b = self.up(max(math.ceil(d / 2), min(d, 8)))
        m1 = max(1, min(max(self.h, math.ceil(7 * T / (100 * K)) - self.w), T // K - self.w))
        self.m1 = m1 if P == 1 else max(P, P * math.floor(m1 / P + 0.5))
        self.alarms = 0
        self.kept, self.B, self.young, self.old, self.O = (self.nothing() for _ in range(5))
        self.open_B: list[float] = []
        self.open_O: list[float] = []

    def nothing(self) -> list[list[float]]:
        """An empty list for each arm."""
        return [[] for _ in range(self.K)]

    def up(self, x: float) -> int:
        return self.P * math.ceil(x / self.P)

    def alarm(self) -> bool:
        square, freedom = scattered(self.O, self.b)
        if self.w == 0 or freedom < 4 or self.w > self.T / (8 * self.K):
            return False
        for young, old in zip(self.young, self.old, strict=True):
            if min(len(young), len(old)) >= math.ceil(self.d / 2):
                radius = math.sqrt(square / freedom * (1 / len(young) + 1 / len(old)))
                if abs(sum(young) / len(young) - sum(old) / len(old)) > 4 * (1 + 6 / freedom) * radius:
                    return True
        return False

    def decide(self, current: int, H: int) -> tuple[int, int]:
        """The next arm and L."""
        if self.alarm():
            self.alarms += 1
            self.w = 2 * self.w + 1
            self.kept, self.B = self.old, self.O
            self.young, self.old, self.O = (self.nothing() for _ in range(3))
            self.open_B, self.open_O = [], []
        for arm in range(self.K):
            if not self.kept[arm]:
                return arm, self.m1
        q = sum(map(sum, self.kept)) / sum(map(len, self.kept))
        square, freedom = scattered(self.B, self.b)
        g0 = self.sd0**2 if self.sd0 else (q / 4) ** 2
        v = max(1e-6, min((2 * g0 + square) / (2 + freedom), q * (1 - q)))

        def index(arm: int) -> float:
            n = len(self.kept[arm])
            return sum(self.kept[arm]) / n + math.sqrt(0.6 * v * max(0, math.log(H / (self.K * n))) / n)

        arm = max(range(self.K), key=lambda a: (index(a), a == current, -a))
        return arm, self.up(max(self.h, 2 * len(self.kept[arm]) / 5))

    def see(self, arm: int, age: int, x: float) -> None:
        if age <= self.w:
            return
        self.kept[arm].append(x)
        self.open_B.append(x)
        if len(self.open_B) == self.b:
            self.B[arm].append(sum(self.open_B) / self.b)
            self.open_B = []
        if age <= 2 * self.w + 1:
            self.young[arm].append(x)
            return
        self.old[arm].append(x)
        self.open_O.append(x)
        if len(self.open_O) == self.b:
            self.O[arm].append(sum(self.open_O) / self.b)
            self.open_O = []

    def play(self, world: World) -> list[int]:
        """The arm of every step."""
        arms: list[int] = []
        current, age = -1, 0
        while len(arms) < self.T:
            arm, steps = self.decide(current, self.T - len(arms))
            if arm != current:
                current, age = arm, 0
                self.open_B, self.open_O = [], []
            for _ in range(min(steps + max(0, self.w - age), self.T - len(arms))):
                age += 1
                arms.append(arm)
                self.see(arm, age, world.hold(arm, 1)[0])
        return arms

    def summary(self) -> dict[str, Any]:
        return {"alarms": self.alarms, "w": self.w, "n": [len(kept) for kept in self.kept]}
