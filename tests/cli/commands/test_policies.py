"""`afterglow policies`."""

import json

import pytest

from afterglow.cli import run
from afterglow.policies.registry import named, names, round_names, round_policy


def test_every_policy_is_listed_with_what_it_must_know(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["policies", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [policy["name"] for policy in listed] == [*names(), *round_names()]
    for policy in listed:
        known = round_policy(policy["name"]) if policy["units"] else named(policy["name"])
        assert policy["needs"] == known.needs()
        assert list(policy["settings"]) == known.options()
        assert all(policy[fact] for fact in ("summary", "guarantee", "source"))
    assert [policy["name"] for policy in listed if policy["simulation_only"]] == ["attributed-ucb"]


def test_the_text_names_every_policy_and_fits_120_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["policies"]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 120
    for name in names():
        assert f"\n{name} " in f"\n{shown}"


def test_settings_that_may_be_left_out_stand_in_brackets(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["policies"]) == 0
    assert "window, horizon [constants, hold, a]" in capsys.readouterr().out
