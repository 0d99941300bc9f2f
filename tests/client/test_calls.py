"""What the answers of the service mean to a client."""

import json
from typing import Any

import pytest

from afterglow import errors
from afterglow.client.calls import Answer, Call, fresh_for, of, pause_wanted, read, refusal, rewards


def problem(status: int, slug: str, detail: str = "window must be at least 1") -> Answer:
    return Answer(status, {}, json.dumps({"type": f"/problems/{slug}", "detail": detail}).encode())


@pytest.mark.parametrize(
    ("status", "slug", "kind"),
    [
        (400, "malformed", errors.BadValue),
        (401, "unauthorized", errors.NotAllowed),
        (403, "forbidden", errors.NotAllowed),
        (404, "unknown-experiment", errors.UnknownName),
        (404, "not-found", errors.UnknownName),
        (409, "name-taken", errors.Conflict),
        (409, "step-closed", errors.Conflict),
        (409, "out-of-turn", errors.OutOfTurn),
        (409, "horizon-reached", errors.HorizonReached),
        (413, "too-large", errors.BadValue),
        (422, "bad-value", errors.BadValue),
        (422, "attribution-refused", errors.BadValue),
        (422, "key-reused", errors.Conflict),
        (429, "too-many-requests", errors.Unavailable),
        (500, "internal", errors.Unavailable),
        (503, "database-unavailable", errors.Unavailable),
        (503, "database-away", errors.Unavailable),
    ],
)
def test_a_problem_is_the_error_of_its_kind_with_the_sentence_of_the_service(
    status: int, slug: str, kind: type[Exception]
) -> None:
    error = refusal(problem(status, slug))
    assert type(error) is kind
    assert str(error) == "window must be at least 1"


def test_an_error_has_the_kind_and_the_field_that_the_service_names() -> None:
    sent = {"type": "/problems/bad-value", "detail": "no variant named 'x'", "kind": "unknown-variant", "field": "keep"}
    error = refusal(Answer(422, {}, json.dumps(sent).encode()))
    assert (error.kind, error.field) == ("unknown-variant", "keep")
    assert [refusal(problem(503, slug)).kind for slug in ("database-away", "database-unavailable")] == [
        "database-unavailable", "database-unavailable",
    ]  # fmt: skip
    assert (refusal(problem(409, "step-closed")).kind, refusal(problem(409, "step-closed")).field) == (
        "step-closed",
        "",
    )


@pytest.mark.parametrize(
    ("status", "kind"), [(502, errors.Unavailable), (403, errors.NotAllowed), (418, errors.BadValue)]
)
def test_a_refusal_by_something_else_than_the_service_is_an_error_too(status: int, kind: type[Exception]) -> None:
    error = refusal(Answer(status, {}, b"<html>Bad Gateway</html>"))
    assert (type(error), str(error)) == (kind, f"the service answered {status}")


@pytest.mark.parametrize("content", [b"<html>", b"[1]", b"{}"])
def test_an_answer_that_is_not_of_the_service_is_refused(content: bytes) -> None:
    with pytest.raises(errors.BadFormat, match="is the address right"):
        read(Call("GET", "/v1/experiments/shipping", pick="status"), Answer(200, {}, content))


def test_a_call_that_wants_a_part_of_the_answer_gets_it() -> None:
    answer = Answer(200, {}, b'{"name": "shipping", "status": {"step": 3}}')
    assert read(Call("GET", "/", pick="status"), answer) == {"step": 3}
    assert read(Call("GET", "/"), answer)["name"] == "shipping"
    assert read(Call("DELETE", "/"), Answer(204, {}, b"")) == {}


def test_a_name_cant_leave_its_place_in_an_address() -> None:
    assert of("a/../b?c", "steps") == "/v1/experiments/a%2F..%2Fb%3Fc/steps"


def test_rewards_are_keys_and_amounts_and_nothing_else() -> None:
    assert json.loads(rewards("s", [("k", 0.5, None, None), ("l", 1.0, 7, "complaints")]).content() or b"") == [
        {"key": "k", "amount": 0.5},
        {"key": "l", "amount": 1.0, "step": 7, "metric": "complaints"},
    ]
    with pytest.raises(errors.BadValue, match="JSON"):
        Call("POST", "/", {"total": float("nan")}).content()


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0.0),
        ({"cache-control": "private, max-age=3600"}, 3600.0),
        ({"cache-control": "max-age=60", "age": "45"}, 15.0),
        ({"cache-control": "max-age=60", "age": "90"}, 0.0),
        ({"cache-control": "no-cache, max-age=60"}, 0.0),
        ({"cache-control": "max-age=soon"}, 0.0),
    ],
)
def test_an_answer_holds_for_as_long_as_its_headers_say(headers: dict[str, str], seconds: float) -> None:
    assert fresh_for(headers) == seconds


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0.0),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "Mon, 16 Nov 2026 01:00:30 GMT", "date": "Mon, 16 Nov 2026 01:00:00 GMT"}, 30.0),
        ({"retry-after": "Mon, 16 Nov 2026 01:00:30 GMT"}, 0.0),
        ({"retry-after": "later"}, 0.0),
    ],
)
def test_a_pause_that_the_service_asks_for_is_understood_without_our_own_clock(
    headers: dict[str, Any], seconds: float
) -> None:
    assert pause_wanted(headers) == seconds
