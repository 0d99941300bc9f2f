"""Flat records as JSON and back, exactly, with a checksum.

A record is a dataclass of `int`, `float`, `list[int]` and `list[float]`. Floats survive to the last bit, infinite
ones as the strings "inf", "-inf" and "nan", so that the text is strict JSON. Every text ends in the CRC-32 of its
values; spaces and the order of keys don't matter, nor does 1.0 written as 1, as other programs may do.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, NoReturn, TypeVar
from zlib import crc32

from afterglow.errors import BadFormat, BadValue

RecordT = TypeVar("RecordT")
ODD = ("inf", "-inf", "nan")


def plain(record: Any, what: str) -> dict[str, Any]:
    """The fields of a record as JSON values."""
    return {field.name: value_of(field, getattr(record, field.name), what) for field in fields(record)}


def value_of(field: Any, value: Any, what: str) -> Any:
    """A field's value, if it is of a kind that can be stored and compiled."""
    kinds: Any = int | float if "float" in str(field.type) else int
    parts = value if isinstance(value, list) else [value]
    for part in parts:
        if isinstance(part, bool) or not isinstance(part, kinds):
            raise BadValue(
                f"{what} field {field.name!r} must hold what it is annotated with, one of int, float, list[int] "
                f"and list[float], got {part!r} for {field.type}",
                kind="bad-record",
                field=field.name,
            )
    kept = [str(part) if isinstance(part, float) and not math.isfinite(part) else part for part in parts]
    return kept if isinstance(value, list) else kept[0]


def like(record: RecordT, values: Any, what: str) -> RecordT:
    """A record with these values: the fields, kinds and lengths must be those of `record`."""
    names = [field.name for field in fields(record)]  # type: ignore[arg-type]
    if not isinstance(values, Mapping) or sorted(values) != sorted(names):
        found = ", ".join(values) if isinstance(values, Mapping) else repr(values)
        raise BadFormat(
            f"{what} must have the fields {', '.join(names)}, got {found or 'none'}; it was stored by other code"
        )
    made = {}
    for field in fields(record):  # type: ignore[arg-type]
        made[field.name] = read(field, getattr(record, field.name), values[field.name], what)
    return type(record)(**made)


def settings_plain(settings: Any, what: str) -> dict[str, Any]:
    """`plain` for a policy's settings, without fields at their default, so that older records stay as they are."""
    newer = {field.name: field.default for field in fields(settings) if field.default is not MISSING}
    return {name: value for name, value in plain(settings, what).items() if name not in newer or newer[name] != value}


def settings_like(settings: RecordT, values: Any, what: str) -> RecordT:
    """`like` for a policy's settings: a field with a default may be absent, if the record is older than the field."""
    if isinstance(values, Mapping):
        known = fields(settings)  # type: ignore[arg-type]
        values = {**{field.name: field.default for field in known if field.default is not MISSING}, **values}
    return like(settings, values, what)


def read(field: Any, model: Any, value: Any, what: str) -> Any:
    """One field's value from JSON."""
    real = "float" in str(field.type)
    parts = value if isinstance(value, list) else [value]
    fits = isinstance(value, list) == isinstance(model, list) and (
        not isinstance(model, list) or len(value) == len(model)
    )
    for part in parts:
        fits = fits and ((type(part) in (int, float) or part in ODD) if real else type(part) is int)
    if not fits:
        size = f"[{len(model)}]" if isinstance(model, list) else ""
        raise BadFormat(f"{what} field {field.name!r} must be {'float' if real else 'int'}{size}, got {value!r}")
    kept = [float(part) for part in parts] if real else parts
    return kept if isinstance(value, list) else kept[0]


def write(values: Mapping[str, Any]) -> str:
    """The values as JSON with their check sum."""
    try:
        return json.dumps({**values, "check": check(values)}, allow_nan=False)
    except (TypeError, ValueError) as error:
        sentence = f"what is stored must be strings, finite numbers or lists of them: {error}"
        raise BadValue(sentence, kind="bad-record") from error


def parse(text: str | bytes, form: str, version: int) -> dict[str, Any]:
    """The values of an undamaged text of this format and version."""
    try:
        values = json.loads(text, parse_constant=no_constant)
    except (ValueError, TypeError, RecursionError) as error:
        raise BadFormat(
            f"the text must be JSON of format {form!r}: {error}; read it from where it was stored"
        ) from error
    found = values.get("format") if isinstance(values, dict) else type(values).__name__
    if found != form:
        raise BadFormat(f"the text must be of format {form!r}, got {found!r}; give what `to_json` returned")
    if values.get("version") != version:
        raise BadFormat(
            f"the text is of version {values.get('version')!r} of {form!r}, this release reads version {version}; "
            "use the release that stored it"
        )
    try:
        found = check(values)
    except (ValueError, RecursionError) as error:
        raise BadFormat(f"the text must have plain values of format {form!r}: {error}") from error
    if values.get("check") != found:
        raise BadFormat(
            f"the text was changed after it was stored: its check sum is {values.get('check')!r:.40}, "
            f"its values give {found}; take an undamaged copy"
        )
    return dict(values)


def no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def check(values: Mapping[str, Any]) -> int:
    """CRC-32 of the values in their plainest writing."""
    bare = {name: value for name, value in values.items() if name != "check"}
    return crc32(json.dumps(plainest(bare), sort_keys=True).encode())


def plainest(value: Any) -> Any:
    """The value with 1.0 as 1, as other programs may write it."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list | tuple):
        return [plainest(part) for part in value]
    if isinstance(value, Mapping):
        return {name: plainest(part) for name, part in value.items()}
    return value
