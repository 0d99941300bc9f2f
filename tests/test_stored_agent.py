"""Stored agents that somebody changed on purpose: refused, or played on; no other error, little time and memory."""

import json
import random
from collections.abc import Iterator
from time import process_time
from typing import Any

import pytest

from afterglow import Agent, Units
from afterglow.errors import AfterglowError, BadFormat, BadValue
from afterglow.records import check

ODD: tuple[Any, ...] = (
    -1, 0, 99, 2**31, 2**63, 10**18, 2 * 10**8, 1e308, -0.5, "nan", "inf", "-inf", "", "x" * 300_000, None, True, [],
    {}, [0], {"a": 1},
)  # fmt: skip
POLICIES: tuple[dict[str, Any], ...] = (
    {"policy": "thrift-ucb"}, {"policy": "trim-ucb"}, {"policy": "phased-elimination", "horizon": 300},
    {"policy": "composite-exp3", "horizon": 300}, {"policy": "switchback", "horizon": 300},
    {"policy": "lag-ridge-ucb"}, {"policy": "lean-ucb", "horizon": 300}, {"policy": "random-turns", "horizon": 300},
)  # fmt: skip
SLOW = 3.0  # seconds of this process for one text, on any machine


def stored(**given: Any) -> dict[str, Any]:
    agent = Agent(3, 4, seed=5, **given)
    for step in range(40):
        agent.select()
        agent.update(1.0 + step % 3 / 2)
    values: dict[str, Any] = json.loads(agent.to_json())
    return values


def places(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value."""
    if before:
        yield before
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in inner:
        yield from places(part, (*before, name))


def changed(values: dict[str, Any], path: tuple[Any, ...], new: Any) -> str:
    """The text with another value and a check sum that fits."""
    made: dict[str, Any] = json.loads(json.dumps(values))
    inner: Any = made
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = new
    made["check"] = check(made)
    return json.dumps(made)


@pytest.mark.parametrize(
    ("path", "new"),
    [(("hold", "arm"), 99), (("hold", "arm"), -1), (("tallies", 0, "pulls"), -3), (("tallies", 0, "past"), "nan"),
     (("state",), {}), (("arms",), 2 * 10**8), (("arms",), list(range(10_001))), (("window",), 10**9),
     (("horizon",), 10**13), (("progress", "current"), 3), (("hold", "done"), 10**6), (("batches", "open"), None)],
)  # fmt: skip
def test_what_no_agent_can_have_reached_is_refused(path: tuple[Any, ...], new: Any) -> None:
    agent = Agent(3, 24, policy="trim-ucb")
    for _ in range(30):
        agent.select()
        agent.update(1.0)
    agent.select()
    began = process_time()
    with pytest.raises(BadFormat) as refused:
        Agent.from_json(changed(json.loads(agent.to_json()), path, new))
    assert process_time() - began < SLOW
    assert len(str(refused.value)) < 5000


@pytest.mark.parametrize("given", POLICIES, ids=str)
def test_an_agent_with_any_one_value_changed_raises_our_errors_only(given: dict[str, Any]) -> None:
    values, chance = stored(**given), random.Random(7)
    paths = [path for path in places(values) if path[0] not in ("format", "version", "check")]
    accepted = 0
    for _ in range(400):
        text = changed(values, chance.choice(paths), chance.choice(ODD))
        began = process_time()
        try:
            agent = Agent.from_json(text)
            accepted += 1
            for _ in range(3):
                agent.select()
                agent.update(1.0)
            agent.to_json()
        except AfterglowError as error:
            assert len(str(error)) < 5000  # noqa: PT017  both ways are right
        assert process_time() - began < SLOW, text[:300]
    assert accepted < 300


def test_texts_that_are_no_json_or_too_deep_are_refused() -> None:
    deep = '{"format":"afterglow-agent","version":1,"a":' + "[" * 5000 + "]" * 5000 + "}"
    shallow = '{"format":"afterglow-agent","version":1,"a":' + "[" * 600 + "]" * 600 + "}"
    digits = '{"format":"afterglow-agent","version":1,"a":' + "9" * 5000 + "}"
    for text in (deep, shallow, digits, "", b"\xff\xfe", "[]", "null"):
        for kind in (Agent, Units):
            with pytest.raises(BadFormat):
                kind.from_json(text)


def test_arms_windows_and_horizons_have_limits() -> None:
    for given in ({"arms": 10_001}, {"window": 1_000_001}, {"horizon": 10**12 + 1}, {"season": 1_000_001}):
        with pytest.raises(BadValue, match=f"^{next(iter(given))} must be at most 1"):
            Agent(**{"arms": 3, "window": 4, **given})  # type: ignore[arg-type]


def test_errors_have_a_bounded_length_and_keep_their_arguments() -> None:
    with pytest.raises(BadValue) as refused:
        Agent(["A", "B"], window="x" * 300_000)  # type: ignore[arg-type]
    assert len(str(refused.value)) < 5000
    assert refused.value.field == "window"
    assert refused.value.worded(lambda name, value: f"--{name}").startswith("--window must be a whole number")
