"""Baselines: income that no arm causes, added to the totals of all steps.

A baseline is a sum of parts, cut at 0 in each step:

    constant:0.3               the same in every step
    seasonal:0.1,0.4,0.2       one value for each phase of a cycle, step 0 being the first phase
    noise:0.05                 normal, of mean 0 and this deviation, new in each step
    noise:0.05,0.8             the same with correlation 0.8 from step to step, an AR(1) process
    blocks:48:0.2,0.1,…        48 consecutive values of a history at a time, from a random place on, its end joined
                               to its start; `blocks:48/24:…` starts where the history has the same phase of 24 steps

>>> day = baseline("seasonal:0.1,0.3 + noise:0.02")
>>> day.mean, day.text
(0.2, 'seasonal:0.1,0.3 + noise:0.02')
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from afterglow.checks import whole
from afterglow.errors import BadValue, UnknownName, argument
from afterglow.worlds.reward_values import finite, keep, real, short

Numbers = NDArray[np.float64]
RARE = 4  # deviations that noise seldom exceeds
LONGEST = 100_000  # steps after which cycles of different lengths must have met
BLOCK_LENGTH = f"{argument('length')} of a baseline's blocks"


@dataclass(frozen=True)
class Constant:
    """The same in every step."""

    value: float

    def __post_init__(self) -> None:
        keep(self, value=finite(f"{argument('value')} of a constant baseline", self.value))

    @property
    def mean(self) -> float:
        return self.value

    @property
    def most(self) -> float:
        return self.value

    def divided(self, unit: float) -> "Constant":
        return Constant(self.value / unit)

    @property
    def text(self) -> str:
        return f"constant:{short(self.value)}"


@dataclass(frozen=True)
class Seasonal:
    """One value for each phase of a cycle."""

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        keep(self, values=series(f"{argument('values')} of a seasonal baseline", self.values))

    @property
    def mean(self) -> float:
        return math.fsum(self.values) / len(self.values)

    @property
    def most(self) -> float:
        return max(self.values)

    def divided(self, unit: float) -> "Seasonal":
        return Seasonal(tuple(value / unit for value in self.values))

    @property
    def text(self) -> str:
        return "seasonal:" + ",".join(short(value) for value in self.values)


@dataclass(frozen=True)
class Noise:
    """Normal, of mean 0, with a correlation from step to step."""

    deviation: float
    correlation: float = 0.0

    def __post_init__(self) -> None:
        deviation, correlation = (f"{argument(name)} of a noisy baseline" for name in ("deviation", "correlation"))
        size = real(deviation, self.deviation, "a number of at least 0", 0.0, 1e300)
        keep(self, deviation=size, correlation=real(correlation, self.correlation, "between 0 and 0.9999", 0, 0.9999))

    @property
    def mean(self) -> float:
        return 0.0

    @property
    def most(self) -> float:
        return RARE * self.deviation

    def divided(self, unit: float) -> "Noise":
        return Noise(self.deviation / unit, self.correlation)

    @property
    def text(self) -> str:
        return f"noise:{short(self.deviation)}" + (f",{short(self.correlation)}" if self.correlation else "")


@dataclass(frozen=True)
class Blocks:
    """Stretches of `length` consecutive values of a history; with a season they keep their phase."""

    values: tuple[float, ...]
    length: int
    season: int = 1

    def __post_init__(self) -> None:
        values = series(f"{argument('values')} of a baseline's history", self.values)
        named = f"{argument('season')} of a baseline's blocks"
        season = whole(named, self.season, 1, "1 = none")
        if season > len(values):
            raise BadValue(f"{named} must fit into its {len(values):,} values, got {season:,}")
        keep(self, values=values, length=whole(BLOCK_LENGTH, self.length, 1), season=season)

    @property
    def used(self) -> tuple[float, ...]:
        """The history cut to whole seasons."""
        return self.values[: len(self.values) // self.season * self.season]

    @property
    def mean(self) -> float:
        return math.fsum(self.used) / len(self.used)

    @property
    def most(self) -> float:
        return max(self.used)

    def divided(self, unit: float) -> "Blocks":
        return Blocks(tuple(value / unit for value in self.values), self.length, self.season)

    @property
    def text(self) -> str:
        length = f"{self.length}/{self.season}" if self.season > 1 else f"{self.length}"
        return f"blocks:{length}:" + ",".join(short(value) for value in self.values)


Part = Constant | Seasonal | Noise | Blocks


@dataclass(frozen=True)
class Baseline:
    """Parts that are added together; with none there is no income but the arms'."""

    parts: tuple[Part, ...] = ()
    signed: bool = False  # not cut at 0: for totals that may be negative

    def __post_init__(self) -> None:
        for kind in (Noise, Blocks):
            if sum(isinstance(part, kind) for part in self.parts) > 1:
                raise BadValue(
                    f"a baseline may have one {kind.__name__.lower()} part, got {self.text!r}", field="parts"
                )
        if not self.signed and not self.random and self.parts and min(self.profile) < 0:
            sentence = f"a baseline must not be negative in any step, got {self.text!r}; add a constant"
            raise BadValue(sentence, field="parts")

    @property
    def mean(self) -> float:
        """Mean income of a step, if it is never cut at 0."""
        return math.fsum(part.mean for part in self.parts)

    @property
    def most(self) -> float:
        """About the largest income of a step; noise counts up to 4 deviations."""
        return max(0.0, math.fsum(part.most for part in self.parts))

    def divided(self, unit: float) -> "Baseline":
        """The same income in another unit."""
        return Baseline(tuple(part.divided(unit) for part in self.parts))

    @property
    def text(self) -> str:
        return " + ".join(part.text for part in self.parts)

    @property
    def random(self) -> bool:
        return any(isinstance(part, Noise | Blocks) for part in self.parts)

    @property
    def profile(self) -> list[float]:
        """Constant and seasonal parts together: one value for each phase of the joint cycle."""
        cycles = [part.values for part in self.parts if isinstance(part, Seasonal)]
        level = math.fsum(part.value for part in self.parts if isinstance(part, Constant))
        period = math.lcm(*(len(values) for values in cycles))
        if period > LONGEST:
            sentence = f"the cycles of a baseline must meet within {LONGEST:,} steps, these do after {period:,}"
            raise BadValue(sentence, field="parts")
        return [math.fsum([level, *(values[t % len(values)] for values in cycles)]) for t in range(period)]


