"""trim-ucb once more, one pull at a time and close to its description, to compare decisions with."""

import math


def kl(p: float, q: float) -> float:
    return sum(a * math.log(a / b) if b > 0 else math.inf for a, b in ((p, q), (1 - p, 1 - q)) if a > 0)


class Text:
    """Tell it each total; `arm` is the arm to play next."""

    def __init__(self, arms: int, window: int, horizon: int | None, endgame: float, level: str = "plain") -> None:
        self.K, self.w, self.T, self.E, self.level = arms, window - 1, horizon, endgame, level
        self.m0 = max(16, window)
        self.bar = horizon or 4 * arms * (self.w + self.m0)
        self.PS, self.Pn, self.LS, self.Ln = [0.0] * arms, [0] * arms, [0.0] * arms, [0] * arms
        self.H: list[float | None] = [None] * arms
        self.WS, self.Wn, self.N = [0.0] * arms, [0] * arms, [0] * arms
        self.U, self.M = [2.0] * arms, [0.0] * arms
        self.t, self.last = 0, -1
        self.begin(0)

    def begin(self, a: int) -> None:
        if self.Ln[a] > 0:
            owed = self.H[a]
            self.PS[a] += self.LS[a] + (self.w if owed is None else owed)
            self.Pn[a] += self.Ln[a]
        self.LS[a], self.Ln[a], self.H[a] = 0.0, 0, None
        self.arm, self.n, self.exit, self.next = a, 0, 0, self.w + max(self.m0, self.N[a])
        self.seen: list[float] = []

    def f(self, n: float) -> float:
        if self.level == "plus":
            x = self.bar / (self.K * n)
            return max(0.0, math.log(x * (max(0.0, math.log(x)) ** 2 + 1)))
        return math.log(self.bar) + (3 * math.log(math.log(self.bar)) if self.level == "strict" else 0)

    def klup(self, s: float, n: float) -> float:
        if n <= 0 or s >= n:
            return 1.0
        low, high, f = s / n, 1.0, self.f(n)
        for _ in range(40):
            q = (low + high) / 2
            low, high = (q, high) if n * kl(s / n, q) <= f else (low, q)
        return low

    def bounds(self, i: int) -> None:
        PS, Pn, LS, Ln, H, w, N = self.PS[i], self.Pn[i], self.LS[i], self.Ln[i], self.H[i], self.w, self.N[i]
        pairs = [(PS + LS, Pn + Ln - w), (LS, Ln - w)]
        if H is not None:
            pairs += [(PS + LS + H, Pn + Ln), (LS + H, Ln)]
        self.U[i] = min(self.klup(s, n) for s, n in pairs)
        low = 1 - self.klup(N - min(self.WS[i], N), N)
        self.M[i] = min(max(self.WS[i] / self.Wn[i], low), self.U[i])

    def tell(self, total: float) -> None:
        a = self.arm
        self.seen.append(total)
        self.t += 1
        if self.n + len(self.seen) < self.next:
            return
        split = self.w if self.n == 0 else 0
        head, body, steps = sum(self.seen[:split]), sum(self.seen[split:]), len(self.seen)
        self.N[a] += steps
        self.Ln[a] += steps
        self.LS[a] += head + body
        self.WS[a] += body
        self.Wn[a] += steps - split
        if self.n == 0 and self.last >= 0:
            self.H[self.last] = min(head, self.w)
        self.n, self.seen = self.n + steps, []
        self.next = max(self.n + 1, math.ceil(round(1.05 * self.n, 6)))
        touched = {a, self.last} - {-1}
        if self.T is None and self.t >= self.bar:
            self.bar *= 16
            touched = {i for i in range(self.K) if self.N[i]}
        for i in touched:
            self.bounds(i)
        self.decide(a)

    def decide(self, a: int) -> None:
        tried = [i for i in range(self.K) if self.N[i]]
        if self.T is not None and self.T - self.t < self.E:
            b = max(tried, key=lambda i: (self.M[i], i == a, -i))
            return self.change(a, b) if b != a else None
        others = [j for j in range(self.K) if j != a]
        b = max(others, key=lambda j: (self.U[j], self.M[j], -j))
        th = max((self.M[i] for i in tried if i != a), default=-1)
        if (self.U[a], self.M[a]) >= (self.U[b], self.M[b]):
            return None
        self.exit = self.exit or self.n
        cap = 6 * self.exit
        if self.M[a] < th <= self.U[a] and self.n < cap:
            S = self.LS[a] + self.M[a] * (cap - self.n)
            if min(self.klup(S, cap - self.w), self.klup(self.PS[a] + S, self.Pn[a] + cap - self.w)) < th:
                return None
        return self.change(a, b)

    def change(self, a: int, b: int) -> None:
        self.last = a
        self.begin(b)
