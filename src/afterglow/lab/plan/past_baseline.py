r"""The baseline of a plan with a history: its level, its cycle and its noise.

*Cycle.* The profile of the history, plus a normal error for each phase, because the profile is itself an estimate, plus
a normal multiple of what changed of it between the halves of the history, because it will go on changing: a new draw
for each start and each place of the best arm. A policy that is told the profile sees the errors alone.

*Noise.* The residuals of the history, resampled in blocks. A block begins in the phase in which it was recorded, so
busy hours keep their noise. Blocks of a short history have too little slow noise. They are multiplied up to the noise
to plan with, so quiet hours stay quiet and outliers stay outliers: a policy that weights hours by their noise has that
advantage in the planned world too. (Normal noise alike at all hours was added before. It took this advantage away, and
plans recommended policies that find less on real demand.) If they would have to be more than doubled, what is still
missing is added as normal noise with the history's correlation from step to step.
"""

import math
from functools import lru_cache

import numpy as np

from afterglow.lab.history.estimate import History
from afterglow.worlds.baseline import Baseline, Blocks, Constant, Noise, Part, Seasonal

SEEDED = 20_260_101  # of the errors of profiles; they are the same in all plans
MOST = 2.0  # that residuals are multiplied by


def past_baseline(
    history: History, top: float, level: float, length: int, start: int, draw: int, told: bool, strength: float,
    signed: bool,
) -> Baseline:  # fmt: skip
    """The baseline whose step 0 has the phase `start`, amounts divided by `top`."""
    parts: list[Part] = [Constant(level)]
    if history.season > 1:
        cycle = error_of(history, start, draw)
        if not told:
            cycle = cycle + np.array(history.expected)
        parts.append(Seasonal(tuple(np.roll(cycle / top, -start).tolist())))
    rest, slow = noise_of(tuple(history.rest), history.season, length, history.pull.planned * strength, strength < 1)
    parts.append(turned(rest, top, length, history.season, start))
    if slow > 0.0:
        sticky = history.pull.correlation
        parts.append(Noise(slow * math.sqrt((1 - sticky) / (1 + sticky)) / top, sticky))
    return Baseline(tuple(parts), signed)


def error_of(history: History, start: int, draw: int) -> np.typing.NDArray[np.float64]:
    """Errors of the phases, of mean 0."""
    random = np.random.default_rng((SEEDED, start, draw))
    error = random.normal(0, history.expected_error, history.season)
    return np.asarray(error - error.mean() + random.normal() * np.array(history.drift))


@lru_cache(maxsize=16)
def noise_of(
    rest: tuple[float, ...], season: int, length: int, planned: float, less: bool
) -> tuple[tuple[float, ...], float]:
    """(residuals, noise of one pull that they lack): residuals of whole seasons, of mean 0, with the noise planned.

    Where they have more than is planned they stay as they are, unless `less` asks for the lower end of a range.
    """
    cycles = len(rest) // season
    values = np.array(rest[: cycles * season])
    values = (values - values.mean()) * (math.sqrt(cycles / (cycles - 1)) if cycles > 1 and season > 1 else 1.0)
    around = np.concatenate([[0.0], np.cumsum(np.concatenate([values, values[: length - 1]]))])
    shown = float(np.mean((around[length:] - around[:-length]) ** 2)) / length
    if shown == 0.0:
        return tuple(values.tolist()), planned
    times = min(MOST, math.sqrt(planned**2 / shown))
    if times < 1.0 and not less:
        times = 1.0
    return tuple((values * times).tolist()), math.sqrt(max(0.0, planned**2 - times**2 * shown))


@lru_cache(maxsize=64)
def turned(rest: tuple[float, ...], top: float, length: int, season: int, start: int) -> Blocks:
    """The residuals as blocks, step 0 in phase `start`; cached, because checking all values is slow."""
    values = np.roll(np.array(rest) / top, -start)
    return Blocks(tuple(values.tolist()), length, season)
