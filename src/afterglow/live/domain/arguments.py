"""Arguments of commands and settings of experiments: one record for the check, the HTTP field, the form and the docs.

>>> window = Argument("window", Kind.WHOLE, "Steps.", least=1, most=1000)
>>> window.read(24.0)
24
>>> window.read(0)
Traceback (most recent call last):
afterglow.errors.BadValue: window must be a whole number of at least 1, got 0
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from afterglow.checks import arm_names, between, is_number, number, whole
from afterglow.errors import BadValue, UnknownName, argument
from afterglow.live.domain import limits
from afterglow.live.domain.guards.settings import Guard, read_guards

LONGEST_NAME, LONGEST_TEXT = 100, 1000  # characters


class Kind(StrEnum):
    """Types of values."""

    NAME = "name"  # of an experiment
    VARIANTS = "variants"
    VARIANT = "variant"
    UNITS = "units"
    UNIT = "unit"
    LEVELS = "levels"  # a number for each unit
    WHOLE = "whole number"
    NUMBER = "number"
    NUMBERS = "numbers"
    FLAG = "yes or no"
    TEXT = "text"
    TIME = "time"  # seconds since 1970
    POLICY = "policy"
    OPTIONS = "options"  # of a policy, by name
    GUARDS = "guards"  # limits of secondary totals, by name


class Required:
    """The type of `REQUIRED`, which is the default of arguments without one."""

    def __repr__(self) -> str:
        return "required"


REQUIRED = Required()


@dataclass(frozen=True)
class Argument:
    """`read` checks a value. `least`, `most` are limits that are allowed, `above`, `below` limits that are not."""

    name: str
    kind: Kind
    help: str  # one or more sentences, for the reference and the OpenAPI document
    default: Any = REQUIRED
    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    note: str = ""  # follows the rule in an error
    example: Any = None
    shown_default: str = ""  # in the reference, where the value itself says too little
    label: str = ""  # of the form field
    hint: str = ""  # below the form field
    initial: str | None = None  # what the form shows first; None: the default
    advanced: bool = False  # among "More settings" of the form
    choices: Callable[..., list[str]] | None = None  # variants that the form offers, of spec and status
    suggested: Callable[..., str] | None = None  # the value that the form shows first, of spec and status

    @property
    def required(self) -> bool:
        return self.default is REQUIRED

    def read(self, value: object, variants: Sequence[str] | None = None, units: Sequence[str] | None = None) -> Any:
        """The value in its type, or an error that names the argument; a variant must be one of `variants`, a unit one
        of `units`."""
        if value is REQUIRED:
            raise BadValue(f"{argument(self.name)} is missing; give {self.kind.value!r}")
        if value is None and self.default is None:
            return None
        if self.kind is Kind.VARIANT and variants is not None:
            return known_variant(self.name, value, variants)
        if self.kind is Kind.UNIT and units is not None:
            return known_unit(self.name, value, units)
        return READERS[self.kind](self, value)


def read_all(
    arguments: Sequence[Argument],
    given: Mapping[str, object],
    variants: Sequence[str] | None = None,
    units: Sequence[str] | None = None,
) -> dict[str, Any]:
    """All values by name, checked; an unknown name is refused."""
    known = [one.name for one in arguments]
    for name in given:
        if name not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            raise UnknownName("argument", name, known, takes, field=name)
    return {one.name: one.read(given.get(one.name, one.default), variants, units) for one in arguments}


def known_variant(field: str, name: object, variants: Sequence[str]) -> str:
    """The name of a variant of the experiment."""
    if name not in variants:
        raise UnknownName("variant", str(name), variants, f"available: {', '.join(variants)}", field=field)
    return str(name)


def refuse_unnamed(field: str, name: object) -> None:
    """Refuse what can't be the name of a unit."""
    if name is not None and not isinstance(name, str):
        raise BadValue(f"{argument(field)} must be the name of a unit, got {name!r}")


def known_unit(field: str, name: object, units: Sequence[str]) -> str:
    """The name of a unit of the experiment."""
    if not units:
        raise BadValue(
            f"{argument(field)} must be left out, got {name!r}: the experiment has one total a step and no units"
        )
    if name is None:
        raise BadValue(f"{argument(field)} is missing: the experiment has the units {shortened(units)}; name one")
    if name not in units:
        raise UnknownName("unit", str(name), units, f"the units are {shortened(units)}", field=field)
    return str(name)


def shortened(names: Sequence[str], most: int = 12) -> str:
    """A list of names that is not too long for a sentence."""
    return f"{', '.join(names[:most])}{', …' * (len(names) > most)}"


def read_whole(one: Argument, value: object) -> int:
    found = whole(one.name, value, int(one.least or 0), one.note)
    return found if one.most is None else limits.at_most(one.name, found, int(one.most))


