"""The reference of live experiments names all of it."""

import inspect
import re
from dataclasses import fields
from pathlib import Path

import pytest

from afterglow.live import Decision, Experiment, Experiments, Receipt
from afterglow.live.domain.settings_table import SETTINGS
from afterglow.live.domain.state import Role
from afterglow.live.domain.status import Explanation, Status
from afterglow.live.log_entries import LogEntry
from afterglow.live.past_steps import Step
from afterglow.live.verify import Verification

PAGE = (Path(__file__).parents[2] / "docs/reference/live.md").read_text(encoding="utf-8")
NAMED = set(re.findall(r"`(\w+)", PAGE))


@pytest.mark.parametrize("kind", [Experiments, Experiment])
def test_every_method_is_in_the_reference(kind: type) -> None:
    assert {name for name in dir(kind) if not name.startswith("_")} <= NAMED


def test_every_setting_of_an_experiment_is_in_the_reference() -> None:
    assert {one.name for one in SETTINGS} <= NAMED
    assert set(inspect.signature(Experiments.create).parameters) - {"self", "settings"} <= NAMED


@pytest.mark.parametrize("kind", [Status, Explanation])
def test_every_field_of_a_record_is_in_the_reference(kind: type) -> None:
    assert {field.name for field in fields(kind)} <= NAMED


def test_every_field_of_a_row_is_in_the_reference() -> None:
    assert {name for kind in (Decision, Receipt, Step, LogEntry) for name in kind._fields} <= NAMED
    assert {field.name for field in fields(Verification)} - {"experiment"} <= NAMED


def test_every_role_is_in_the_reference() -> None:
    assert [f"| `{role}` |" for role in Role if f"| `{role}` |" not in PAGE] == []
