"""`panel-elimination` written down again, slowly, with NumPy matrices, from its specification."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


class Panel:
    """Every slot enters one dense matrix over arms and units, which is inverted at the end of a stage.

    With more than 40 units the first of the two fits is made one slot before the end of a stage.
    """

    def __init__(
        self, arms: int, units: int, window: int, horizon: int, levels: list[float], order: list[int],
        labels: list[int], season: int = 1,
    ) -> None:  # fmt: skip
        K, M = arms, units
        self.K, self.M, self.d, self.T = K, M, window, horizon
        b = max(math.ceil(window / 2), min(window, 8))
        self.b = season * math.ceil(b / season)
        self.W = math.ceil((window - 1) / self.b)
        self.prior = 0.05 if levels else 0.5
        self.v0 = self.v = 0.25**2 / self.b
        told = np.array(levels) if levels else np.zeros(M)
        self.weight = np.clip(told / told.mean(), 0.25, 4) if levels else np.ones(M)
        self.level: list[float] = list(told)
        self.order, self.alive = order, list(labels)
        self.stage, self.left, self.clock = 0, self.W + 1, 0
        self.S, self.r, self.yy = np.zeros((K + M, K + M)), np.zeros(K + M), 0.0
        self.cells = self.slots = 0
        self.age = [0] * M
        self.arm = [0] * M
        self.deal()

    def deal(self) -> bool:
        changed = False
        for place, unit in enumerate(self.order):
            arm = self.alive[(place + self.stage) % len(self.alive)]
            if arm != self.arm[unit]:
                self.arm[unit], self.age[unit], changed = arm, 0, True
        return changed

    def learn(self, steps: int, known: list[int], bodies: list[float]) -> None:
        self.clock += steps
        if steps < self.b:
            return
        self.count(known, bodies)
        self.age = [age + 1 for age in self.age]
        self.left -= 1
        H = (self.T - self.clock) // self.b
        if self.left == 1:
            self.v = self.fit_with(self.v0)[2]
        if self.left == 0 and H > 0 and len(self.alive) > 1:
            t, C, v = self.fit_with(self.v) if self.M > 40 else self.fit()
            lead = max(self.alive, key=lambda arm: float(t[arm]))
            for arm in list(self.alive):
                q = C[lead, lead] + C[arm, arm] - 2 * C[lead, arm]
                if arm != lead and t[lead] - t[arm] > math.sqrt(
                    2 * 0.45 * v * q * max(0.0, math.log(H * self.M * q / self.K))
                ):
                    self.alive.remove(arm)
            self.stage += 1
            self.left = math.ceil(1.5**self.stage) + self.W * self.deal()

    def count(self, known: list[int], bodies: list[float]) -> None:
        rows, values, weights = [], [], []
        for unit in range(self.M):
            if known[unit] == self.b and self.age[unit] >= self.W:
                if self.level[unit] == 0:
                    self.level[unit] = abs(bodies[unit]) / self.b
                if self.level[unit] > 0:
                    z = np.zeros(self.K + self.M)
                    z[self.arm[unit]] = z[self.K + unit] = 1
                    rows.append(z)
                    values.append(bodies[unit] / (self.b * self.level[unit]))
                    weights.append(self.weight[unit])
        if len(rows) < 2:
            return
        Z, y, w = np.array(rows), np.array(values), np.array(weights)
        Z, y = Z - w @ Z / w.sum(), y - w @ y / w.sum()
        self.S += (Z.T * w) @ Z
        self.r += (Z.T * w) @ y
        self.yy += float(w @ y**2)
        self.cells, self.slots = self.cells + len(rows), self.slots + 1

    def fit(self) -> tuple[Matrix, Matrix, float]:
        return self.fit_with(self.fit_with(self.v0)[2])

    def fit_with(self, v: float) -> tuple[Matrix, Matrix, float]:
        """Effects, the inverse matrix and the variance, where the prior is in units of `v`."""
        A = self.S + np.diag([1e-9] * self.K + [v / self.prior**2] * self.M)
        C: Matrix = np.linalg.inv(A).astype(np.float64)
        t = C @ self.r
        rss = self.yy - 2 * t @ self.r + t @ self.S @ t
        found = (2 * self.v0 + rss) / (2 + max(0, self.cells - self.slots - self.M - self.K + 2))
        return t, C, float(found)

    def differences(self) -> tuple[Any, Any]:
        """All differences of arms, and their standard errors."""
        t, C, v = self.fit()
        c = np.diag(C)[: self.K]
        q = c[:, None] + c[None, :] - 2 * C[: self.K, : self.K]
        a = t[: self.K]
        return a[:, None] - a[None, :], np.sqrt(v * np.maximum(q, 0))