def read_number(one: Argument, value: object) -> float:
    if one.above is None and one.below is None:
        least, most = (-math.inf if one.least is None else one.least), (math.inf if one.most is None else one.most)
        return between(one.name, value, least, most, one.note)
    low, high = (-math.inf if one.above is None else one.above), (math.inf if one.below is None else one.below)
    return number(one.name, value, low, high, one.note)


def read_numbers(one: Argument, value: object) -> tuple[float, ...]:
    """Several finite numbers."""
    try:
        found = list(value)  # type: ignore[call-overload]
    except TypeError:
        found = []
    least, most = int(one.least or 1), int(one.most or 1)
    if isinstance(value, str | bytes | Mapping) or not least <= len(found) <= most:
        raise BadValue(f"{argument(one.name)} must have {least:,} to {most:,} numbers, got {len(found):,}")
    for place, each in enumerate(found):
        if not is_number(each):
            raise BadValue(f"{argument(one.name)} must have finite numbers, got {each!r} at place {place:,}")
    return tuple(float(each) for each in found)


def read_flag(one: Argument, value: object) -> bool:
    if not isinstance(value, bool):
        raise BadValue(f"{argument(one.name)} must be True or False, got {value!r}")
    return value


def read_text(one: Argument, value: object) -> str:
    """A sentence or a word, without spaces around it."""
    what, most = ("a sentence", LONGEST_TEXT) if one.most is None else ("a text", int(one.most))
    if not isinstance(value, str) or not value.strip() or len(value) > most or not limits.writable(value):
        raise BadValue(f"{argument(one.name)} must be {what} of at most {most:,} characters, got {value!r}")
    if not limits.readable(value, lines=True):
        raise BadValue(f"{argument(one.name)} must have no characters that hide or reorder others, got {value!a}")
    return value.strip()


def read_name(one: Argument, value: object) -> str:
    """A name that can be part of an address and of a file's name."""
    plain = isinstance(value, str) and 0 < len(value) <= LONGEST_NAME
    if not plain or not str(value).isascii() or not str(value).replace("-", "").replace("_", "").isalnum():
        raise BadValue(f"{argument(one.name)} must be 1 to {LONGEST_NAME} letters, digits, '-' or '_', got {value!r}")
    return str(value)


def read_variant(one: Argument, value: object) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_NAME or not limits.writable(value):
        raise BadValue(
            f"{argument(one.name)} must have strings of 1 to {LONGEST_NAME} characters as names, got {value!r}"
        )
    if not limits.readable(value):
        raise BadValue(
            f"{argument(one.name)} must have names without control characters and characters that hide or reorder "
            f"others, got {value!a}"
        )
    return value


def read_variants(one: Argument, value: object) -> tuple[str, ...]:
    """At least two different names."""
    try:
        names = arm_names(value)
    except BadValue as error:  # there they are arms
        raise BadValue(error.worded(lambda name, text: argument(one.name, text)), field=one.name) from error
    found = tuple(read_variant(one, name) for name in names)
    limits.at_most(one.name, len(found), int(one.most or limits.VARIANTS))
    return found


def read_units(one: Argument, value: object) -> tuple[str, ...]:
    """At least two different names of units."""
    found = tuple(read_variant(one, name) for name in arm_names(value, one.name))
    limits.at_most(one.name, len(found), limits.UNITS)
    return found


def read_levels(one: Argument, value: object) -> dict[str, float]:
    """A number for each unit; whether they are the experiment's units is checked with them."""
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise BadValue(f"{argument(one.name)} must be a mapping from units to mean totals, got {value!r}")
    return dict(value)


def read_policy(one: Argument, value: object) -> str:
    if not isinstance(value, str):
        raise BadValue(f"{argument(one.name)} must be the name of one of Afterglow's policies, got {value!r}")
    return value


def read_options(one: Argument, value: object) -> dict[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise BadValue(f"{argument(one.name)} must have the policy's settings by name, got {value!r}")
    return dict(value)


def guards_of(one: Argument, value: object) -> tuple[Guard, ...]:
    return read_guards(one.name, value)


READERS: Mapping[Kind, Callable[[Argument, object], Any]] = {
    Kind.NAME: read_name,
    Kind.VARIANTS: read_variants,
    Kind.VARIANT: read_variant,
    Kind.UNITS: read_units,
    Kind.UNIT: read_variant,
    Kind.LEVELS: read_levels,
    Kind.WHOLE: read_whole,
    Kind.NUMBER: read_number,
    Kind.NUMBERS: read_numbers,
    Kind.FLAG: read_flag,
    Kind.TEXT: read_text,
    Kind.TIME: read_number,
    Kind.POLICY: read_policy,
    Kind.OPTIONS: read_options,
    Kind.GUARDS: guards_of,
}
