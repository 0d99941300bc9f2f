"""What a plan is given: checked, estimated from a history where there is one, in the scale of rewards from 0 to 1."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from afterglow.errors import BadValue
from afterglow.lab.csv_tables import Totals, read_totals
from afterglow.lab.history import History, estimate
from afterglow.lab.scenario import Scenario
from afterglow.policies.checks import between, choice, number, whole
from afterglow.worlds.spreads import spread as parse_spread

READING = ("column", "decimal", "zone", "missing")  # what may be said of a history's file
SWING = 0.2  # half the height of a cycle, relative to the mean, unless it is said
Past = str | Path | Totals | Sequence[float]


def source_of(history: Past | None, reading: Mapping[str, str] | None) -> dict[str, str] | None:
    """The file of a history and how it is read; of no use without a file."""
    for name in reading or {}:
        choice("reading", name, READING)
    if isinstance(history, str | Path):
        return {"file": str(history), **(reading or {})}
    if reading:
        said = ", ".join(f"--{name}" for name in reading)
        raise BadValue(f"{said} says how to read a history, and there is no file of one; give --history")
    return None


def estimated(past: Past, season: int | None, window: int, notes: list[str], reading: Mapping[str, str]) -> History:
    """Estimates from totals or a file of them."""
    found = read_totals(past, **reading) if isinstance(past, str | Path) else past
    values = found.values if isinstance(found, Totals) else found
    notes.extend(found.notes if isinstance(found, Totals) else [])
    told = estimate(values, season, whole("window", window, 1))
    if not told.level > 0:
        raise BadValue(
            f"a history must have totals above 0 on average, got {told.level:g}; shift or choose another unit"
        )
    if told.empty:
        notes.append(
            f"{told.empty:,} of {told.season:,} phases of the cycle have no total at all and are taken to be like the "
            "mean of the others; if nothing comes in then, say --missing zero"
        )
    if told.outliers:
        were = "outlier of the history was" if told.outliers == 1 else "outliers of the history were"
        notes.append(f"{told.outliers:,} {were} pulled in to 6 robust deviations")
    if abs(told.trend) > 0.1 * told.level:
        notes.append(
            f"the history has a trend of {told.trend / told.level:+.0%} from end to end, which was taken out: an "
            "experiment on totals that drift can mistake the drift for an arm"
        )
    return told


def scenario_of(
    arms: int, window: int, horizon: int, gap: float, mean: float | None, noise: float | None, season: int | None,
    swing: float | None, past: History | None, reward_max: float | None, spread: str, notes: list[str],
) -> Scenario:  # fmt: skip
    """What is planned, amounts divided by `reward_max`."""
    height = between("swing", SWING if swing is None else swing, 0, 0.9, "half the height of the cycle / the mean")
    parse_spread(spread)
    if past is not None:
        if mean is not None or noise is not None:
            raise BadValue("a history tells mean and noise; leave --mean and --noise out, or the history")
        if swing is not None:
            raise BadValue("a history tells the cycle's height; leave --swing out, or the history")
        level, deviation = past.level, past.pull_noise
        needed = max(1.25 * level, level * (1 + gap) + 4 * deviation)
        top = round_up(needed) if reward_max is None else number("reward_max", reward_max, 0)
        if level * (1 + gap) >= top:
            raise BadValue(
                f"reward_max must be at least {round_up(level * (1 + gap) * (1 + 1e-9), 4):,g} for a history of level "
                f"{level:,g} and this gap, got {top:,g}; make it larger or leave it out"
            )
        period = past.season
    else:
        top = 1.0 if reward_max is None else number("reward_max", reward_max, 0)
        level = number("mean", 0.5 * top if mean is None else mean, 0, top)
        if level * (1 + gap) >= top:
            raise BadValue(
                f"mean x (1 + gap) must stay below reward_max, got {level * (1 + gap):g} of {top:g}; "
                "make reward_max larger"
            )
        period = 1 if season is None else whole("season", season, 1, "1 = none")
        if period == 1 and swing is not None:
            raise BadValue("swing is the height of a cycle, and there is none; give --season, or leave --swing out")
        largest = largest_noise(level / top, gap, height if period > 1 else 0.0) * top
        if mean is None:
            notes.append(f"the mean is taken as {level:g}; give --mean or --history")
        if noise is None:
            notes.append(
                "the noise is taken as the largest possible, that of yes/no rewards; give --noise or --history"
            )
        deviation = largest if noise is None else number("noise", noise, 0, note="standard deviation of one pull")
        if deviation > largest * (1 + 1e-9):
            raise BadValue(
                f"noise must be at most {largest:.3g}, the most that rewards from 0 to {top:g} with this mean "
                f"can have, got {deviation:g}; make reward_max larger"
            )
    return Scenario(arms, window, horizon, gap, level / top, deviation / top, period, height, spread, top, past)


def largest_noise(mean: float, gap: float, swing: float) -> float:
    """The largest deviation that rewards of all arms can have; a cycle takes its part of the mean."""
    low = mean * (1 - swing)
    high = min(low + gap * mean, 1 - 1e-9)
    return math.sqrt(min(low * (1 - low), high * (1 - high)))


def round_up(value: float, digits: int = 2) -> float:
    """To as many digits that count."""
    unit = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
    return float(f"{math.ceil(value / unit) * unit:.12g}")
