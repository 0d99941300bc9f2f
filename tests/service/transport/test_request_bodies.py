"""Bodies end: in size, in time, and all together."""

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from select import select
from typing import Any

import httpx
import pytest

from testbed.quick_disk import quick_folder
from testbed.service import Serving, in_thread, slug

ASKED: dict[str, Any] = {"variants": ["49", "59"], "window": 3, "reward_max": 10.0, "policy": "ucb1"}
JSON = {"Content-Type": "application/json"}
LIMIT = 1 << 16
REWARDS = "/v1/experiments/full/rewards"
HEAD = (
    b"POST /v1/experiments/full/rewards HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\n\r\n%s"
)


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with quick_folder() as folder, in_thread(Path(folder) / "e.db", body_limit=LIMIT) as made:
        made.post("/v1/experiments", json={"name": "rewards", **ASKED}).raise_for_status()
        yield made


@pytest.mark.parametrize(
    "path",
    [
        "/ofrep/v1/evaluate/flags/rewards",
        "/ofrep/v1/evaluate/flags",
        "/v1/experiments/rewards/rewards",
        "/v1/experiments/rewards/steps/0",
        "/v1/experiments/rewards/steps/rewards",
        "/v1/experiments/rewards/pause",
    ],
)
def test_no_address_takes_a_body_beyond_the_limit(client: httpx.Client, path: str) -> None:
    parts = iter([b" " * LIMIT] * 2)
    assert slug(client.post(path, content=parts, headers=JSON)) == "too-large"


def test_bodies_together_take_no_more_than_there_is_room_for() -> None:
    """Calls whose bodies stall hold what has come; beyond the room for it others are sent away, until they are over."""
    with quick_folder() as folder, in_thread(Path(folder) / "e.db", body_limit=LIMIT, bodies=2 * LIMIT) as client:
        client.post("/v1/experiments", json={"name": "full", **ASKED}).raise_for_status()
        here = (client.base_url.host, client.base_url.port)
        with ExitStack() as stack:
            assert "overloaded" in asked(client, lambda lines: stalled(stack, here, lines))
        assert "bad-value" in asked(client, lambda lines: lines)  # as they have gone


def asked(client: httpx.Client, before: Callable[[list[socket.socket]], list[socket.socket]]) -> Iterator[str]:
    """Which problems a large body meets, asked again and again."""
    lines = list[socket.socket]()
    for _ in range(1000):
        lines = before(lines)
        yield slug(client.post(REWARDS, content=b"[0" + b" " * 60_000 + b"]", headers=JSON))


def stalled(stack: ExitStack, here: tuple[str, int | None], lines: list[socket.socket]) -> list[socket.socket]:
    """Two bodies that wait for their last byte. One that met another call on its way may have been sent away itself: it
    has an answer, and another takes its place."""
    answered, _, _ = select(lines, [], [], 0)
    lines = [line for line in lines if line not in answered]
    while len(lines) < 2:
        line = stack.enter_context(socket.create_connection(here, 60))
        line.sendall(HEAD % (LIMIT, b" " * (LIMIT - 1)))
        lines.append(line)
    return lines


def test_a_stranger_is_answered_before_a_body_is_read() -> None:
    """The answer comes though the body never does, and the service's time limit is longer than the test waits."""
    with quick_folder() as folder, Serving(Path(folder) / "e.db", time_limit="600") as serving:
        for path, status in ((b"/nothing", b"404"), (b"/v1/experiments", b"401"), (b"/healthz", b"405")):
            with socket.create_connection(("127.0.0.1", serving.port), 60) as line:
                line.sendall(b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{" % path)
                assert line.recv(65_536).split(b" ")[1] == status


def test_a_page_s_form_has_a_limit_of_its_own(client: httpx.Client) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = client.post("/sign-in", content=iter([b"x" * LIMIT, b"x"]), headers=form)
    assert (answer.status_code, "65,536 bytes" in answer.text) == (413, True), answer.text


@pytest.mark.parametrize("depth", [900, 1000, 5000])
@pytest.mark.parametrize(("opened", "closed"), [(b'{"options":', b"}"), (b"[", b"]"), (b'{"key":', b"}")])
def test_no_body_is_nested_so_deeply_that_the_service_fails(
    client: httpx.Client, depth: int, opened: bytes, closed: bytes
) -> None:
    body = opened * depth + b"1" + closed * depth
    for path in ("", "/rewards/rewards", "/rewards/pause", "/rewards/steps/0"):
        answer = client.post(f"/v1/experiments{path}", content=body, headers=JSON)
        assert slug(answer) in ("malformed", "bad-value", "attribution-refused")
