"""A service to test against: a process on a free port of loopback, or a thread with a clock to turn."""

import json
import os
import re
import signal
import subprocess
import sys
from atexit import register
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import Any

import httpx

from afterglow.service.server import Server, address_of, listen, opened
from afterglow.service.settings import ServiceSettings
from testbed.ports import Port
from testbed.quick_disk import quick_folder

START = 60.0  # seconds, on a busy machine
NEVER = Event()
COMMAND = [sys.executable, "-c", "from afterglow.cli import main; main()"]
COMPILED = quick_folder()  # a start takes half as long when what is imported was compiled before
register(COMPILED.cleanup)
BARE = {
    name: value
    for name, value in {**os.environ, "PYTHONPYCACHEPREFIX": COMPILED.name}.items()
    if not name.startswith("AFTERGLOW_") and name != "PYTHONDONTWRITEBYTECODE"
}


class Serving:
    """`afterglow serve` as a process. It may be killed and started again; the port stays the same."""

    def __init__(self, db: str | Path, *flags: str, cwd: str | Path | None = None, **environment: str) -> None:
        self.db = str(db)
        self.flags = flags
        self.cwd = cwd
        self.environment = {f"AFTERGLOW_{name.upper()}": value for name, value in environment.items()}
        self.kept: Port | None = None
        self.port = 0
        self.token = ""
        self.address = ""
        self.errors = ""
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> "Serving":
        """Run it, and return once it answers."""
        if self.kept is None:
            self.kept = Port()
            self.port = self.kept.number
        given = ["--db", self.db, "--port", str(self.port), *self.flags]
        self.process = subprocess.Popen(
            [*COMMAND, "serve", *given], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.cwd,
            env=BARE | {"AFTERGLOW_LOG_LEVEL": "warning"} | self.environment,
        )  # fmt: skip
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if found := re.search(r"shown this once: (\S+)", line):
                self.token = found[1]
            if found := re.search(r"listening on (\S+)", line):
                self.address = found[1]
                return self
        raise AssertionError(f"the service did not start: {self.process.communicate()[1]}")

    def kill(self) -> None:
        """End it as a power cut would."""
        self.end(signal.SIGKILL)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to stop; its exit code."""
        return self.end(how)

    def end(self, how: signal.Signals) -> int:
        process, self.process = self.process, None
        assert process is not None
        process.send_signal(how)
        try:
            _, errors = process.communicate(timeout=START)
        finally:
            process.kill()
        self.errors += errors
        return process.returncode

    def client(self, token: str | None = None, **settings: Any) -> httpx.Client:
        """A client that sends the admin token, or another."""
        headers = {"Authorization": f"Bearer {self.token if token is None else token}"}
        return httpx.Client(base_url=self.address, headers=headers, timeout=START, trust_env=False, **settings)

    def new_token(self, *scopes: str, experiments: list[str] | None = None, expires: str | None = None) -> str:
        """A token made by the command line, while the service runs."""
        given = [part for scope in scopes for part in ("--scope", scope)]
        given += [part for name in experiments or [] for part in ("--experiment", name)]
        given += ["--expires", expires] if expires else []
        return command("token", "create", "--db", self.db, *given).stdout.strip()

    def __enter__(self) -> "Serving":
        return self.start()

    def __exit__(self, *failure: object) -> None:
        if self.process is not None:
            self.end(signal.SIGKILL)
        if self.kept is not None:
            self.kept.close()
            self.kept = None


def command(*arguments: str, check: bool = True, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `afterglow` with arguments."""
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, check=check, env=BARE | environment, timeout=START
    )


@contextmanager
def in_thread(
    db: str | Path,
    clock: Callable[[], float] | None = None,
    monotonic: Callable[[], float] | None = None,
    **settings: Any,
) -> Iterator[httpx.Client]:
    """A real server on loopback in this process, without tokens unless asked for; a client of it."""
    chosen = ServiceSettings(**{"db": str(db), "port": 0, "auth": False, **settings})
    listener, ready = listen(chosen), Event()
    with opened(chosen, clock, monotonic) as service:
        server = Server(service, ready.set)
        thread = Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        assert ready.wait(START)
        try:
            with httpx.Client(base_url=address_of(listener), timeout=START, trust_env=False) as client:
                yield client
        finally:
            server.should_exit = True
            thread.join(START)
            assert not thread.is_alive()


def insist(http: httpx.Client, status: int, method: str, path: str, **sent: Any) -> httpx.Response:
    """Ask again and again, whatever comes in between, until the answer has that status."""
    end = monotonic() + START
    while True:
        with suppress(httpx.TransportError):
            answer = http.request(method, path, **sent)
            if answer.status_code == status:
                return answer
        assert monotonic() < end
        NEVER.wait(0.02)


def slug(answer: httpx.Response) -> str:
    """Which problem an answer is."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    problem = answer.json()
    assert problem["status"] == answer.status_code
    return str(problem["type"]).removeprefix("/problems/")


def events(lines: Iterator[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(id, data) of server-sent events."""
    id_ = ""
    for line in lines:
        if line.startswith("id: "):
            id_ = line[4:]
        elif line.startswith("data: "):
            yield id_, json.loads(line[6:])
