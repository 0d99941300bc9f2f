"""Reward laws on [0, 1].

Each law has a mean, a variance, its cells (`afterglow.worlds.cells`), which is how the engine draws it, and a
text that `parse_reward` reads back.

>>> parse_reward("beta:2,3")
Beta(a=2.0, b=3.0)
>>> parse_reward("0.9") == Bernoulli(0.9)
True
>>> Discrete(values=(0, 0.5, 1), probabilities=(0.5, 0.3, 0.2)).text
'discrete:0@0.5,0.5@0.3,1@0.2'
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from afterglow.errors import BadValue, UnknownName, argument
from afterglow.worlds.cells import Cells, Numbers, atoms, beta_cells
from afterglow.worlds.reward_values import finite, inside, keep, listed, numbers, real, short, span
from afterglow.worlds.truncated import truncated_normal


class Reward(Protocol):
    """A law on [0, 1]."""

    @property
    def mean(self) -> float: ...

    @property
    def variance(self) -> float: ...

    @property
    def text(self) -> str: ...

    def cells(self) -> Cells: ...


@dataclass(frozen=True)
class Bernoulli:
    """1 with probability p, else 0."""

    p: float

    def __post_init__(self) -> None:
        keep(self, p=inside(f"{argument('p')} of a Bernoulli reward", self.p))

    @property
    def mean(self) -> float:
        return self.p

    @property
    def variance(self) -> float:
        return self.p * (1 - self.p)

    @property
    def text(self) -> str:
        return f"bernoulli:{short(self.p)}"

    def cells(self) -> Cells:
        return atoms(np.array([0.0, 1.0]), np.array([1 - self.p, self.p]))


@dataclass(frozen=True)
class Beta:
    """Beta(a, b), of density proportional to x^(a - 1) (1 - x)^(b - 1)."""

    a: float
    b: float

    def __post_init__(self) -> None:
        rule = "a number from 0.001 to 1,000,000"
        a, b = (real(f"{argument(name)} of a Beta reward", getattr(self, name), rule, 1e-3, 1e6) for name in "ab")
        keep(self, a=a, b=b)

    @property
    def mean(self) -> float:
        return self.a / (self.a + self.b)

    @property
    def variance(self) -> float:
        return self.mean * (self.b / (self.a + self.b)) / (self.a + self.b + 1)

    @property
    def text(self) -> str:
        return f"beta:{short(self.a)},{short(self.b)}"

    def cells(self) -> Cells:
        return beta_cells(self.a, self.b)


@dataclass(frozen=True)
class Uniform:
    """Every value between low and high equally likely."""

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        low, high = span("a uniform reward", self.low, self.high)
        keep(self, low=low, high=high)

    @property
    def mean(self) -> float:
        return (self.low + self.high) / 2

    @property
    def variance(self) -> float:
        return (self.high - self.low) ** 2 / 12

    @property
    def text(self) -> str:
        return f"uniform:{short(self.low)},{short(self.high)}"

    def cells(self) -> Cells:
        return Cells(np.ones(1), np.array([self.low]), np.array([self.high - self.low]))


@dataclass(frozen=True)
class Discrete:
    """The given values with the given probabilities."""

    values: Sequence[float] | Numbers
    probabilities: Sequence[float] | Numbers

    def __post_init__(self) -> None:
        values = listed(f"{argument('values')} of a discrete reward", self.values)
        masses = listed(f"{argument('probabilities')} of a discrete reward", self.probabilities)
        if len(values) != len(masses):
            raise BadValue(
                f"a discrete reward needs one probability for each value, got {len(values)} values and "
                f"{len(masses)} probabilities",
                field="probabilities",
            )
        if abs(math.fsum(masses) - 1) > 1e-9:
            named = f"{argument('probabilities')} of a discrete reward"
            raise BadValue(f"{named} must add up to 1, got {math.fsum(masses):.10g}")
        keep(self, values=values, probabilities=masses)

    @property
    def mean(self) -> float:
        weighted = [v * p for v, p in zip(self.values, self.probabilities, strict=True)]
        return math.fsum(weighted) / math.fsum(self.probabilities)

    @property
    def variance(self) -> float:
        weighted = [(v - self.mean) ** 2 * p for v, p in zip(self.values, self.probabilities, strict=True)]
        return math.fsum(weighted) / math.fsum(self.probabilities)

    @property
    def text(self) -> str:
        pairs = zip(self.values, self.probabilities, strict=True)
        return "discrete:" + ",".join(f"{short(v)}@{short(p)}" for v, p in pairs)

    def cells(self) -> Cells:
        return atoms(np.array(self.values), np.array(self.probabilities))


@dataclass(frozen=True)
class Empirical:
    """A value of the given sample, each equally likely: the bootstrap of what was measured."""

    sample: Sequence[float] | Numbers

    def __post_init__(self) -> None:
        keep(self, sample=listed(f"{argument('sample')} of an empirical reward", self.sample))

    @property
    def mean(self) -> float:
        return math.fsum(self.sample) / len(self.sample)

    @property
    def variance(self) -> float:
        return math.fsum((value - self.mean) ** 2 for value in self.sample) / len(self.sample)

    @property
    def text(self) -> str:
        return "empirical:" + ",".join(short(value) for value in self.sample)

    def cells(self) -> Cells:
        return atoms(np.array(self.sample), np.full(len(self.sample), 1 / len(self.sample)))


@dataclass(frozen=True)
class TruncatedNormal:
    """A normal law given that it falls between low and high.

    `centre` and `deviation` are those before cutting; `mean` and `variance` are those of what is left.
    """

    centre: float
    deviation: float
    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        low, high = span("a normal reward", self.low, self.high)
        centre = finite(f"{argument('centre')} of a normal reward", self.centre)
        named = f"{argument('deviation')} of a normal reward"
        deviation = real(named, self.deviation, "a number from 1e-9 to 1e9", 1e-9, 1e9)
        keep(self, centre=centre, deviation=deviation, low=low, high=high)
        self.cells()

    @property
    def mean(self) -> float:
        return truncated_normal(self.centre, self.deviation, self.low, self.high)[0]

    @property
    def variance(self) -> float:
        return truncated_normal(self.centre, self.deviation, self.low, self.high)[1]

    @property
    def text(self) -> str:
        limits = "" if (self.low, self.high) == (0.0, 1.0) else f",{short(self.low)},{short(self.high)}"
        return f"normal:{short(self.centre)},{short(self.deviation)}{limits}"

    def cells(self) -> Cells:
        return truncated_normal(self.centre, self.deviation, self.low, self.high)[2]


@dataclass(frozen=True)
class Divided:
    """Another law in a larger unit: each reward divided by `unit`."""

    law: Reward
    unit: float

    def __post_init__(self) -> None:
        keep(self, unit=real(f"{argument('unit')} of divided rewards", self.unit, "a number from 1 to 1e9", 1.0, 1e9))

    @property
    def mean(self) -> float:
        return self.law.mean / self.unit

    @property
    def variance(self) -> float:
        return self.law.variance / self.unit**2

    @property
    def text(self) -> str:
        return f"{self.law.text} divided by {short(self.unit)}"

    def cells(self) -> Cells:
        cells = self.law.cells()
        return Cells(cells.probability, cells.low / self.unit, cells.width / self.unit)


FORMS: dict[str, tuple[str, type[Any], tuple[int, ...]]] = {  # name: (how to write it, law, how many numbers)
    "bernoulli": ("bernoulli:p", Bernoulli, (1,)),
    "beta": ("beta:a,b", Beta, (2,)),
    "uniform": ("uniform:low,high", Uniform, (0, 2)),
    "normal": ("normal:centre,deviation or normal:centre,deviation,low,high", TruncatedNormal, (2, 4)),
    "discrete": ("discrete:value@probability,value@probability,…", Discrete, ()),
    "empirical": ("empirical:value,value,…", Empirical, ()),
}


def parse_reward(text: str) -> Reward:
    """The law that a text names: `beta:2,3`, `discrete:0@0.5,1@0.5`, …; a bare number is a Bernoulli mean."""
    name, _, rest = text.strip().partition(":")
    pieces = [piece.strip() for piece in rest.split(",")] if rest.strip() else []
    if name not in FORMS:
        if name[:1] in tuple("0123456789.+-") or name.lower() in ("nan", "inf"):
            return Bernoulli(*numbers(text, [text]))
        forms = ", ".join(form for form, _, _ in FORMS.values())
        raise UnknownName("reward", name, FORMS, f"rewards are {forms}, or a number, the mean of a Bernoulli reward")
    form, law, counts = FORMS[name]
    if name == "discrete":
        pairs = [piece.split("@") for piece in pieces]
        if not pairs or any(len(pair) != 2 for pair in pairs):
            raise BadValue(f"a discrete reward is written {form}, got {text!r}", field="reward")
        return Discrete(numbers(text, [value for value, _ in pairs]), numbers(text, [mass for _, mass in pairs]))
    if name == "empirical":
        return Empirical(numbers(text, pieces))
    if len(pieces) not in counts:
        raise BadValue(f"a {name} reward is written {form}, got {text!r}", field="reward")
    made: Reward = law(*numbers(text, pieces))
    return made
