"""Load on a server of this machine: many connections, each sends its next request when it has the last answer.

`load` runs it in a process of its own, so that it takes nothing from whoever measures. It speaks just enough HTTP/1.1
over plain sockets to be several times faster than any server it meets, and tells how busy it was.
"""

import json
import selectors
import socket
import subprocess
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from secrets import token_hex
from typing import Any

HEAD_END = b"\r\n\r\n"
LENGTH = b"content-length: "
PATIENCE = 30.0  # seconds without any answer


@dataclass(frozen=True)
class Plan:
    """What to send: GET `path`, or POST rewards to it, `batch` at a time (0 = one, not in a list)."""

    port: int
    path: str
    token: str
    connections: int
    seconds: float = 1e9
    requests: int = 1 << 60  # whichever comes first
    batch: int | None = None
    units: int = 0  # rewards go round units named u0, u1, …


@dataclass(frozen=True)
class Result:
    answers: int  # within the time
    seconds: float
    p50: float  # seconds
    p99: float
    busy: float  # share of a core that the load itself took
    accepted: int  # rewards that were acknowledged as new, also behind the end of the time
    statuses: dict[str, int] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        return self.answers / self.seconds


def load(plan: Plan) -> Result:
    """Run it, and wait for what it found."""
    done = subprocess.run(
        [sys.executable, __file__], input=json.dumps(asdict(plan)), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"the load failed: {done.stderr.strip()}")
    result = Result(**json.loads(done.stdout))
    if wrong := {status: count for status, count in result.statuses.items() if status not in ("200", "202")}:
        raise SystemExit(f"{plan.path} answered {wrong}")
    return result


class Requests:
    """The bytes of one request after another."""

    def __init__(self, plan: Plan) -> None:
        method = "GET" if plan.batch is None else "POST"
        self.head = f"{method} {plan.path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {plan.token}\r\n"
        self.batch = plan.batch
        self.units = plan.units
        self.prefix = token_hex(10)
        self.number = 0
        self.same = (self.head + "\r\n").encode()

    def next(self) -> bytes:
        if self.batch is None:
            return self.same
        first, count = self.number, self.batch or 1
        self.number += count
        many = [f'{{"key":"{self.prefix}{i:012x}","amount":1{self.unit(i)}}}' for i in range(first, first + count)]
        body = f"[{','.join(many)}]" if self.batch else many[0]
        return f"{self.head}content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n{body}".encode()

    def unit(self, number: int) -> str:
        return f',"unit":"u{number % self.units}"' if self.units else ""


class Line:
    """A connection and the answer that comes in on it."""

    __slots__ = ("came", "sent", "socket")

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.came = b""
        self.sent = 0.0

    def send(self, request: bytes) -> None:
        self.came = b""
        self.sent = time.perf_counter()
        self.socket.sendall(request)

    def answer(self) -> tuple[bytes, bytes] | None:
        """Status and body, when all of it is there."""
        more = self.socket.recv(65536)
        if not more:
            raise SystemExit("the server closed a connection")
        came = self.came = self.came + more if self.came else more
        end = came.find(HEAD_END)
        if end < 0:
            return None
        at = came.find(LENGTH, 0, end + 2) + len(LENGTH)
        length = int(came[at : came.index(b"\r", at)])
        return (came[9:12], came[end + 4 :]) if len(came) == end + 4 + length else None


def run(plan: Plan) -> Result:
    requests, times, statuses = Requests(plan), list[float](), Counter[bytes]()
    accepted = sent = 0
    with selectors.DefaultSelector() as ready:
        for _ in range(plan.connections):
            line = Line(plan.port)
            ready.register(line.socket, selectors.EVENT_READ, line)
        began, cpu = time.perf_counter(), time.process_time()
        stop = began + plan.seconds
        for key in list(ready.get_map().values()):
            key.data.send(requests.next())
            sent += 1
        waiting, ended = sent, 0.0
        while waiting:
            if not (events := ready.select(PATIENCE)):
                raise SystemExit(f"no answer within {PATIENCE:g} s")
            for key, _ in events:
                line = key.data
                if (answer := line.answer()) is None:
                    continue
                now = time.perf_counter()
                statuses[answer[0]] += 1
                accepted += json.loads(answer[1])["accepted"] if plan.batch is not None else 0
                if now <= stop:
                    times.append(now - line.sent)
                    ended = now
                if now < stop and sent < plan.requests:
                    line.send(requests.next())
                    sent += 1
                else:
                    waiting -= 1
        busy = time.process_time() - cpu
    times.sort()
    seconds = min(stop, ended) - began if sent >= plan.requests else plan.seconds
    p50, p99 = (times[int(share * (len(times) - 1))] for share in (0.5, 0.99))
    told = {status.decode(): count for status, count in statuses.items()}
    return Result(len(times), seconds, p50, p99, busy / (time.perf_counter() - began), accepted, told)


def main() -> None:
    given: dict[str, Any] = json.load(sys.stdin)
    print(json.dumps(asdict(run(Plan(**given)))))


if __name__ == "__main__":
    main()
