"""`GET current` beside everything else: 200 streams, dashboards, and three times the rewards that the service can take.

The load on rewards is measured first: that of `CONNECTIONS` connections, which keep the service busy all the time. Then
three times as many connections send as fast as they are answered, while streams and dashboards are open, and one
connection asks for the variant, `PACE` times a second.
"""

import json
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

import httpx

from bench.report.figures import Figure, Item
from bench.service import load as loads
from bench.service.load import Line, Plan, Requests, Result, load
from testbed.service import START, Serving

STREAMS = 200
DASHBOARDS = 4
CONNECTIONS = 32
TIMES = 3
PACE = 100  # a second
SECONDS = 10.0
MOST = 0.1  # seconds, p99
HOURLY = {"name": "hourly", "variants": ["49", "59", "69"], "window": 24, "step_seconds": 3600, "reward_max": 1e6}
QUICK = HOURLY | {"name": "quick", "step_seconds": 0.2}  # its steps are events
CURRENT, REWARDS = "/v1/experiments/hourly/current", "/v1/experiments/hourly/rewards"


@contextmanager
def streams(service: Serving, token: str) -> Iterator[None]:
    """Open streams, which a thread reads."""
    head = f"GET /v1/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\r\n".encode()
    opened = [socket.create_connection(("127.0.0.1", service.port), START) for _ in range(STREAMS)]
    for one in opened:
        one.sendall(head)
        one.setblocking(False)
    ending = Event()

    def read() -> None:
        while not ending.wait(0.1):
            for one in opened:
                try:
                    while one.recv(1 << 16):
                        pass
                except BlockingIOError:
                    continue

    reader = Thread(target=read)
    reader.start()
    try:
        yield
    finally:
        ending.set()
        reader.join()
        for one in opened:
            one.close()


@contextmanager
def operator(service: Serving) -> Iterator[httpx.Client]:
    """A browser of somebody who has signed in."""
    with service.client() as client:
        mark = re.search(r'name="mark" value="([^"]*)"', client.get("/sign-in").text)
        client.post("/sign-in", data={"token": service.token, "mark": mark[1] if mark else ""})
        yield client


def seconds_of(client: httpx.Client, path: str) -> float:
    """What an answer took, which must be the page or the list that was asked for."""
    began = time.perf_counter()
    if client.get(path).status_code != 200:
        raise SystemExit(f"{path} is not shown")
    return time.perf_counter() - began


@contextmanager
def dashboards(service: Serving) -> Iterator[list[str]]:
    """Pages that are looked at again and again, by operators who have signed in; those that were shown."""
    ending, seen = Event(), list[str]()

    def look() -> None:
        with operator(service) as client:
            while not ending.wait(0.25):
                for path in ("/experiments/hourly", "/"):
                    seconds_of(client, path)
                    seen.append(path)

    lookers = [Thread(target=look) for _ in range(DASHBOARDS)]
    for one in lookers:
        one.start()
    try:
        yield seen
    finally:
        ending.set()
        for one in lookers:
            one.join()


@contextmanager
def overload(plan: Plan) -> Iterator[list[Result]]:
    """Rewards from a process of its own; what it found, afterwards."""
    command = [sys.executable, loads.__file__]
    found = list[Result]()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps(asdict(plan)))
        process.stdin.close()
        time.sleep(1.0)
        yield found
        assert process.stdout is not None
        found.append(Result(**json.load(process.stdout)))


def asked(service: Serving, token: str, seconds: float, path: str = CURRENT) -> list[float]:
    """Seconds that each answer took, of one connection that asks at a steady pace; sorted."""
    plan = Plan(service.port, path, token, 1, seconds)
    request, line, took = Requests(plan).next(), Line(service.port), list[float]()
    began = time.perf_counter()
    for number in range(round(seconds * PACE)):
        time.sleep(max(0.0, began + number / PACE - time.perf_counter()))
        line.send(request)
        while (answer := line.answer()) is None:
            pass
        took.append(time.perf_counter() - line.sent)
        if answer[0] != b"200":
            raise SystemExit(f"current answered {answer[0].decode()}")
    return sorted(took)


def share(took: list[float], part: float) -> float:
    return took[int(part * (len(took) - 1))]


def measure(folder: Path, seconds: float = SECONDS) -> Item:
    with ExitStack() as stack:
        room = stack.enter_context(TemporaryDirectory(dir=folder))
        service = stack.enter_context(Serving(f"{room}/lanes.db", "--rate-limit", "1e9", streams=str(2 * STREAMS)))
        with service.client() as client:
            for one in (HOURLY, QUICK):
                client.post("/v1/experiments", json=one).raise_for_status()
        token = service.new_token("decide", "report", "read")
        alone = asked(service, token, seconds / 2)
        can_take = load(Plan(service.port, REWARDS, token, CONNECTIONS, seconds / 2, batch=0))
        stack.enter_context(streams(service, token))
        shown = stack.enter_context(dashboards(service))
        beside = asked(service, token, seconds / 2)
        with overload(Plan(service.port, REWARDS, token, TIMES * CONNECTIONS, seconds + 3, batch=0)) as taken:
            before = len(shown)
            busy = asked(service, token, seconds)
            pages = len(shown) - before
    rows = [("nothing else", alone), (f"{STREAMS} streams, {DASHBOARDS} dashboards", beside), ("and the load", busy)]
    return Item(
        "lanes", "`GET current` beside streams, dashboards and three times the load",
        [Figure("p99 of `current` under all of it", 1000 * share(busy, 0.99), "ms", at_most=1000 * MOST)],
        ["beside", "p50, ms", "p99, ms", "slowest, ms"],
        [[what, *(f"{1000 * share(took, part):.1f}" for part in (0.5, 0.99, 1.0))] for what, took in rows],
        [
            f"{CONNECTIONS} connections sent {can_take.rate:,.0f} rewards a second, {TIMES * CONNECTIONS} beside all "
            f"the rest {taken[0].rate:,.0f}, while {pages / seconds:,.1f} pages a second were shown. The machine also "
            "runs the load, the streams' readers and the dashboards.",
        ],
    )  # fmt: skip


if __name__ == "__main__":
    with TemporaryDirectory() as place:
        print(measure(Path(place), float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS).markdown())
