"""Other libraries' loops beside `step`: choose an arm, draw its reward, learn, as their documentation shows it.

They play without any delay, which none of them simulates. Each gets the cheapest reward there is in Python,
`random() < mean`, rather than its own environments, which take longer.
"""

import contextlib
import io
import random
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path

import afterglow
from bench.engine.workload import MEANS, play
from bench.report.figures import Figure, Item, digits, faster
from bench.report.machine import version_of
from bench.report.timing import race

ARMS = list(range(len(MEANS)))
STEPS = {"river": 20_000, "SMPyBandits": 5_000, "mabwiser": 1_000, "coba": 10_000}  # in one go
GOAL = {"river": 1_000.0, "SMPyBandits": 1_000.0}

Loop = Callable[[int], None]


def river_loop() -> Loop:
    UCB = import_module("river.bandit").UCB

    def loop(steps: int) -> None:
        policy = UCB(delta=1, seed=1)
        for _ in range(steps):
            arm = policy.pull(ARMS)
            policy.update(arm, random.random() < MEANS[arm])

    return loop


def smpybandits_loop() -> Loop:
    special = import_module("scipy.special")
    vars(special).setdefault("btdtri", special.betaincinv)  # gone since SciPy 1.14, wanted at import
    UCB = import_module("SMPyBandits.Policies").UCB

    def loop(steps: int) -> None:
        policy = UCB(len(ARMS))
        policy.startGame()
        for _ in range(steps):
            arm = policy.choice()
            policy.getReward(arm, random.random() < MEANS[arm])

    return loop


def mabwiser_loop() -> Loop:
    mab = import_module("mabwiser.mab")

    def loop(steps: int) -> None:
        policy = mab.MAB(ARMS, mab.LearningPolicy.UCB1(alpha=1.0), seed=1)
        policy.fit(ARMS, [float(random.random() < mean) for mean in MEANS])
        for _ in range(steps):
            arm = policy.predict()
            policy.partial_fit([arm], [float(random.random() < MEANS[arm])])

    return loop


def coba_loop() -> Loop:
    coba = import_module("coba")

    def loop(steps: int) -> None:
        learner = coba.BanditUCBLearner(seed=1)
        for _ in range(steps):
            arm, probability = learner.predict(None, ARMS)
            learner.learn(None, arm, float(random.random() < MEANS[arm]), probability)

    return loop


LOOPS = {"river": river_loop, "SMPyBandits": smpybandits_loop, "mabwiser": mabwiser_loop, "coba": coba_loop}
CANT = {
    "river": "a reward that is late, in parts or without its arm; its delayed labels (`stream.simulate_qa`) come "
    "whole and named, and not to bandits",
    "SMPyBandits": "a reward that is late, in parts or without its arm; it does have many more policies for the "
    "immediate case, several players and changing means",
    "mabwiser": "a reward that is late, in parts or without its arm; it does have contexts, and learns from batches "
    "far cheaper per reward than one by one",
    "coba": "a reward that is late, in parts or without its arm; it does have contexts and off-policy evaluation",
}


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Some of them talk when imported."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def found() -> tuple[dict[str, Loop], list[str]]:
    """The loops of the libraries that can be imported, and why others can't."""
    loops, why_not = {}, []
    for name, make in LOOPS.items():
        try:
            with quiet():
                loops[name] = make()
        except ImportError as wrong:
            why_not.append(f"{name} is not measured: {wrong}.")
    return loops, why_not


def measure(folder: Path) -> Item:
    loops, why_not = found()
    contenders: dict[str, Callable[[], object]] = {name: partial(loop, STEPS[name]) for name, loop in loops.items()}
    contenders["`step`, phased-ucb"] = partial(play, "step", 1e6, 20)
    contenders["`step`, ucb1"] = partial(play, "step", 1e5, 5, policy="ucb1")
    steps = STEPS | {"`step`, phased-ucb": 20_000_000, "`step`, ucb1": 500_000}
    with quiet():
        times = {name: time.per(steps[name]) for name, time in race(contenders).items()}
    ours = {name: times.pop(name) for name in ("`step`, phased-ucb", "`step`, ucb1")}
    fast, alike = ours.values()
    figures = [faster(f"{name}: `step` is faster per step by", times[name], fast, GOAL.get(name)) for name in times]
    figures += [
        Figure(f"{name}: with ucb1, which decides at every step too", times[name].cpu / alike.cpu, "×",
               wall=times[name].wall / alike.wall)
        for name in times
    ]  # fmt: skip
    rows = [[name, afterglow.__version__, digits(time.cpu * 1e9), ""] for name, time in ours.items()]
    rows += [[name, version_of(name), digits(times[name].cpu * 1e9), CANT[name]] for name in times]
    rows += [[name, version_of(name), "", CANT[name]] for name in LOOPS if name not in times]
    return Item(
        "peers", "`step` beside other libraries' loops", figures, ["", "version", "ns a step", "can't simulate"], rows,
        [
            "One core, five Bernoulli arms, UCB in every library. Theirs play without any delay, ours with every "
            "reward spread over 10 steps. phased-ucb decides once in a phase, ucb1 at every step as theirs do: the "
            "first is what a simulation here costs, the second the same work per step. "
            "SMPyBandits imports a SciPy function that is gone since 1.14; it is given back its name.",
            *why_not,
        ],
    )  # fmt: skip
