"""A world in plain Python, written for tests alone: Bernoulli arms whose rewards linger and mix."""

from random import Random

SPREADS = ("immediate", "last", "uniform", "delay", "hoard", "handicap", "chameleon")


class PooledWorld:
    """Pull an arm, get the total of everything that arrives in that step; `best` is arm 0."""

    def __init__(self, means: list[float], window: int, spread: str, seed: int) -> None:
        self.means, self.window, self.spread = means, window, spread
        self.random = Random(seed)
        self.pending = [0.0] * window  # what arrives now, next step, ...
        self.arm, self.age = -1, 0
        self.rewards: list[tuple[int, float]] = []  # arm and whole reward of every pull

    def pull(self, arm: int) -> float:
        if arm != self.arm:
            self.arm, self.age = arm, 0
            if self.spread == "hoard":
                self.pending = [sum(self.pending)] + [0.0] * (self.window - 1)
        pays = self.random.random() < self.means[arm]
        self.rewards.append((arm, float(pays)))
        if pays:
            self.cut(arm)
        self.age += 1
        self.pending.append(0.0)
        return self.pending.pop(0)

    def cut(self, arm: int) -> None:
        """Lay a reward of 1 over the window."""
        late = self.window - 1
        if self.spread == "uniform":
            self.pending = [part + 1 / self.window for part in self.pending]
            return
        lags = {
            "immediate": 0,
            "last": late,
            "delay": self.random.randrange(self.window),
            "hoard": late,
            "handicap": late if arm == 0 else 0,
            "chameleon": late if (self.age < late) != (arm == 0) else 0,
        }
        self.pending[lags[self.spread]] += 1.0