NOTHING = Baseline()


def series(what: str, values: object) -> tuple[float, ...]:
    """At least one finite number."""
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise BadValue(f"{what} must come in a list, got {values!r}")
    found = tuple(finite(what, float(v) if isinstance(v, np.number) else v) for v in values)
    if not found:
        raise BadValue(f"{what} must be at least one, got none")
    return found


def baseline(what: "str | float | Part | Baseline | None") -> Baseline:
    """A baseline from its text, a number (a constant), a part, or nothing."""
    if isinstance(what, Baseline):
        return what
    if what is None or what == "":
        return NOTHING
    if isinstance(what, str):
        return Baseline(tuple(parse_part(text.strip()) for text in what.split(" + ")))
    if isinstance(what, int | float):
        return Baseline((Constant(what),))
    if not isinstance(what, Part):
        raise BadValue(
            f"{argument('baseline')} must be a number, a text such as 'seasonal:0.1,0.3 + noise:0.02', a part or a "
            f"Baseline, got {what!r}; income that follows a function of the step is seasonal:… or blocks:…"
        )
    return Baseline((what,))


def signed_baseline(what: "str | float | Part | Baseline | None") -> Baseline:
    """The same for totals that may be negative: it is not cut at 0."""
    if isinstance(what, str) and what:
        return Baseline(tuple(parse_part(text.strip()) for text in what.split(" + ")), signed=True)
    if isinstance(what, int | float) and not isinstance(what, bool):
        return Baseline((Constant(what),), signed=True)
    return Baseline(baseline(what).parts, signed=True)


def parse_part(text: str) -> Part:
    """One part from its text."""
    name, _, rest = text.partition(":")
    if name not in PARSERS:
        raise UnknownName("baseline", name, PARSERS, f"baselines are {', '.join(PARSERS)}")
    return PARSERS[name](text, rest)


def parse_constant(text: str, rest: str) -> Constant:
    return Constant(*listed(text, rest, 1, 1))


def parse_seasonal(text: str, rest: str) -> Seasonal:
    return Seasonal(tuple(listed(text, rest, 1, LONGEST)))


def parse_noise(text: str, rest: str) -> Noise:
    return Noise(*listed(text, rest, 1, 2))


def parse_blocks(text: str, rest: str) -> Blocks:
    size, _, values = rest.partition(":")
    length, _, season = size.partition("/")
    steps = [listed(text, part, 1, 1)[0] for part in (length, season or "1")]
    return Blocks(tuple(listed(text, values, 1, 10**9)), whole(BLOCK_LENGTH, steps[0], 1), int(steps[1]))


PARSERS: dict[str, Callable[[str, str], Part]] = {
    "constant": parse_constant,
    "seasonal": parse_seasonal,
    "noise": parse_noise,
    "blocks": parse_blocks,
}


def listed(text: str, rest: str, least: int, most: int) -> list[float]:
    """Numbers separated by commas, as many as allowed."""
    shown = text if len(text) < 60 else f"{text[:50]}…"
    try:
        values = [float(part) for part in rest.split(",")]
    except ValueError:
        raise BadValue(
            f"{argument('baseline')} {shown!r} has a part that is not a number; for instance constant:0.3 or "
            "seasonal:0.1,0.3"
        ) from None
    if not least <= len(values) <= most:
        wanted = f"{least}" if least == most else f"{least} to {most:,}"
        raise BadValue(f"{argument('baseline')} {shown!r} must have {wanted} numbers, got {len(values):,}")
    return values
