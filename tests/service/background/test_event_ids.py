"""Ids of events: short however many experiments there are, and enough to go on."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

import afterglow
from afterglow.live import Experiments
from afterglow.live.domain.log import Place
from afterglow.service.background import event_ids
from afterglow.service.background.event_ids import OTHERS, Places, cursor, positions, resumed
from support.service.live_fixtures import Clock

ASKED: dict[str, Any] = {"variants": ["49", "59"], "window": 3, "reward_max": 10.0, "policy": "ucb1"}
HEADER = 65_536  # bytes that servers and proxies take


def place(seq: int, at: int) -> Place:
    return Place(seq, at, seq.to_bytes(32))


def test_an_id_of_ten_thousand_experiments_fits_into_a_header() -> None:
    seen = Places({f"{number:0100d}": place(5, 1000 * number) for number in range(10_000)})
    assert len(cursor(seen)) < 1000
    for number in range(5000):  # steps of all that end together
        seen.move(f"{number:0100d}", place(6, 10_000_000))
    text = cursor(seen)
    assert len(text) < HEADER
    named = positions(text.decode())
    others = named.pop(OTHERS)
    assert len(named) == event_ids.MOST
    assert int.from_bytes(others.hash) == 10_000 - event_ids.MOST
    assert others.seq == 5000 * 7 + 5000 * 6 - event_ids.MOST * 7


@pytest.fixture
def experiments(address: str, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Experiments]:
    monkeypatch.setattr(event_ids, "MOST", 3)
    with afterglow.live.open(address, clock=clock) as made:
        for name in "abcdef":
            made.create(name, **ASKED)
            clock.now += 60
        yield made


def numbers(places: Mapping[str, Place]) -> dict[str, int]:
    return {name: one.seq for name, one in places.items()}


def going_on(experiments: Experiments, named: Mapping[str, Place]) -> tuple[dict[str, int], list[str]]:
    found, lost = resumed(experiments, named, None)
    return numbers(found), lost


def test_a_reader_with_a_short_id_goes_on_behind_what_it_has_seen(experiments: Experiments, clock: Clock) -> None:
    seen = Places(experiments.places())
    named = positions(cursor(seen).decode())
    assert named.keys() < {*seen, OTHERS}
    assert going_on(experiments, named) == (numbers(seen), [])
    for name in "acf":
        experiments[name].close_step(1.0)
    experiments.create("g", **ASKED)
    assert going_on(experiments, named) == (numbers(seen), [])
    assert sorted(name for name, _ in experiments.changes(numbers(seen))) == [*"acfgg"]
    assert resumed(experiments, named, ["a"]) == ({"a": seen["a"]}, [])
    assert resumed(experiments, {"a": seen["a"]}, None) == ({"a": seen["a"]}, [])


@pytest.mark.parametrize("change", [-1, 1])
@pytest.mark.parametrize("only", [None, [*"edcba"]])
def test_a_reader_with_a_short_id_is_told_that_records_were_lost(
    experiments: Experiments, only: list[str] | None, change: int
) -> None:
    places = {name: one for name, one in experiments.places().items() if only is None or name in only}
    named = positions(cursor(Places(places, only)).decode())
    others = named[OTHERS]
    assert resumed(experiments, named, only)[1] == []
    named[OTHERS] = others._replace(seq=others.seq + change)
    found, lost = resumed(experiments, named, only and sorted(only))
    assert sorted(lost) == sorted(found.keys() - named.keys()) != []
    count, choice = others.hash[: event_ids.COUNT], others.hash[event_ids.COUNT :]
    named[OTHERS] = others._replace(hash=(1 + int.from_bytes(count)).to_bytes(event_ids.COUNT) + choice)
    assert resumed(experiments, named, only)[1]
    for other in ([*"abcd"], [*"abcdef"]):  # what they can't compare
        assert resumed(experiments, named, other)[1] == []
