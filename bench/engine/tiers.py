"""The faster tiers beside `step`, and horizons that only they can reach."""

from functools import partial
from pathlib import Path

from afterglow.worlds.spreads import NAMES, Spread
from bench.engine.workload import WINDOW, play
from bench.report.figures import Figure, Item, digits, faster
from bench.report.timing import race

DIRICHLET = ["dirichlet", "dirichlet:0.5", "dirichlet:3"]


def halves(reward, arm, best, age, draws, parts):  # type: ignore[no-untyped-def] # compiled
    """A user's spread: half at once, half at a random lag."""
    parts[0] += reward / 2
    parts[int(draws[0] * len(parts))] += reward / 2


SPREADS: list[str | Spread] = [
    "immediate", "uniform", "last", "geometric:0.5", "kernel:3,1,0,2", *DIRICHLET, "delay:uniform",
    "delay:geometric:0.2", "delay:poisson:3", "hoard", "handicap", "chameleon", Spread("a user's function", halves, 1),
]  # fmt: skip


def measure_hold(folder: Path) -> Item:
    """Dirichlet spreads: `hold` draws weights for the last pulls of a hold only."""
    figures, rows = [], []
    for spread in DIRICHLET:
        times = race({
            "step": partial(play, "step", 1e6, 1, spread),
            "hold": partial(play, "hold", 1e6, 20, spread),
        }, rounds=4)  # fmt: skip
        step, hold = times["step"], times["hold"].per(20)
        figures.append(faster(f"{spread}: `hold` is faster than `step` by", step, hold, at_least=15))
        rows.append([spread, digits(step.cpu * 1e3), digits(hold.cpu * 1e3)])
    note = f"phased-ucb, five Bernoulli arms, window {WINDOW}, T = 1e6; a step's ns are a run's ms."
    return Item("hold", "`hold` beside `step`", figures, ["spread", "`step`, ms a run", "`hold`"], rows, [note])


def measure_skip(folder: Path) -> Item:
    """A fixed kernel: `skip` draws one sum for all that settles inside a hold."""
    short = race({"step": partial(play, "step", 1e6, 10), "skip": partial(play, "skip", 1e6, 500)}, rounds=7)
    long = race({"step": partial(play, "step", 1e9, 1), "skip": partial(play, "skip", 1e9, 30)}, rounds=2)
    step, skip = short["step"].per(10), short["skip"].per(500)
    step9, skip9 = long["step"], long["skip"].per(30)
    return Item(
        "skip", "`skip` beside `step`",
        [
            faster("T = 1e6: `skip` is faster than `step` by", step, skip, at_least=25),
            faster("T = 1e9: `skip` is faster than `step` by", step9, skip9, at_least=800),
        ],
        ["horizon", "`step`, ms a run", "`skip`"],
        [
            [horizon, digits(slow.cpu * 1e3), digits(fast.cpu * 1e3)]
            for horizon, slow, fast in (("1e6", step, skip), ("1e9", step9, skip9))
        ],
        [f"phased-ucb, five Bernoulli arms, uniform spread over {WINDOW} steps."],
    )  # fmt: skip


def measure_trillion(folder: Path) -> Item:
    """T = 1e12 in every spread that `skip` can play."""
    texts = [text if isinstance(text, str) else text.text for text in SPREADS]
    missing = {name.split(":")[0] for name in NAMES} - {text.split(":")[0] for text in texts}
    if missing:
        raise SystemExit(f"the bench leaves out the spreads {', '.join(sorted(missing))}; add them to SPREADS")
    figures = []
    for spread, text in zip(SPREADS, texts, strict=True):
        play("skip", 1e6, 1, spread)
        time = race({text: partial(play, "skip", 1e12, 1, spread)}, rounds=1)[text]
        figures.append(Figure(text, time.cpu, "s", at_most=1, wall=time.wall))
    note = f"phased-ucb, five Bernoulli arms, window {WINDOW}: about a million holds in a run."
    return Item("trillion", "A run of T = 1e12 in each spread", figures, notes=[note])


def measure_elimination(folder: Path) -> Item:
    """phased-elimination makes as many holds whatever the horizon."""
    runs, horizons = 3_000, (1e6, 1e9, 1e12)
    times = race({f"{T:.0e}": partial(play, "skip", T, runs, policy="phased-elimination") for T in horizons}, rounds=7)
    holds = [play("skip", T, runs, policy="phased-elimination").holds.mean() for T in horizons]
    first, *_, last = times.values()
    rows = [[T, digits(time.cpu / runs * 1e6), digits(h)] for (T, time), h in zip(times.items(), holds, strict=True)]
    figure = Figure("time at T = 1e12 over that at T = 1e6", last.cpu / first.cpu, "×", at_most=1.25,
                    wall=last.wall / first.wall)  # fmt: skip
    return Item(
        "elimination", "phased-elimination at any horizon", [figure], ["horizon", "µs a run", "holds"], rows,
        [f"`skip`, five Bernoulli arms, uniform spread over {WINDOW} steps."],
    )  # fmt: skip
