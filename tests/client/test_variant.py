"""Which variant a client serves: kept while it holds, asked for again, or fallen back to."""

import json

import pytest

from afterglow.client.backoff import Backoff
from afterglow.client.calls import Answer
from afterglow.client.variant import Variant
from afterglow.errors import NotAllowed, Unavailable

AWAY = Unavailable("no answer")


class Hand:
    """A clock that is turned by hand."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def variant(clock: Hand, default: str | None = None) -> Variant:
    return Variant(default, Backoff(lambda: 0.0, 2.0), clock)


def says(name: str, step: int = 0, cache: str = "private, max-age=60") -> Answer:
    body = {"variant": name, "step": step, "role": "plan", "valid_until": None}
    return Answer(200, {"cache-control": cache, "etag": f'"{step}-0"'}, json.dumps(body).encode())


def test_an_answer_is_served_for_its_time_counted_from_when_it_was_asked_for() -> None:
    clock = Hand()
    known = variant(clock)
    assert known.ready(known.asked) is None
    clock.now += 2  # the answer is slow
    assert known.answered(says("A"), asked=1000.0).variant == "A"
    clock.now = 1059.9
    assert known.ready(known.asked) is not None
    clock.now = 1060.0
    assert known.ready(known.asked) is None


def test_an_answer_that_may_not_be_kept_is_asked_for_each_time() -> None:
    clock = Hand()
    known = variant(clock)
    known.answered(says("A", cache="no-cache"), clock())
    clock.now += 0.001
    assert known.ready(known.asked) is None


def test_those_who_waited_while_a_request_was_sent_share_its_answer() -> None:
    clock = Hand()
    known = variant(clock)
    early = known.asked
    sent = known.ask()
    late = known.asked  # comes while the request is on its way, which may be too old for it
    known.answered(says("A", cache="no-cache"), sent)
    assert known.ready(early) is not None
    assert known.ready(late) is None


def test_a_variant_that_did_not_change_is_confirmed_by_its_tag() -> None:
    clock = Hand()
    known = variant(clock)
    assert known.headers() == {}
    known.answered(says("A", step=4), clock())
    clock.now += 60
    assert known.headers() == {"if-none-match": '"4-0"'}
    assert known.answered(Answer(304, {"cache-control": "max-age=5"}, b""), clock()).variant == "A"
    clock.now += 4.9
    assert known.ready(known.asked) is not None


def test_while_the_service_is_away_the_last_variant_is_served_and_says_so() -> None:
    clock = Hand()
    known = variant(clock, default="B")
    assert known.answered(says("A"), clock()).fallback is None
    clock.now += 61
    served = known.failed(AWAY)
    assert (served.variant, served.step, served.fallback, served.error) == ("A", 0, "last", AWAY)


def test_before_the_first_answer_the_default_is_served_and_says_so() -> None:
    served = variant(Hand(), default="B").failed(AWAY)
    assert (served.variant, served.step, served.fallback, served.error) == ("B", None, "default", AWAY)


def test_without_a_default_and_a_last_variant_the_error_is_raised() -> None:
    with pytest.raises(Unavailable, match="no answer"):
        variant(Hand()).failed(AWAY)


def test_a_service_that_is_away_is_asked_again_only_after_a_pause_that_grows() -> None:
    clock = Hand()
    known = variant(clock, default="B")
    known.failed(AWAY)
    first = clock.now
    while known.ready(known.asked) is not None:
        clock.now += 0.25
    short = clock.now - first
    known.failed(AWAY)
    second = clock.now
    while known.ready(known.asked) is not None:
        clock.now += 0.25
    assert 0 < short < clock.now - second
    known.answered(says("A"), clock())
    assert known.ready(known.asked) == known.answered(says("A"), clock())


def test_a_pause_lasts_at_least_as_long_as_the_service_asks_for() -> None:
    clock = Hand()
    known = variant(clock, default="B")
    known.answered(Answer(503, {"retry-after": "20"}, b""), clock())
    clock.now += 19.9
    assert known.ready(known.asked) is not None
    clock.now += 0.2
    assert known.ready(known.asked) is None


def test_a_wrong_token_is_raised_at_first_and_does_not_take_down_what_has_worked() -> None:
    clock = Hand()
    known = variant(clock, default="B")
    refused = Answer(401, {}, b'{"type": "/problems/unauthorized", "detail": "there is no valid token"}')
    for _ in range(2):
        with pytest.raises(NotAllowed, match="no valid token"):
            known.answered(refused, clock())
        assert known.ready(known.asked) is None
    known.answered(says("A"), clock())
    clock.now += 61
    served = known.answered(refused, clock())
    assert (served.variant, served.fallback, type(served.error)) == ("A", "last", NotAllowed)


def test_an_answer_without_a_variant_counts_as_none() -> None:
    served = variant(Hand(), default="B").answered(Answer(200, {}, b"<html>hello</html>"), 0.0)
    assert (served.variant, served.fallback) == ("B", "default")


def test_after_a_step_was_closed_the_variant_is_asked_for_again() -> None:
    clock = Hand()
    known = variant(clock)
    known.answered(says("A"), clock())
    clock.now += 1
    known.forget()
    assert known.ready(known.asked) is None


def test_an_answer_that_was_on_its_way_during_a_command_is_not_kept() -> None:
    clock = Hand()
    known = variant(clock)
    sent = known.ask()
    clock.now += 1
    known.forget()  # a command was given meanwhile
    assert known.answered(says("A"), sent).variant == "A"
    assert known.ready(known.asked) is None
    clock.now += 1
    known.answered(says("B"), known.ask())
    assert known.ready(known.asked) is not None
