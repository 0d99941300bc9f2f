"""thrift-ucb once more, one step at a time and close to its description, to compare decisions with."""

import math
from itertools import chain

Batches = list[list[float]]  # of one arm, each with its totals


def kl(p: float, q: float) -> float:
    return sum(a * math.log(a / b) for a, b in ((p, q), (1 - p, 1 - q)) if a > 0)


def log_plus(x: float) -> float:
    return max(0.0, math.log(x))


def scatter(kinds: list[Batches]) -> tuple[float, int]:
    """Squares of batch means about the mean of all their steps, times their steps; degrees of freedom."""
    square, freedom = 0.0, 0
    for batches in kinds:
        if len(batches) > 1:
            mean = sum(map(sum, batches)) / sum(map(len, batches))
            square += sum(len(batch) * (sum(batch) / len(batch) - mean) ** 2 for batch in batches)
            freedom += len(batches) - 1
    return square, freedom


class Text:
    """Tell it each total; `arm` is the arm to play next, `evidence` the kind that the last decision rests on."""

    def __init__(
        self, arms: int, window: int, horizon: int | None, noise: float = 0.0, proof: bool = True, knowing: bool = False
    ) -> None:
        self.knowing = knowing
        self.K, self.d, self.w, self.T, self.sd, self.proof = arms, window, window - 1, horizon, noise, proof
        self.m1 = max(math.ceil(window / 2), 8)
        self.b = max(math.ceil(window / 2), min(window, 8))
        self.N, self.n, self.S = [0] * arms, [0] * arms, [0.0] * arms
        self.H: list[float | None] = [None] * arms
        self.young: list[Batches] = [[] for _ in range(arms)]
        self.old: list[Batches] = [[] for _ in range(arms)]
        self.washout = self.w  # the washout
        self.t, self.arm, self.last, self.age, self.faded, self.evidence = 0, 0, -1, 0, 0, "proved"
        self.until = self.w + self.m1
        self.piece()

    # ---- what is seen

    def piece(self) -> None:
        """Steps until totals are looked at again: a head alone after an alarm, else one batch."""
        self.seen: list[float] = []
        self.washed_from = max(self.washout, self.age)
        if self.age < self.w < self.washout:
            self.end = self.washed_from = self.w
            return
        size = self.b * max(1, math.floor((self.age - self.washout) / (32 * self.b)))
        self.end = self.washed_from + max(1, min(size, self.until - self.washed_from))

    def tell(self, total: float) -> None:
        self.seen.append(total)
        self.t += 1
        if self.age + len(self.seen) < self.end:
            return
        a, split = self.arm, self.washed_from - self.age
        head, batch = self.seen[:split], self.seen[split:]
        if self.age == 0 and self.last >= 0:
            self.H[self.last] = min(sum(self.seen[: self.w]), self.w)
        if batch:
            (self.young if self.washed_from <= 2 * self.washout else self.old)[a].append(batch)
        self.N[a] += len(self.seen)
        self.n[a] += len(self.seen)
        self.S[a] += sum(head) + sum(batch)
        self.age = self.end
        if self.age >= self.until:
            self.decide()
        self.piece()

    # ---- what it says about arms

    def batches(self, i: int) -> Batches:
        return self.young[i] + self.old[i]

    def steps(self, i: int) -> int:
        return sum(map(len, self.batches(i)))

    def washed(self, i: int) -> float:
        return (sum(map(sum, self.young[i])) + sum(map(sum, self.old[i]))) / self.steps(i)

    def pairs(self, i: int) -> list[tuple[float, int]]:
        """Sums s with numbers c of rewards that they bound."""
        found = [(self.S[i], self.n[i] - self.w)]
        owed = self.H[i]
        return found if owed is None else [*found, (self.S[i] + owed, self.n[i])]

    def mean(self, i: int) -> float:
        if self.steps(i) == 0:
            return -1.0
        if not self.proof:
            return self.washed(i)
        return min(self.washed(i), *(s / max(1, c) for s, c in self.pairs(i)))

    def q(self) -> float:
        return sum(self.washed(i) * self.steps(i) for i in self.tried()) / max(1, sum(map(self.steps, self.tried())))

    def tried(self) -> list[int]:
        return [i for i in range(self.K) if self.steps(i)]

    def v(self) -> float:
        q = self.q()
        square, freedom = scatter(self.young + self.old)
        return max(1e-6, min((2 * (self.sd or q / 4) ** 2 + square) / (2 + freedom), q * (1 - q)))

    def bound(self, s: float, c: int, v: float | None) -> float:
        if c <= 0:
            return 1.0
        if v is not None:
            return s / c + math.sqrt(2 * v * log_plus(self.bar / (self.K * c)) / c)
        if s >= c:
            return max(1.0, s / c)
        low, high = s / c, 1.0
        for _ in range(40):
            q = (low + high) / 2
            low, high = (q, high) if c * kl(s / c, q) <= math.log(self.bar) else (low, q)
        return low

    def upper(self, i: int, v: float | None) -> float:
        return min(self.bound(s, c, v) for s, c in self.pairs(i)) if self.N[i] else math.inf

    # ---- what is decided

    def decide(self) -> None:
        self.bar = float(self.T or 2 * self.t)
        if self.alarm():
            self.washout = 2 * self.washout + 1
            self.young, self.old = self.old, [[] for _ in range(self.K)]
        if self.is_too_little():
            return self.hold(self.b)
        if self.proof and self.bounds(0.002, None):
            self.evidence = "proved"
        elif self.bounds(0.07, self.v()):
            self.evidence = "estimated"
        else:
            self.evidence = "compared" if self.knowing and self.doubt() else "ordinary"
            if self.evidence == "ordinary":
                self.means()
        return None

    def alarm(self) -> bool:
        square, freedom = scatter(self.old)
        if freedom < 4 or self.washout == 0 or self.washout >= 4 * self.d or 8 * self.K * self.washout > self.bar:
            return False
        for young, old in zip(self.young, self.old, strict=True):
            y, o = list(chain(*young)), list(chain(*old))
            if min(len(y), len(o)) >= self.d / 2:
                radius = math.sqrt(max(1e-12, square / freedom) * (1 / len(y) + 1 / len(o)))
                difference = abs(sum(y) / len(y) - sum(o) / len(o))
                if difference > math.sqrt(2 * math.log(self.bar)) * (1 + 6 / freedom) * radius:
                    return True
        return False

    def is_too_little(self) -> bool:
        if self.steps(self.arm) < min(5 * self.d, 48, 0.07 * self.bar / self.K - self.d):
            return True
        if len(self.batches(self.arm)) != 1:
            return False
        best = max(range(self.K), key=lambda i: (self.mean(i), i == self.arm, -i))
        error = (self.sd or self.q() / 4) * math.sqrt(1 / self.steps(self.arm) + 1 / self.steps(best))
        return self.mean(best) - self.mean(self.arm) <= 2 * error

    def spare(self, share: float, i: int) -> float:
        """Steps on an arm that the budget covers; -1 if it is spent."""
        top = max(map(self.mean, range(self.K)))
        lost = sum(self.N[j] * (top - self.mean(j)) for j in self.tried())
        left = share * self.bar * sum(top - self.mean(j) for j in self.tried()) / max(1, len(self.tried())) - lost
        if left < 0:
            return -1
        return left / (top - self.mean(i)) if i in self.tried() and self.mean(i) < top else self.bar

    def bounds(self, share: float, v: float | None) -> bool:
        a = self.arm
        if self.spare(share, a) < 0:
            return False
        U = [self.upper(i, v) for i in range(self.K)]
        r = max((j for j in range(self.K) if j != a), key=lambda j: (U[j], self.mean(j), -j))
        if (U[a], self.mean(a)) < (U[r], self.mean(r)):
            self.faded = self.faded or self.age
            bar = max(self.mean(j) for j in range(self.K) if j != a)
            cap = min(6 * self.faded, self.age + int(self.spare(share, a)))
            if not (self.mean(a) < bar <= U[a] and self.age < cap) or (
                self.bound(self.S[a] + self.mean(a) * (cap - self.age), cap - self.w, v) >= bar
            ):
                steps = max(self.m1, self.N[r])
                if self.N[r] and self.washout + steps > self.spare(share, r):
                    return False
                self.begin(r, steps)
                return True
        self.hold(self.age // 20)
        return True

    def doubt(self) -> bool:
        """Play the best arm and the one that is hardest to tell from it in turn, within 30 % of random play."""
        if len(self.tried()) < self.K:
            return False
        v, best = self.v(), max(range(self.K), key=lambda i: (self.washed(i), -i))
        squares = {
            i: (self.washed(best) - self.washed(i)) ** 2
            / (v * (1 / self.steps(best) + 1 / self.steps(i)))
            / (1 + 8 * self.d / self.steps(i))
            for i in range(self.K)
            if i != best
        }
        close = min(squares, key=lambda i: (squares[i], i))
        left = self.spare(0.3, close) - self.washout
        if squares[close] >= 10 or left < self.m1:
            return False
        steps = min(self.d * max(2, math.ceil(self.steps(close) / 2 / self.d)), int(left))
        self.begin(close if self.arm == best else best, steps)
        return True

    def means(self) -> None:
        v = self.v()

        def index(i: int) -> float:
            n = self.steps(i)
            if n == 0:
                return math.inf
            return self.washed(i) + math.sqrt(0.6 * v * log_plus((self.bar - self.t) / (self.K * n)) / n)

        i = max(range(self.K), key=lambda i: (index(i), i == self.arm, -i))
        steps = self.steps(i) // 2 if self.steps(i) else self.m1
        self.hold(steps) if i == self.arm else self.begin(i, steps)

    def begin(self, i: int, steps: int) -> None:
        self.n[i], self.S[i], self.H[i] = 0, 0.0, None
        self.last, self.arm, self.age, self.faded = self.arm, i, 0, 0
        self.hold(steps)

    def hold(self, steps: int) -> None:
        self.until = max(self.washout, self.age) + self.b * max(1, math.ceil(steps / self.b))
