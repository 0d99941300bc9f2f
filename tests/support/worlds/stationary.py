"""A small stationary world for policy tests: rewards cut by a fixed kernel, played hold by hold."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from afterglow.policies import Policy


class World:
    """Step t pays the parts of rewards that are due; a reward is 0 or 1, or its mean plus uniform noise."""

    def __init__(self, means: Sequence[float], kernel: Sequence[float], horizon: int, seed: int, noise: float = -1.0):
        self.means, self.kernel, self.noise = means, np.asarray(kernel, float), noise
        self.uniforms = np.random.default_rng(seed).random(horizon)
        self.due = np.zeros(horizon + len(kernel))
        self.clock = 0

    def hold(self, arm: int, steps: int) -> list[float]:
        """The totals of the next steps, all on one arm."""
        begin, end = self.clock, self.clock + steps
        uniforms, mean = self.uniforms[begin:end], self.means[arm]
        rewards = (uniforms < mean).astype(float) if self.noise < 0 else mean + self.noise * (2 * uniforms - 1)
        parts = np.convolve(rewards, self.kernel)
        self.due[begin : begin + len(parts)] += parts
        self.clock = end
        totals: list[float] = self.due[begin:end].tolist()
        return totals


@dataclass
class Played:
    """What happened: the final state, and for each step its arm and total."""

    state: Any
    arms: list[int] = field(default_factory=list)
    totals: list[float] = field(default_factory=list)
    holds: list[tuple[int, int, int]] = field(default_factory=list)

    def regret(self, means: Sequence[float]) -> float:
        return sum(max(means) - means[arm] for arm in self.arms)


def play(policy: Policy[Any, Any], settings: Any, world: World, horizon: int, stored: bool = False) -> Played:
    """The whole experiment; `stored` sends the state through JSON before every hold."""
    played = Played(policy.start(settings))
    while world.clock < horizon:
        if stored:
            played.state = policy.State(**json.loads(json.dumps(asdict(played.state))))
        arm, steps, split = policy.next_hold(settings, played.state, [])
        steps = min(steps, horizon - world.clock)
        split = min(split, steps)
        totals = world.hold(arm, steps)
        policy.learn(settings, played.state, arm, steps, split, sum(totals[:split]), sum(totals[split:]))
        played.holds.append((arm, steps, split))
        played.arms += [arm] * steps
        played.totals += totals
    return played


def runs(arms: Sequence[int]) -> list[tuple[int, int, int]]:
    """(arm, first step, end) of every maximal stretch on one arm."""
    edges = [0, *(t for t in range(1, len(arms)) if arms[t] != arms[t - 1]), len(arms)]
    return [(arms[begin], begin, end) for begin, end in pairwise(edges)]
