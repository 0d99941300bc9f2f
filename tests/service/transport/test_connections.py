"""Connections end: whoever says nothing, or half of it, or takes no answer, holds none for long."""

import logging
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from itertools import cycle
from pathlib import Path
from time import monotonic

import httpx
import pytest

from afterglow import live
from testbed.quick_disk import quick_folder
from testbed.service import in_thread

WAIT = 30.0  # seconds at most
LIMIT = 0.5  # of the service
HEAD = b"POST /v1/experiments/none/rewards HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with quick_folder() as folder:
        file = Path(folder) / "e.db"
        with live.open(file) as experiments:
            for number in range(200):  # each event has the places of all in its id, more than the network holds
                experiments.create(f"{number:060}", ["49", "59"], window=3)
        with in_thread(file, time_limit=LIMIT) as made:
            yield made


def line_to(client: httpx.Client) -> socket.socket:
    return socket.create_connection((client.base_url.host, client.base_url.port), WAIT)


def said_to(client: httpx.Client, words: bytes) -> socket.socket:
    """A line on which something was said in time, however busy the machine is."""
    end = monotonic() + WAIT
    while monotonic() < end:
        began, line = monotonic(), line_to(client)
        with suppress(OSError):
            line.sendall(words)
            if monotonic() - began < LIMIT / 2:
                return line
        line.close()
    raise AssertionError("the machine is too busy")


def heard(line: socket.socket) -> bytes:
    """All that comes until the other side ends it."""
    found = b""
    with suppress(ConnectionResetError):
        while part := line.recv(65_536):
            found += part
    return found


FINE = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.parametrize("said", [b"", b"\r\n", b"GET /healthz HTTP/1.1\r\nHost: loc", FINE + b"GET /hea"])
def test_a_connection_without_a_whole_request_is_closed(client: httpx.Client, said: bytes) -> None:
    with said_to(client, said) as line:
        assert heard(line).count(b"200 OK") == said.count(FINE)


@pytest.mark.parametrize("body", [b"", b"{"])
def test_a_body_that_stalls_is_told_so(client: httpx.Client, body: bytes) -> None:
    with said_to(client, HEAD + b"Content-Length: 10\r\n\r\n" + body) as line:
        assert b"/problems/too-slow" in heard(line)


def test_a_body_that_nobody_asks_for_holds_no_connection(client: httpx.Client) -> None:
    with said_to(client, b"POST /nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{") as line:
        assert b"/problems/not-found" in heard(line)


def test_a_connection_that_is_kept_outlasts_the_time_limit(client: httpx.Client) -> None:
    with said_to(client, FINE) as kept:
        assert b"200 OK" in kept.recv(65_536)
        with line_to(client) as silent:
            assert heard(silent) == b""  # until the limit
        kept.sendall(FINE)
        assert b"200 OK" in kept.recv(65_536)


def test_more_connections_than_the_limit_are_refused_and_that_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    with quick_folder() as folder, in_thread(Path(folder) / "e.db", connections=20) as client, ExitStack() as stack:
        with caplog.at_level(logging.WARNING, "afterglow.service"):
            for _ in range(20):
                stack.enter_context(line_to(client))
            for _ in range(3):
                with line_to(client) as line:
                    refused = heard(line)
                assert refused.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
                assert b"retry-after: 1\r\n" in refused
                assert b"/problems/overloaded" in refused
        assert [one.getMessage() for one in caplog.records if "connections" in one.getMessage()] == [
            "20 connections are open, which is the limit; further ones are refused"
        ]
        stack.close()
        assert any(answered(client) for _ in range(10_000))


def answered(client: httpx.Client) -> bool:
    with line_to(client) as line, suppress(OSError):
        line.sendall(FINE)
        return b"200 OK" in line.recv(65_536)
    return False


def test_a_stream_whose_reader_does_not_read_is_cut_off(client: httpx.Client) -> None:
    with socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.settimeout(WAIT)
        line.connect((client.base_url.host, client.base_url.port))
        line.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: e30=\r\n\r\n")
        head = b""
        while b"retry: 1000" not in head:  # it has begun, and nobody reads on
            head += line.recv(1)
        began, variants = monotonic(), cycle(["49", "59"])
        while streams(client):
            assert monotonic() - began < WAIT
            pin = {"variant": next(variants), "reason": "it looks again, if it could not read all in time"}
            client.post(f"/v1/experiments/{0:060}/pin", json=pin)


def streams(client: httpx.Client) -> bool:
    return "\nafterglow_streams 0.0\n" not in client.get("/metrics").text
