"""Plans that operators have asked for: each runs in a process of its own, with limits of time and memory.

One runs at a time. The last ones are kept in memory for an hour; another replica doesn't know them. The simulator is
not imported here: where its packages are not installed, the rest of the service works without them.
"""

import json
import logging
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory, gettempdir
from threading import Lock, Thread
from time import monotonic, time
from typing import IO, Any

from afterglow.errors import BadValue, MissingExtra, Sentence

LOG = logging.getLogger("afterglow.service")
COMMAND = [sys.executable, "-m", "afterglow.lab.plan.process"]
NEEDED = ("numba", "numpy", "scipy", "narwhals")  # packages of the simulator
CACHE = "AFTERGLOW_CACHE"  # where compiled code is kept
PREFIX = "afterglow-plan-"  # of folders with the files of plans
FILE = "history.csv"  # its name in sentences
SECONDS = 240.0  # of a plan, by the clock
PROCESSOR = 180  # seconds of processor time
MEMORY = 4 << 30  # bytes of address space, of which the compiler takes most
KEPT, LASTING = 20, 3600.0  # plans, and seconds for which they are kept
TOO_LONG = f"the plan took longer than {SECONDS:g} seconds; use fewer variants or a shorter horizon"
FAILED = "the plan failed; the log of the service has the cause"


def missing() -> str:
    """What to install, if plans can't be made here; empty if they can."""
    if all(find_spec(name) is not None for name in NEEDED):
        return ""
    return str(MissingExtra("a plan", "lab"))


@dataclass
class PlanJob:
    """One plan; its fields change while it runs."""

    id: str
    owner: str  # id of the token
    asked: Mapping[str, Any]  # what the form had
    begun: float = field(default_factory=monotonic)
    done: float = 0.0  # share of the work
    what: str = "starting"
    state: str = "running"  # then done, refused or cancelled
    refused: Sentence = field(default_factory=lambda: Sentence(""))
    wrong: str = ""  # the argument at fault, if it is known
    plan: dict[str, Any] | None = None
    begins: float | None = None  # when the step after the history begins
    process: "subprocess.Popen[str] | None" = field(default=None, repr=False)
    thread: Thread = field(default_factory=Thread, repr=False)  # that follows the process

    def end(self, state: str, refused: str = "", wrong: str = "") -> None:
        if self.state == "running":
            self.state, self.refused, self.wrong = state, Sentence(refused), wrong


class PlanJobs:
    """`begin` starts a plan, `get` finds it, `cancel` and `close` end its process."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self.jobs = dict[str, PlanJob]()
        self.lock = Lock()
        self.closed = False
        sweep()

    def begin(
        self, question: Mapping[str, Any], history: bytes | None, asked: Mapping[str, Any], owner: str
    ) -> PlanJob:
        """Start a plan; refused while another one runs."""
        if said := missing():
            raise BadValue(said)
        with self.lock:
            if self.closed:
                raise BadValue("the service is stopping; ask again in a minute")
            if any(job.state == "running" for job in self.jobs.values()):
                raise BadValue("another plan is running; wait until it ends, or cancel it")
            self.forget()
            job = PlanJob(secrets.token_urlsafe(12), owner, asked)
            self.jobs[job.id] = job
        job.thread = Thread(target=self.run, args=(job, dict(question), history), name="afterglow-plan", daemon=True)
        try:
            job.thread.start()
        except RuntimeError:
            job.end("refused", FAILED)
            raise
        return job

    def forget(self) -> None:
        """Drop the oldest ones."""
        now = monotonic()
        kept = [job for job in self.jobs.values() if now - job.begun < LASTING][-(KEPT - 1) :]
        self.jobs = {job.id: job for job in kept}

    def get(self, id_: str, owner: str) -> PlanJob | None:
        """A plan of this owner."""
        job = self.jobs.get(id_)
        return job if job is not None and job.owner == owner else None

    def cancel(self, job: PlanJob) -> None:
        job.end("cancelled")
        kill(job)

    def close(self) -> None:
        with self.lock:
            self.closed = True
        for job in list(self.jobs.values()):
            self.cancel(job)

    def run(self, job: PlanJob, question: dict[str, Any], history: bytes | None) -> None:
        """In a thread of its own: start the process and follow what it says."""
        try:
            with TemporaryDirectory(prefix=PREFIX) as folder:
                if history is not None:
                    (Path(folder) / FILE).write_bytes(history)
                    question["history"] = FILE
                sent = json.dumps({"plan": question, "seconds": PROCESSOR, "memory": MEMORY})
                self.follow(job, sent, folder)
        except Exception:
            LOG.exception("a plan failed")
            job.end("refused", FAILED)
        finally:
            kill(job)

    def follow(self, job: PlanJob, question: str, folder: str) -> None:
        errors = list[str]()
        with subprocess.Popen(
            COMMAND, cwd=folder, text=True, start_new_session=True, env=environment(), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) as process:  # fmt: skip
            job.process = process
            assert process.stdin is not None
            assert process.stdout is not None
            threads = [
                Thread(target=keep_last, args=(process.stderr, errors), daemon=True),
                Thread(target=self.watch, args=(job, process), daemon=True),
            ]
            for thread in threads:
                thread.start()
            with suppress(BrokenPipeError):
                process.stdin.write(question)
                process.stdin.close()
            for line in process.stdout:
                take(job, line)
            code = process.wait()
            for thread in threads:
                thread.join()
        if job.state == "running":
            LOG.error("a plan ended with code %d: %s", code, "".join(errors)[-2000:])
            job.end("refused", TOO_LONG if code == -signal.SIGXCPU else FAILED)

    def watch(self, job: PlanJob, process: "subprocess.Popen[str]") -> None:
        """End the process after the time that it may take, or if it was cancelled before it began."""
        try:
            process.wait(0.0 if job.state != "running" else self.seconds)
        except subprocess.TimeoutExpired:
            job.end("refused", TOO_LONG)
            kill(job)


def sweep() -> None:
    """Delete what plans have left whose service was killed, once no process can use it any more."""
    for folder in Path(gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            seen = folder.lstat()
            if seen.st_uid == os.getuid() and time() - seen.st_mtime > 2 * SECONDS:
                rmtree(folder, ignore_errors=True)


def environment() -> dict[str, str]:
    """The environment of the process: nothing of the service's settings, such as the address of its database."""
    own = {
        name: value for name, value in os.environ.items() if name == CACHE or not name.startswith(("AFTERGLOW_", "PG"))
    }
    return own | {"NUMBA_NUM_THREADS": "1"}


def take(job: PlanJob, line: str) -> None:
    """A line that the process has written."""
    said = json.loads(line)
    if "done" in said:
        job.done, job.what = max(job.done, float(said["done"])), str(said["what"])
    elif "refused" in said:
        job.end("refused", said["refused"], said.get("field", ""))
    else:
        job.plan, job.begins = said["plan"], said["begins"]
        job.end("done")


def keep_last(stream: IO[str], kept: list[str]) -> None:
    """Read all lines, so that the process never waits; keep the last ones."""
    for line in stream:
        kept.append(line)
        del kept[:-50]


def kill(job: PlanJob) -> None:
    """End the process of a plan and those that it has started."""
    if job.process is not None and job.process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(job.process.pid, signal.SIGKILL)
