"""A policy of one's own in 25 lines, and a loop that plays an agent against a world."""

from collections.abc import Sequence
from dataclasses import dataclass

from afterglow import Agent, Policy
from support.worlds.pooled import PooledWorld

MEANS = [0.8, 0.5, 0.2]


# Play the arms in turn, for a random number of steps each.
@dataclass(frozen=True)
class Settings:
    arms: int
    longest: int = 5


@dataclass
class State:
    arm: int
    pulls: list[int]
    sums: list[float]


def next_hold(settings: Settings, state: State, draws: Sequence[float]) -> tuple[int, int, int]:
    return state.arm, 1 + int(draws[0] * settings.longest), 0


def learn(settings: Settings, state: State, arm: int, steps: int, split: int, head: float, body: float) -> None:
    state.arm = (arm + 1) % settings.arms
    state.pulls[arm] += steps
    state.sums[arm] += body


def start(settings: Settings) -> State:
    return State(0, [0] * settings.arms, [0.0] * settings.arms)


in_turn = Policy("in-turn", Settings, State, start, next_hold, learn, draws=1)


def a_number(agent: Agent) -> int:
    """The arm of this step, of an agent whose arms are numbers."""
    return int(agent.select())


def play(agent: Agent, steps: int, spread: str = "uniform", seed: int = 1) -> list[int]:
    """Play against a world; the arms selected."""
    world = PooledWorld(MEANS, agent.window, spread, seed)
    arms = []
    for _ in range(steps):
        arms.append(a_number(agent))
        agent.update(world.pull(arms[-1]) * agent.reward_max)
    return arms
