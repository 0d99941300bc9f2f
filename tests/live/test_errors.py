"""Errors have a kind and a field for every setting and every argument of a command, in Python and over HTTP."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import afterglow
from afterglow.errors import AfterglowError, Conflict, OutOfTurn, UnknownName
from afterglow.live import Experiments
from afterglow.live.domain.command_table import COMMANDS
from afterglow.live.domain.settings_table import SETTINGS
from testbed.quick_disk import quick_folder
from testbed.service import in_thread

ASKED: dict[str, Any] = {"name": "new", "variants": ["A", "B"], "window": 2}
WRONG: dict[str, list[tuple[Any, str]]] = {  # values of each setting, with the kind of error
    "name": [("two words", "bad-value"), ("", "bad-value"), (None, "bad-value")],
    "variants": [(["A"], "bad-value"), (["A", "A"], "bad-value"), (["A", ""], "bad-value"), ("AB", "bad-value")],
    "units": [
        (["x"], "bad-value"),
        (["x", "x"], "bad-value"),
        ("xy", "bad-value"),
        ([f"u{n}" for n in range(201)], "bad-value"),
    ],
    "levels": [({"x": 1.0}, "bad-value"), ([1.0], "bad-value")],
    "step_seconds": [(0, "bad-value"), ("1 h", "bad-value"), (1e12, "bad-value")],
    "window": [(0, "bad-value"), (1.5, "bad-value"), (10**9, "bad-value"), (None, "bad-value")],
    "horizon": [(0, "bad-value"), ("many", "bad-value"), (10**14, "bad-value")],
    "reward_max": [(0, "bad-value"), (-1, "bad-value"), (1e-9, "bad-value"), (1e15, "bad-value")],
    "policy": [
        ("trim-ucv", "unknown-policy"),
        (7, "bad-value"),
        ("attributed-ucb", "simulation-only"),
        ("panel-elimination", "needs-units"),
    ],
    "options": [
        ([1], "bad-value"),
        ({"window": 3}, "bad-value"),
        ({"self": 1}, "unknown"),
        ({"release": 1}, "unknown"),
        ({"units": ["north", "south"]}, "bad-value"),
    ],
    "control": [("C", "unknown-variant"), (7, "bad-value")],
    "season": [(0, "bad-value"), (10**7, "bad-value")],
    "confidence": [(0, "bad-value"), (1, "bad-value"), ("high", "bad-value")],
    "seed": [(-1, "bad-value"), (2**60, "bad-value")],
    "heartbeat": [("yes", "bad-value"), (None, "bad-value")],
    "shadow": [(1, "bad-value")],
    "remember": [(-1, "bad-value"), (10**8, "bad-value")],
    "start": [("now", "bad-value")],
    "starts": [(-1, "bad-value"), ("soon", "bad-value")],
    "unit": [(7, "bad-value"), ("x" * 1000, "bad-value")],
    "profile": [([1.0], "bad-value"), (["a", "b"], "bad-value")],
    "profile_from": [(-1, "bad-value"), ("soon", "bad-value")],
    "typical": [("usual", "bad-value")],
    "trust": [(-1, "bad-value"), (2, "bad-value")],
    "guards": [(["complaints"], "bad-value"), ({"complaints": {}}, "bad-value"), ({"": {"at_most": 1}}, "bad-value")],
}
GIVEN: dict[str, dict[str, Any]] = {  # arguments that each command accepts
    "start": {}, "go_live": {}, "pin": {"variant": "B"}, "unpin": {}, "pause": {}, "resume": {},
    "void": {"step": 0}, "disable": {"variant": "B"}, "enable": {"variant": "B"}, "stop": {},
    "emergency": {"variant": "B"}, "accept_clock": {}, "extend": {"horizon": 100}, "archive": {}, "unarchive": {},
}  # fmt: skip
ARGUMENTS: list[tuple[str, str, Any, str]] = [  # command, argument, value, kind
    *((one.name, "reason", " ", "bad-value") for one in COMMANDS if one.name != "start"),
    *((name, "variant", "C", "unknown-variant") for name in ("pin", "disable", "enable", "emergency")),
    *((name, "unit", "north", "bad-value") for name in ("pin", "unpin", "void")),
    ("stop", "keep", "C", "unknown-variant"), ("void", "step", -1, "bad-value"), ("void", "step", "x", "bad-value"),
    ("void", "last", -1, "bad-value"), ("void", "last", 2**60, "bad-value"),
    ("extend", "horizon", 0, "bad-value"), ("extend", "horizon", "more", "bad-value"),
]  # fmt: skip


@pytest.fixture(scope="module")
def experiments() -> Iterator[Experiments]:
    with quick_folder() as folder, afterglow.live.open(Path(folder) / "experiments.db") as made:
        made.create("taken", ["A", "B"], window=2)
        for step in range(3):
            made["taken"].close_step(0.5, step)
        yield made


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with quick_folder() as folder, in_thread(Path(folder) / "experiments.db") as made:
        made.post("/v1/experiments", json=ASKED | {"name": "taken"}).raise_for_status()
        for step in range(3):
            made.post(f"/v1/experiments/taken/steps/{step}", json={"total": 0.5}).raise_for_status()
        yield made


def test_every_setting_and_every_argument_is_tried() -> None:
    assert WRONG.keys() == {one.name for one in SETTINGS}
    assert GIVEN.keys() == {one.name for one in COMMANDS}
    assert {(command, field) for command, field, _, _ in ARGUMENTS} == {
        (one.name, argument.name) for one in COMMANDS for argument in one.arguments
    }


@pytest.mark.parametrize(("field", "value", "kind"), [(name, *one) for name, many in WRONG.items() for one in many])
def test_a_wrong_setting_is_named(experiments: Experiments, field: str, value: Any, kind: str) -> None:
    with pytest.raises(AfterglowError) as refused:
        experiments.create(**ASKED | {field: value})
    assert refused.value.field == field
    assert refused.value.kind.startswith(kind)
    assert experiments.names() == ["taken"]


@pytest.mark.parametrize(("field", "value", "kind"), [(name, *one) for name, many in WRONG.items() for one in many])
def test_a_wrong_setting_is_named_over_http(client: httpx.Client, field: str, value: Any, kind: str) -> None:
    answer = client.post("/v1/experiments", json=ASKED | {field: value})
    problem = answer.json()
    assert (answer.status_code, problem["type"]) == (422, "/problems/bad-value")
    assert problem["field"] == field
    assert problem["kind"].startswith(("bad-value", kind))


@pytest.mark.parametrize(("command", "field", "value", "kind"), ARGUMENTS)
def test_a_wrong_argument_is_named(
    experiments: Experiments, client: httpx.Client, command: str, field: str, value: Any, kind: str
) -> None:
    given = {"reason": "a test", **GIVEN[command], field: value}
    with pytest.raises(AfterglowError) as refused:
        experiments["taken"].command(command, **given)
    assert (refused.value.field, refused.value.kind) == (field, kind)
    answer = client.post(f"/v1/experiments/taken/{command.replace('_', '-')}", json=given)
    assert (answer.status_code, answer.json()["field"]) == (422, field)
    assert answer.json()["kind"] in (kind, "bad-value")


def test_conflicts_have_kinds(experiments: Experiments, client: httpx.Client) -> None:
    taken = experiments["taken"]
    taken.reward(0.5, "a key")
    found = []
    for call in (
        lambda: experiments.create("taken", ["A", "B"], window=2),
        lambda: taken.close_step(0.25, 0),
        lambda: taken.close_step(0.25),
        lambda: taken.reward(0.25, "a key"),
    ):
        with pytest.raises(Conflict) as refused:
            call()
        found.append((refused.value.kind, refused.value.field))
    assert found == [("name-taken", "name"), ("step-closed", "total"), ("step-closed", "total"), ("key-reused", "key")]
    answer = client.post("/v1/experiments", json=ASKED | {"name": "taken"})
    assert (answer.status_code, answer.json()["kind"], answer.json()["field"]) == (409, "name-taken", "name")


def test_errors_have_all_digits_of_an_amount(experiments: Experiments) -> None:
    shop = experiments.create("millions", ["A", "B"], window=2, reward_max=5e6)
    shop.close_step(1_234_567.25)
    with pytest.raises(Conflict, match=r"was closed with 1,234,567\.25, got 7; the first total stays"):
        shop.close_step(7, step=0)


def test_a_command_at_the_wrong_time_names_its_argument(experiments: Experiments) -> None:
    taken = experiments["taken"]
    with pytest.raises(OutOfTurn) as late:
        taken.void(1, "a test", 9)
    with pytest.raises(UnknownName) as unknown:
        experiments.get("takn")
    assert (late.value.field, unknown.value.kind) == ("last", "unknown-experiment")


@pytest.mark.parametrize(
    ("sent", "slug", "field"),
    [
        ({"key": "a"}, "bad-value", "amount"),
        ({"amount": 1}, "bad-value", "key"),
        ({"key": "", "amount": 1}, "bad-value", "key"),
        ({"key": "a", "amount": -1}, "bad-value", "amount"),
        ({"key": "a", "amount": "1"}, "bad-value", "amount"),
        ([{"key": "a", "amount": 1}, {"key": "b", "amount": 1, "user": 7}], "attribution-refused", "user"),
    ],
)
def test_a_wrong_reward_is_named(client: httpx.Client, sent: Any, slug: str, field: str) -> None:
    problem = client.post("/v1/experiments/taken/rewards", json=sent).json()
    assert (problem["type"], problem["field"]) == (f"/problems/{slug}", field)
    assert "$" not in problem["detail"]  # nothing of the decoder
