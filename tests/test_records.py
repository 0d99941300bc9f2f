"""Flat records as JSON and back."""

import json
import math
from dataclasses import dataclass
from typing import Any

import pytest

from afterglow import Agent, records
from afterglow.errors import BadFormat, BadValue


@dataclass
class Record:
    count: int
    value: float
    counts: list[int]
    values: list[float]


MODEL = Record(0, 0.0, [0, 0], [0.0, 0.0, 0.0])


@pytest.mark.parametrize("value", [0.1 + 0.2, 5e-324, 1.7976931348623157e308, -0.0, math.inf, -math.inf, 1 / 3, 1e22])
def test_floats_survive_to_the_last_bit(value: float) -> None:
    text = json.dumps(records.plain(Record(2**70, value, [1, -2], [value, 1.0, value]), "record"), allow_nan=False)
    copy = records.like(MODEL, json.loads(text), "record")
    assert copy == Record(2**70, value, [1, -2], [value, 1.0, value])
    assert math.copysign(1, copy.value) == math.copysign(1, value)


def test_what_is_not_a_number_survives_too() -> None:
    copy = records.like(MODEL, records.plain(Record(0, math.nan, [0, 0], [math.nan] * 3), "record"), "record")
    assert math.isnan(copy.value)
    assert all(map(math.isnan, copy.values))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("count", 1.0), ("count", True), ("count", "1"), ("count", None), ("count", [1]),
        ("value", "one"), ("value", False), ("value", [1.0]),
        ("counts", [1]), ("counts", [1, 2.5]), ("counts", 1), ("counts", [1, [2]]),
        ("values", [1.0, 2.0]), ("values", [1.0, 2.0, None]),
    ],
)  # fmt: skip
def test_a_field_of_another_kind_or_length_is_refused_by_name(name: str, value: Any) -> None:
    values = records.plain(MODEL, "record") | {name: value}
    with pytest.raises(BadFormat, match=f"record field '{name}' must be"):
        records.like(MODEL, values, "record")


@pytest.mark.parametrize("values", [None, [], {}, {"count": 1}, {**records.plain(MODEL, ""), "more": 1}])
def test_missing_and_foreign_fields_are_refused(values: Any) -> None:
    with pytest.raises(BadFormat, match="must have the fields count, value, counts, values, got"):
        records.like(MODEL, values, "record")


@pytest.mark.parametrize("record", [Record(1.5, 0.0, [], []), Record(0, "x", [], []), Record(0, 0.0, [True], [])])  # type: ignore[arg-type]
def test_a_record_that_breaks_its_annotations_is_not_written(record: Record) -> None:
    with pytest.raises(BadValue, match="must hold what it is annotated with"):
        records.plain(record, "record")


def test_a_text_is_known_by_its_check_sum_however_it_is_laid_out() -> None:
    values = {"format": "f", "version": 1, "x": [1.0, 2.5], "y": {"b": 1e300, "a": None}}
    text = records.write(values)
    assert records.parse(json.dumps(json.loads(text), indent=4, sort_keys=True), "f", 1)["x"] == [1.0, 2.5]
    with pytest.raises(BadFormat, match="changed after it was stored"):
        records.parse(text.replace("2.5", "2.6"), "f", 1)


def test_what_json_cannot_hold_is_not_written() -> None:
    with pytest.raises(BadValue, match="must be strings, finite numbers or lists of them"):
        records.write({"options": {"a": {1, 2}}})


@dataclass(frozen=True)
class Grown:
    """Settings that have one field more than they had."""

    arms: int
    newer: float = 0.0


def test_settings_stored_before_a_field_existed_have_its_default_and_stay_as_they_were() -> None:
    old = {"arms": 2}
    read = records.settings_like(Grown(3, 0.5), old, "settings")
    assert read == Grown(2, 0.0)
    assert records.settings_plain(read, "settings:") == old
    assert records.settings_plain(Grown(2, 0.3), "settings:") == {"arms": 2, "newer": 0.3}
    with pytest.raises(BadFormat, match="must have the fields arms, newer"):
        records.settings_like(Grown(3), {"newer": 1.0}, "settings")


def test_an_agent_that_earns_is_stored_as_before_there_was_an_aim() -> None:
    stored = json.loads(Agent(2, 3, 100).to_json())
    assert "price" not in stored["settings"]
    knowing = Agent(2, 3, 100, aim="knowing")
    assert Agent.from_json(knowing.to_json()).settings == knowing.settings
    assert Agent.from_json(Agent(2, 3, 100).to_json()).settings.price == 0.0
