"""Inputs of a plan: checked, completed from a history, and scaled to rewards from 0 to 1."""

import math
from dataclasses import dataclass

from afterglow.checks import between, is_number, number, whole
from afterglow.errors import BadValue, Sentence, argument
from afterglow.lab.history.estimate import History
from afterglow.lab.plan.scenario import Scenario
from afterglow.lab.rendering.rounding import amount
from afterglow.worlds.spreads import spread as parse_spread

SWING = 0.2  # default amplitude of a cycle, relative to the mean
NOISE = "standard deviation of one pull"
ROOM = 1.25  # times the mean of the best arm: reward_max at least


@dataclass(frozen=True)
class PlanInputs:
    """The inputs of a plan; amounts are in the unit of the totals."""

    arms: int
    window: int
    horizon: int
    gap: float
    mean: float | None
    noise: float | None
    season: int | None
    swing: float | None
    reward_max: float | None
    spread: str

    def __post_init__(self) -> None:
        number("gap", self.gap, 0, note="relative to the mean, 0.05 = 5 %")
        if self.window > self.horizon:
            raise BadValue(
                f"{argument('window')} must be at most the horizon, got a window of {self.window:,} and "
                f"{self.horizon:,} steps in all: no effect would be seen to its end; lengthen the horizon to several "
                "windows for each arm"
            )
        between("swing", self.swing or 0.0, 0, 0.9, "amplitude of the cycle / the mean")
        parse_spread(self.spread)


def scenario_of(asked: PlanInputs, past: History | None, notes: list[str]) -> Scenario:
    """The scenario to simulate, with amounts divided by `reward_max`."""
    if past is not None:
        return from_history(asked, past, notes)
    top = 1.0 if asked.reward_max is None else number("reward_max", asked.reward_max, 0)
    level = mean_of(asked, top)
    period = 1 if asked.season is None else whole("season", asked.season, 1, "1 = none")
    if period == 1 and asked.swing is not None:
        swing, season = argument("swing"), argument("season")
        raise BadValue(f"{swing} is the amplitude of a cycle, and there is none; give {season}, or leave {swing} out")
    height = SWING if asked.swing is None else float(asked.swing)
    largest = largest_noise(level / top, asked.gap, height if period > 1 else 0.0) * top
    if asked.mean is None:
        notes.append(Sentence(f"the mean is taken as {level:g}; give {argument('mean')} or {argument('history')}"))
    if asked.noise is None:
        taken = "the noise is taken as the largest possible, that of yes/no rewards"
        notes.append(Sentence(f"{taken}; give {argument('noise')} or {argument('history')}"))
    deviation = largest if asked.noise is None else number("noise", asked.noise, 0, note=NOISE)
    if deviation > largest * (1 + 1e-9):
        raise BadValue(
            f"{argument('noise')} must be at most {largest:.3g}, the most that rewards from 0 to {top:g} with this "
            f"mean can have, got {deviation:g}; make {argument('reward_max')} larger, the maximum reward of one pull"
        )
    return made(asked, level / top, deviation / top, period, period, height, top, None)


def mean_of(asked: PlanInputs, top: float) -> float:
    """The mean total of a step, checked against `reward_max`."""
    level = 0.5 * top if asked.mean is None else asked.mean
    if not is_number(level) or level <= 0:
        raise BadValue(f"{argument('mean')} must be a number above 0, got {level!r}")
    if level * (1 + asked.gap) >= top:
        now = f"{top:g}" if asked.reward_max is not None else f"{top:g} unless it is set"
        mean, gap, reward_max = argument("mean"), argument("gap"), argument("reward_max")
        safe = round_up(2 * level * (1 + asked.gap))
        enough = argument("reward_max", int(safe) if safe.is_integer() else safe)
        raise BadValue(
            f"{mean} x (1 + {gap}) must stay below {reward_max}, the maximum reward of one pull, which is {now}, got "
            f"{level * (1 + asked.gap):g}; give {enough} or what it is"
        )
    return float(level)


def from_history(asked: PlanInputs, past: History, notes: list[str]) -> Scenario:
    """The scenario with mean, noise and cycle of the history."""
    if asked.mean is not None or asked.noise is not None:
        mean, noise = argument("mean"), argument("noise")
        field = "noise" if asked.mean is None else "mean"
        raise BadValue(f"a history gives mean and noise; leave {mean} and {noise} out, or the history", field=field)
    if asked.swing is not None:
        swing = argument("swing")
        raise BadValue(f"a history gives the cycle's amplitude; leave {swing} out, or the history", field="swing")
    level = past.level
    best = level * (1 + asked.gap)
    top = proposed(past, asked.gap) if asked.reward_max is None else number("reward_max", asked.reward_max, 0)
    if best >= top:
        raise BadValue(
            f"{argument('reward_max')} must be at least {round_up(best * (1 + 1e-9), 4):,g} for a history of level "
            f"{level:,g} and this gap, got {top:,g}; make it larger or leave it out"
        )
    if past.largest > top:
        notes.append(
            Sentence(
                f"{argument('reward_max')} {top:,g} is less than the largest total so far, {amount(past.largest)}; if "
                f"one pull can pay more, the proved bounds may be wrong; {proposed(past, asked.gap):,g} is "
                "safe"
            )
        )
    return made(asked, level / top, past.pull.planned / top, past.season, past.season, SWING, top, past)


def proposed(past: History, gap: float) -> float:
    """`reward_max` by the rule: the largest total so far, raised by the gap, rounded up to two digits."""
    return round_up(max(past.largest, ROOM * past.level) * (1 + gap))


def made(
    asked: PlanInputs,
    mean: float,
    noise: float,
    season: int,
    align: int,
    swing: float,
    top: float,
    past: History | None,
) -> Scenario:
    return Scenario(
        asked.arms, asked.window, asked.horizon, asked.gap, mean, noise, season, align, swing, asked.spread, top, past
    )


def largest_noise(mean: float, gap: float, swing: float) -> float:
    """The largest standard deviation that rewards of all arms can have, given the mean and the cycle."""
    low = mean * (1 - swing)
    high = min(low + gap * mean, 1 - 1e-9)
    return math.sqrt(min(low * (1 - low), high * (1 - high)))


def round_up(value: float, digits: int = 2) -> float:
    """Round up to so many significant digits."""
    unit = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
    return float(f"{math.ceil(value / unit) * unit:.12g}")
