"""A picture of one run: arms, totals, and the part of each total from pulls before the current stretch.

Pending rewards of earlier pulls leak into a stretch on a new arm. They are read from the simulated world at each change
of arm, so the leakage shown is the true one, which no policy sees.
"""

import json
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from afterglow import rng
from afterglow.engine.episode import Episode
from afterglow.errors import AfterglowError
from afterglow.lab.rendering.palette import BLUE, GREY, ORANGE, PALE, RULE
from afterglow.policies.policy import Policy
from afterglow.policies.registry import named
from afterglow.policies.season import seasonal
from afterglow.policy_runner import PolicyRunner
from afterglow.worlds.world import World

MOST_STEPS, MOST_RUNS, POINTS = 2_500, 12, 500


@dataclass
class HeldStretch:
    """Consecutive steps on one arm."""

    arm: int
    begin: int
    end: int
    seen: float = 0.0  # sum of totals
    earned: float = 0.0  # rewards of its own pulls, whenever they arrive


@dataclass
class RunPicture:
    """The first steps of a run."""

    label: str
    world: World
    title: str
    totals: list[float] = field(default_factory=list)
    leaked: list[float] = field(default_factory=list)  # part of each total from earlier stretches
    runs: list[HeldStretch] = field(default_factory=list)


def picture_of(cell: dict[str, Any], title: str) -> RunPicture | None:
    """The first run of a cell, simulated step by step; None for a user's own policy or spread."""
    if cell["file"] or cell["privileged"]:
        return None
    try:
        world = World.of(cell["laws"], cell["window"], cell["spread"], cell["baseline"] or None)
        policy = seasonal(named(cell["policy"]), cell["season"])
    except AfterglowError:
        return None
    horizon, options = cell["horizon"], json.loads(cell["options"])
    settings = policy.settings(world.arms, cell["told_window"], horizon if cell["told_horizon"] else None, options)
    return played(RunPicture(cell["label"], world, title), policy, settings, cell["seed"], horizon)


def played(picture: RunPicture, policy: Policy[Any, Any], settings: Any, seed: int, horizon: int) -> RunPicture:
    """Simulate until there are enough stretches to show."""
    world, episode = picture.world, Episode(picture.world, seed)
    stream = rng.key(seed, 0, rng.POLICY)
    holding = PolicyRunner(policy, settings, policy.start(settings), world.arms, stream)
    leaks = [0.0] * world.window
    step = 0
    while step < min(horizon, MOST_STEPS) and (len(picture.runs) <= MOST_RUNS or step < 8 * world.window):
        arm = holding.current(horizon - step).arm
        if not picture.runs or picture.runs[-1].arm != arm:
            leaks = owed(episode)
            picture.runs.append(HeldStretch(arm, step, step))
        run, before, income = picture.runs[-1], episode.generated, episode.income
        total = episode.pull(arm)
        holding.take(total)
        picture.totals.append(total)
        picture.leaked.append(leaks[step - run.begin] if step - run.begin < len(leaks) else 0.0)
        step += 1
        run.end, run.seen = step, run.seen + total - (episode.income - income)
        run.earned += episode.generated - before
    return picture


def owed(episode: Episode) -> list[float]:
    """Pending rewards of the pulls so far, by step, if the arm changes now."""
    return [math.fsum(episode.owed)] if episode.made.gather else episode.owed


def draw(picture: RunPicture, narrow: bool) -> Figure:
    """Three panels over the same steps: arms, totals, and the leakage of each stretch."""
    arms = picture.world.arms
    figure = Figure(figsize=(4.6, 0.17 * arms + 3.9) if narrow else (8.2, 0.19 * arms + 3.2), layout="constrained")
    upper, middle, lower = figure.subplots(3, 1, sharex=True, height_ratios=[0.2 * arms + 0.3, 1.5, 1.2])
    draw_arms(upper, picture)
    draw_totals(middle, picture)
    draw_edges(lower, picture)
    lower.set(xlabel="step", xlim=(0, len(picture.totals)))
    return figure


def draw_arms(axes: Any, picture: RunPicture) -> None:
    best = picture.world.best
    for run in picture.runs:
        colour = BLUE if run.arm == best else GREY
        axes.broken_barh([(run.begin, run.end - run.begin)], (run.arm - 0.36, 0.72), color=colour, linewidth=0)
    names = [f"arm {arm + 1}" + (", the best" if arm == best else "") for arm in range(picture.world.arms)]
    axes.set_yticks(range(picture.world.arms), names)
    axes.set(ylim=(picture.world.arms - 0.4, -0.6), title="arm played")
    axes.tick_params(length=0)
    axes.spines[["left", "bottom"]].set_visible(False)


def draw_totals(axes: Any, picture: RunPicture) -> None:
    """Totals by step, averaged where there are too many steps to draw."""
    size = -(-len(picture.totals) // POINTS)
    edges = np.arange(0, len(picture.totals), size)
    length = np.diff([*edges, len(picture.totals)])
    totals, leaked = (np.add.reduceat(values, edges) / length for values in (picture.totals, picture.leaked))
    axes.fill_between([*edges, len(picture.totals)], [*totals, totals[-1]], step="post", color=PALE, linewidth=0)
    axes.fill_between([*edges, len(picture.totals)], [*leaked, leaked[-1]], step="post", color=ORANGE, linewidth=0)
    axes.set(ylim=(0, None), title="total of each step" if size == 1 else f"totals, averaged over {size} steps")


def draw_edges(axes: Any, picture: RunPicture) -> None:
    most = picture.world.window - 1
    for side in (-most, most):
        axes.axhline(side, color=GREY, linewidth=0.9, linestyle=(0, (4, 2)))
    axes.axhline(0, color=RULE, linewidth=0.8)
    for run in picture.runs:
        axes.plot([run.begin, run.end], [run.seen - run.earned] * 2, color=ORANGE, linewidth=3, solid_capstyle="butt")
    axes.set(
        ylim=(-1.35 * max(most, 0.5), 1.35 * max(most, 0.5)),
        title="totals minus own rewards, each stretch",
    )
