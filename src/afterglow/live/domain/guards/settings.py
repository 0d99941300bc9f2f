"""The setting `guards`: secondary totals with limits, read from what users write and stored as records.

>>> (one,) = read_guards("guards", {"complaints": {"at_most": "+10%", "against": "control"}})
>>> one.limit, one.relative
(Limit(sign=1, factor=1.1, offset=0.0), True)
>>> one.asked()
{'metric': 'complaints', 'at_most': '+10%', 'against': 'control'}
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from re import fullmatch
from typing import Any

from afterglow.checks import is_number
from afterglow.errors import BadValue, argument
from afterglow.estimation.guards import Limit
from afterglow.live.domain import limits
from afterglow.live.domain.amounts import FULL, MICRO, MOST

REWARD = "reward"  # the name of the metric that the policy learns from
CONTROL = "control"
SIDES = {"at_most": 1, "at_least": -1}
FIELDS = (*SIDES, "against", "metric")
LONGEST = 100  # characters of a name
CHANGE = r"([+-])([0-9]+(?:\.[0-9]+)?|\.[0-9]+) ?(%?)"


@dataclass(frozen=True)
class Guard:
    """A limit of one metric; `value` is the number or the change that was asked for, such as "+10%"."""

    name: str
    metric: str
    side: str  # at_most or at_least
    value: float | str
    against: float | str | None  # the control, a number, or None where the value itself is the limit
    factor: float
    offset: float  # in the unit of the metric

    @cached_property
    def limit(self) -> Limit:
        return Limit(SIDES[self.side], self.factor, self.offset)

    @property
    def relative(self) -> bool:
        """Whether the control decides what the limit is."""
        return self.against == CONTROL

    def asked(self) -> dict[str, Any]:
        """The guard as users write it."""
        made: dict[str, Any] = {"metric": self.metric, self.side: self.value}
        return made if self.against is None else made | {"against": self.against}

    def words(self) -> str:
        """The limit in words: `at most +10% against the control`."""
        how = self.side.replace("_", " ")
        if self.against is None:
            return f"{how} {self.value:,g}" if isinstance(self.value, float) else f"{how} {self.value}"
        return f"{how} {self.value} against {'the control' if self.relative else f'{self.against:,g}'}"


def read_guards(field: str, value: object) -> tuple[Guard, ...]:
    """Checked guards, in the order in which they are given."""
    if isinstance(value, tuple) and all(isinstance(one, Guard) for one in value):
        return value
    if not isinstance(value, Mapping):
        raise refuse(field, f"must have limits by name, such as {EXAMPLE}, got {value!r:.100}")
    if len(value) > limits.GUARDS:
        raise refuse(field, f"must be at most {limits.GUARDS}, got {len(value):,}")
    return tuple(read_guard(field, name, one) for name, one in value.items())


EXAMPLE = '{"complaints": {"at_most": "+10%", "against": "control"}}'


def refuse(field: str, rule: str) -> BadValue:
    return BadValue(f"{argument(field)} {rule}", field=field)


def read_guard(field: str, name: object, asked: object) -> Guard:
    """One guard: a limit on one side."""
    known = read_name(field, name)
    if not isinstance(asked, Mapping):
        raise refuse(field, f"must have a limit for {known!r}, such as {EXAMPLE}, got {asked!r:.100}")
    for one in asked:
        if one not in FIELDS:
            raise refuse(field, f"has {one!r:.100} for {known!r}; a guard has {', '.join(FIELDS)}")
    sides = [side for side in SIDES if asked.get(side) is not None]
    if len(sides) != 1:
        raise refuse(
            field, f"must have at_most or at_least for {known!r}, one of them; for both, give two guards one metric"
        )
    metric = known if asked.get("metric") is None else read_name(field, asked["metric"])
    value, against, factor, offset = read_limit(field, known, asked[sides[0]], asked.get("against"))
    if factor == 0:
        check_fixed(field, known, sides[0], offset)
    return Guard(known, metric, sides[0], value, against, factor, offset)


def check_fixed(field: str, name: str, side: str, limit: float) -> None:
    """Totals are never negative, so some limits stop every variant, and others none."""
    if limit < 0:
        raise refuse(field, f"must have limits of at least 0 for {name!r}: totals are never negative, got {limit:g}")
    if side == "at_least" and limit == 0:
        raise refuse(field, f"must have a limit above 0 with at_least for {name!r}: no total is below 0; raise it")


def read_name(field: str, name: object) -> str:
    plain = isinstance(name, str) and 0 < len(name) <= LONGEST and name == name.strip() and limits.writable(name)
    if not isinstance(name, str) or not plain or not limits.readable(name):
        raise refuse(field, f"must have names of 1 to {LONGEST} characters that can be read, got {name!a:.100}")
    return name


def read_limit(
    field: str, name: str, value: object, against: object
) -> tuple[float | str, float | str | None, float, float]:
    """Value and base as they are stored, and the limit as a factor of the control's mean and an offset."""
    if is_number(value):
        if against is not None:
            raise refuse(
                field, f"must have a change such as '+10%' or '+0.5' for {name!r} with against, got {value!r:.100}; a "
                "number alone is the limit itself"
            )  # fmt: skip
        return float(value), None, 0.0, in_range(field, name, float(value))
    found = fullmatch(CHANGE, value.strip()) if isinstance(value, str) else None
    if found is None:
        raise refuse(
            field, f"must have a change such as '+10%' or '+0.5', or a number, for {name!r}, got {value!r:.100}"
        )
    change = float(found[2]) * (-1 if found[1] == "-" else 1)
    share = change / 100 if found[3] else 0.0
    added = 0.0 if found[3] else in_range(field, name, change)
    if share < -1 or share > MOST:
        raise refuse(field, f"must have a change from -100% to +{MOST:,.0%} for {name!r}, got {value!r:.100}")
    text = f"{found[1]}{found[2]}{found[3]}"
    if against is None or against == CONTROL:
        return text, CONTROL, round(1 + share, 12), added
    if not is_number(against):
        raise refuse(field, f"must have the control or a number as against for {name!r}, got {against!r:.100}")
    base = in_range(field, name, float(against))
    if found[3] and base == 0:
        raise refuse(
            field, f"must have a number above 0 as against for {name!r}: {value} of 0 is 0; give a fixed limit"
        )
    return text, base, 0.0, base * (1 + share) + added


def in_range(field: str, name: str, value: float) -> float:
    if abs(value) > MOST:
        raise refuse(field, f"must have numbers up to {MOST:,} for {name!r}, got {value!r}")
    return value


def metrics_of(guards: tuple[Guard, ...]) -> tuple[str, ...]:
    """The metrics beside the reward, in order: the first is metric 1."""
    return tuple(dict.fromkeys(one.metric for one in guards if one.metric != REWARD))


def stored_guards(values: Any) -> tuple[Guard, ...]:
    """Guards as the log has them."""
    return tuple(Guard(**one) for one in values)


def metric_micros(name: str, amount: object) -> int:
    """An amount of a metric in micro-units; there is no largest but what can be stored."""
    value: Any = float(amount) if isinstance(amount, Decimal) and amount.is_finite() else amount
    if not is_number(value) or value < 0 or value > MOST:
        raise BadValue(f"{argument(name)} of a metric must be a number between 0 and {MOST:,}, got {amount!r}")
    return min(FULL, value * MICRO if isinstance(value, int) else round(float(value) * MICRO))
