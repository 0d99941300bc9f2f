"""Policies that decide at every step, Gymnasium's steps, and long horizons of policies with short holds."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium

from afterglow.engine.simulate import simulate
from afterglow.lab import WorldEnv
from afterglow.worlds.world import World
from bench.engine.workload import MEANS, SEED, WINDOW, play
from bench.report.figures import Figure, Item, digits
from bench.report.timing import Time, race

STEPS = 20_000
LONG = 1e9
SHORT_HOLDS = ("lean-ucb", "composite-exp3", "composite-tsallis")


def measure(folder: Path) -> Item:
    """Nanoseconds a step of policies that decide at each."""
    short = "lag-ridge-ucb over 1,000 steps"
    goals = {"ucb1": 60, "ucb1 with ten arms": 60, "lag-ridge-ucb": 200, short: 200}
    horizons = {"ucb1": 1e6, "ucb1 with ten arms": 1e6, "lag-ridge-ucb": 2e5, short: 2e5}
    contenders: dict[str, Callable[[], object]] = {
        name: partial(play, "step", horizons[name], 1, policy=name) for name in ("ucb1", "lag-ridge-ucb")
    }
    ten = World.of([0.9 - 0.05 * arm for arm in range(10)], WINDOW, "uniform")
    contenders["ucb1 with ten arms"] = partial(
        simulate, "ucb1", ten, horizons["ucb1 with ten arms"], 1, SEED, engine="step", threads=1
    )
    contenders[short] = partial(play, "step", 1e3, 200, policy="lag-ridge-ucb")
    times = race(contenders, rounds=9)
    figures = [
        Figure(name, time.cpu / horizons[name] * 1e9, "ns", at_most=goals[name], wall=time.wall / horizons[name] * 1e9)
        for name, time in times.items()
    ]
    note = (
        f"`step`, five Bernoulli arms, uniform spread over {WINDOW} steps: K d = {5 * WINDOW}. lag-ridge-ucb plays "
        "200,000 steps in one run, nearly all in long holds, and in 200 runs of 1,000, where holds are short."
    )
    return Item("every-step", "Policies that decide at every step, a step", figures, notes=[note])


def measure_gym(folder: Path) -> Item:
    """A step of the environment beside one of Gymnasium's own."""
    world = WorldEnv(World.of(MEANS, WINDOW, "uniform"), STEPS)
    made = gymnasium.make("afterglow/World-v0", rewards=MEANS, horizon=STEPS)
    times = race({
        "WorldEnv": partial(steps, world),
        "made": partial(steps, made),
        "CartPole-v1": partial(steps, gymnasium.make("CartPole-v1").unwrapped),
    })  # fmt: skip
    each: dict[str, Time] = {name: time.per(STEPS) for name, time in times.items()}
    rows = [[name, digits(time.cpu * 1e6)] for name, time in each.items()]
    cart = each["CartPole-v1"]
    ratio = Figure(
        "a step over one of CartPole-v1", each["WorldEnv"].cpu / cart.cpu, "×", wall=each["WorldEnv"].wall / cart.wall
    )
    own = Figure("a step", each["WorldEnv"].cpu * 1e6, "µs", at_most=10, wall=each["WorldEnv"].wall * 1e6)
    note = "`made` is by `gymnasium.make`, with Gymnasium's checks around it; CartPole-v1 is without them."
    return Item("gym", "A step of the Gymnasium environment", [own, ratio], ["", "µs a step"], rows, [note])


def steps(env: Any) -> None:
    env.reset(seed=1)
    for number in range(STEPS):
        if env.step(number & 1)[2]:
            env.reset()


def measure_long(folder: Path) -> Item:
    """T = 1e9 beside trim-ucb, which makes few holds."""
    contenders: dict[str, Callable[[], object]] = {
        name: partial(play, "skip", LONG, 1, policy=name) for name in SHORT_HOLDS
    }
    times = race(contenders, rounds=1)
    trim = race({"trim-ucb": partial(play, "skip", LONG, 20, policy="trim-ucb")})["trim-ucb"].per(20)
    figures = [
        Figure(f"{name}: time over that of trim-ucb", time.cpu / trim.cpu, "×", at_most=100, wall=time.wall / trim.wall)
        for name, time in times.items()
    ]
    every = {"trim-ucb": trim} | times
    holds = {name: float(play("skip", LONG, 1, policy=name).holds.mean()) for name in every}
    rows = [
        [name, digits(time.cpu * 1e3), f"{holds[name]:,.0f}", digits(time.cpu / holds[name] * 1e9)]
        for name, time in every.items()
    ]
    allowed = 100 * trim.cpu / holds["composite-exp3"] * 1e9
    note = (
        "The composite policies hold an arm for 6d - 3 steps on average, at random, and learn from every hold, so none "
        "can be left out. Several holds of one arm can't be drawn at once either: each adds its own loss to the arm, "
        "and so changes the chances of all arms in the next draw. Only a loss of 0 would leave them, and that needs 2d "
        f"pulls that pay 1 within d steps. The goal leaves {digits(allowed)} ns a hold, in which five exponentials "
        "can't be taken: of 200 ns a hold of composite-exp3, a profile counts 54 in `exp` and `log1p` of the C library."
    )
    head = ["policy", "ms a run", "holds", "ns a hold"]
    return Item("long", "A run of T = 1e9 with short holds", figures, head, rows, [note])
