"""Paths played out: where no deviation happens, the pulls of bad arms are below what the proofs say."""

import math
import random
from collections.abc import Callable
from typing import Any

import pytest

from afterglow.policies.phased_elimination import policy as phased_elimination
from afterglow.policies.phased_ucb import policy as phased_ucb
from afterglow.policies.policy import Policy
from afterglow.policies.terms import kl
from afterglow.policies.trim_ucb import policy as trim_ucb
from afterglow.theory import corrected_constant, pulls_corrected, resolving_phase
from afterglow.theory.trim import log_evidence, pulls

Spread = Callable[[int, int, int, int], int]  # (arm, age of the run, window, step) -> lag of the whole reward

SPREADS: dict[str, Spread] = {
    "at once": lambda arm, age, window, step: 0,
    "last": lambda arm, age, window, step: window - 1,
    "handicap": lambda arm, age, window, step: window - 1 if arm == 0 else 0,
    "chameleon": lambda arm, age, window, step: 0 if (age < window - 1) == (arm == 0) else window - 1,
    "mixed": lambda arm, age, window, step: (7 * step + 3) % window,
}


class Path:
    """One run of a policy on Bernoulli arms: the rewards in pull order, and where each arm's runs begin."""

    def __init__(
        self, policy: Policy[Any, Any], settings: Any, means: list[float], window: int, T: int, lag: Spread, seed: int
    ) -> None:
        chance = random.Random(seed)
        self.rewards: list[list[int]] = [[] for _ in means]
        self.starts: list[list[int]] = [[] for _ in means]
        state = policy.start(settings)
        owed = [0.0] * (T + window)
        clock, age, before = 0, 0, -1
        while clock < T:
            arm, asked, split = policy.next_hold(settings, state, [])
            steps = min(asked, T - clock)
            split = min(split, steps)
            if arm != before:
                self.starts[arm].append(len(self.rewards[arm]))
                age = 0
            for step in range(clock, clock + steps):
                reward = int(chance.random() < means[arm])
                self.rewards[arm].append(reward)
                owed[step + lag(arm, age, window, step)] += reward
                age += 1
            head, body = sum(owed[clock : clock + split]), sum(owed[clock + split : clock + steps])
            policy.learn(settings, state, arm, steps, split, head, body)
            clock, before = clock + steps, arm
        self.pulls = [len(rewards) for rewards in self.rewards]


def strays(rewards: list[int], mean: float, level: float) -> bool:
    """Whether n * kl(mean_n, mean) reaches `level` at any n."""
    total = 0
    for n, reward in enumerate(rewards, 1):
        total += reward
        if n * kl(total / n, mean) >= level:
            return True
    return False


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("a", [0.5, 0.75])
def test_phased_ucb_stops_playing_a_bad_arm_where_the_proof_says(spread: str, a: float) -> None:
    means, window, T = [0.95, 0.15, 0.05], 3, 4000
    settings = phased_ucb.settings(3, window, T, {"constants": "corrected", "a": a})
    log_t, hold = math.log(T), settings.hold
    clean = 0
    counts = [0, 0, 0]
    for seed in range(20):
        path = Path(phased_ucb, settings, means, window, T, SPREADS[spread], seed)
        counts = [total + pulls for total, pulls in zip(counts, path.pulls, strict=True)]
        best = path.rewards[0]
        low = any(sum(best[:n]) / n <= means[0] - math.sqrt(log_t / n) for n in range(hold, len(best) + 1, hold))
        for arm in (1, 2):
            gap = means[0] - means[arm]
            limit = math.ceil(corrected_constant(a) * log_t / gap**2 / hold) * hold
            head = path.rewards[arm][:limit]
            high = len(head) == limit and sum(head) / limit - means[arm] >= math.sqrt(log_t / (2 * limit))
            if not low and not high:
                clean += 1
                assert path.pulls[arm] <= limit < T
    assert clean >= 38
    for arm in (1, 2):
        assert counts[arm] / 20 <= pulls_corrected(means[0] - means[arm], T, window, a)


@pytest.mark.parametrize("spread", SPREADS)
def test_phased_elimination_drops_a_bad_arm_in_its_phase(spread: str) -> None:
    means, window, T = [0.95, 0.45, 0.05], 4, 6000
    settings = phased_elimination.settings(3, window, T)
    for seed in range(20):
        path = Path(phased_elimination, settings, means, window, T, SPREADS[spread], seed)
        for arm in (1, 2):
            last = resolving_phase(means[0] - means[arm])
            right = all(
                abs(sum(path.rewards[i][:n]) / n - means[i]) <= math.sqrt(math.log(T * 4.0**-m) / (2 * n))
                for i in (0, arm)
                for m, n in enumerate(settings.schedule[:last], 1)
                if len(path.rewards[i]) >= n
            )
            assert not right or path.pulls[arm] <= settings.schedule[last - 1] < T


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("level", ["plain", "strict"])
def test_trim_ucb_stops_playing_a_bad_arm_where_the_proof_says(spread: str, level: str) -> None:
    means, window, T = [0.95, 0.15, 0.05], 4, 6000
    settings = trim_ucb.settings(3, window, T, {"level": level, "endgame": 0})
    f = log_evidence(T, level)
    clean = 0
    for seed in range(10):
        path = Path(trim_ucb, settings, means, window, T, SPREADS[spread], seed)
        steady = [
            not any(strays(rewards[start:], mean, f) for start in starts)
            for rewards, starts, mean in zip(path.rewards, path.starts, means, strict=True)
        ]
        assert all(len(starts) <= math.log2(T) for starts in path.starts)
        for arm in (1, 2):
            if steady[0] and steady[arm]:
                clean += 1
                assert path.pulls[arm] <= pulls(means[0] - means[arm], window, f) < T
    assert clean >= 16
