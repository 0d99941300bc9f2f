"""New experiments by way of the form."""

import re
from collections.abc import Iterator
from html import unescape

import httpx
import pytest

from support.browser.visitor import Visitor
from support.service.live_fixtures import Clock
from support.service.page_fixtures import FRIDAY, create
from testbed.service import in_thread


@pytest.fixture
def clock() -> Clock:
    return Clock(FRIDAY)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A service that has an experiment named taken."""
    with in_thread(tmp_path_factory.mktemp("forms") / "experiments.db") as made:
        create(made, name="taken")
        yield made


NEW = {"name": "fresh", "variants": "left\n\n right \n", "window": "3", "reward_max": "12,5", "horizon": "1,000"}


def test_an_experiment_is_created_with_the_form(client: httpx.Client, visitor: Visitor) -> None:
    assert "No experiments yet" in visitor.read("/").text
    assert "/new" in visitor.page.links
    visitor.read("/new")
    visitor.send(
        "/new", **NEW, step_length="0.5", step_unit="hours", heartbeat="on", policy="lean-ucb", control="right",
        unit="EUR", profile="10 20.5; 30\n40", profile_from="2027-01-15 00:00", trust="0.9", remember="1.5 days",
    )  # fmt: skip
    assert visitor.path() == "/experiments/fresh?done=create"
    made = client.get("/v1/experiments/fresh").json()
    assert made["variants"] == ["left", "right"]
    assert (made["window"], made["horizon"], made["reward_max"]) == (3, 1000, 12.5)
    assert (made["step_seconds"], made["heartbeat"], made["policy"]) == (1800.0, True, "lean-ucb")
    assert (made["control"], made["status"]["phase"]) == ("right", "running")
    assert (made["unit"], made["profile"], made["trust"]) == ("EUR", [10.0, 20.5, 30.0, 40.0], 0.9)
    assert made["profile_from"] == "2027-01-15T00:00:00.000Z"
    assert made["remember"] == 1.5 * 86400
    visitor.read("/new")
    for typed in ("a while", "2 h 30 min"):
        visitor.send("/new", **NEW | {"name": "other"}, remember=typed)
        said = "time to keep reward keys must be one number and one unit, such as 150 minutes or 2.5 hours, got"
        assert f"{said} '{typed}'" in visitor.page.text
    visitor.send("/new", **NEW | {"name": "other"}, remember="3,600 s")
    said = (
        "time to keep reward keys must be a number that can be read in one way only: write 3600 or 3.600, got '3,600'"
    )
    assert said in visitor.page.text
    visitor.send("/new", **NEW | {"name": "other"}, remember="60 weeks")
    assert "time to keep reward keys must be at most 366 days, got '60 weeks'" in visitor.page.text


def test_manual_steps_a_late_start_and_settings_of_the_policy_can_be_chosen(
    client: httpx.Client, visitor: Visitor
) -> None:
    visitor.read("/new")
    visitor.send("/new", **NEW | {"horizon": ""}, steps="manual", start="later", policy="leak-ucb", options="C = 0.5")
    made = client.get("/v1/experiments/fresh").json()
    assert (made["mode"], made["status"]["phase"], made["horizon"]) == ("manual", "draft", None)
    assert made["options"] == {"C": 0.5}


def test_a_time_of_the_profile_with_manual_steps_is_refused_with_a_sentence(visitor: Visitor) -> None:
    visitor.read("/new")
    visitor.send("/new", **NEW, steps="manual", profile="10 20", profile_from="2027-01-15 00:00")
    said = (
        "time of the first number of the cycle must be left out unless expected totals of a cycle and length of a step"
    )
    assert f"{said} are given: it is for steps on a schedule" in visitor.page.text


def test_a_time_to_begin_can_be_given(client: httpx.Client, visitor: Visitor) -> None:
    assert "It is 15 Jan 2027, 08:00:00 UTC now." in visitor.read("/new").text
    visitor.send("/new", **NEW, start="at", starts="2027-01-15T09:30")
    made = client.get("/v1/experiments/fresh").json()
    assert (made["starts"], made["status"]["phase"]) == ("2027-01-15T09:30:00.000Z", "scheduled")
    for more, words in (
        ({"starts": "soon"}, "start time must be a date and a time such as 2026-11-16 09:00, got &#39;soon&#39;"),
        ({"starts": "2027-01-15T09:30", "steps": "manual"}, "only steps on a schedule can start at a time"),
        ({"starts": "1900-01-01T00:00"}, "start time must be"),
        ({"starts": "2027-01-15T09:30", "start": "now"}, "a time is entered but not chosen"),
    ):
        visitor.read("/new")
        visitor.send("/new", **NEW | {"name": "other", "start": "at"} | more)
        assert words in visitor.answer.text.partition('id="starts-refused"')[2].partition("</span>")[0]
        assert visitor.form("/new").fields["start"] == more.get("start", "at")
        assert visitor.form("/new").fields["starts"] == more["starts"]


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("name", "two words", "name must be 1 to 100 letters"),
        ("name", "taken", "taken"),
        ("variants", "one", "variants must be at least 2, one per line"),
        ("variants", "same\nsame", "same"),
        ("window", "0", "window must be a whole number of at least 1"),
        ("window", "a day", "window must be a whole number, got 'a day'"),
        ("horizon", "9" * 19, "horizon must be at most"),
        ("reward_max", "", "maximum value of one step's decision is missing; enter a number"),
        ("reward_max", "-1", "maximum value of one step's decision must be"),
        ("step_length", "0", "the length of a step must be"),
        ("step_length", "inf", "the length of a step must be"),
        ("season", "0", "season must be a whole number of at least 1"),
        ("confidence", "95", "confidence must be"),
        ("control", "up", "no variant named 'up'"),
        ("options", "C", "name = value"),
    ],
)
def test_a_refusal_stands_beside_its_field_and_keeps_what_was_typed(
    filled: httpx.Client, field: str, value: str, words: str
) -> None:
    visitor, typed = Visitor(str(filled.base_url)), NEW | {field: value}
    visitor.read("/new")
    page = visitor.send("/new", **typed)
    assert visitor.answer.status_code == 422
    beside = visitor.answer.text.partition(f'id="{field}-refused"')[2].partition("</span>")[0]
    assert words in unescape(beside)
    kept = visitor.form("/new").fields
    assert {name: kept[name].split() for name in typed} == {name: text.split() for name, text in typed.items()}
    assert "Not created yet" in page.text
    assert len(filled.get("/v1/experiments").json()["items"]) == 1
    visitor.close()


def test_a_setting_that_the_policy_needs_is_asked_for_beside_its_field(client: httpx.Client, visitor: Visitor) -> None:
    visitor.read("/new")
    visitor.send("/new", **NEW | {"horizon": ""}, policy="phased-ucb")
    assert visitor.answer.status_code == 422
    assert "phased-ucb needs" in visitor.answer.text.partition('id="horizon-refused"')[2].partition("</span>")[0]
    assert client.get("/v1/experiments").json()["items"] == []


def test_all_that_can_t_be_read_is_marked_at_once(filled: httpx.Client) -> None:
    visitor = Visitor(str(filled.base_url))
    visitor.read("/new")
    visitor.send("/new", name="", variants="", window="", reward_max="", options="C", season="", confidence="x")
    assert visitor.answer.status_code == 422
    marked = re.findall(r'id="(\w+)-refused"', visitor.answer.text)
    assert marked == ["name", "variants", "window", "reward_max", "options", "season", "confidence"]
    visitor.close()
