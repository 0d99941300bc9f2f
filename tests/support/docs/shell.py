"""The shell of a document: what its console blocks run, and what stands in them for something real.

    $ afterglow serve &     goes on in the background; it is waited for until it has printed the lines shown below it
    $ kill %1 && wait %1    ends the first of those that run, and waits until it has ended
    $ kill -9 %1            ends it the hard way; jobs have the numbers that an interactive shell gives them
    $ export NAME=value     a variable for all that comes after it, `os.environ` of python blocks included

A document can be typed as it is. So that several can be tried at once on one machine, some of its words stand for
others while it is tried:

    8321, 8322 … 8329       free ports; 8321 is where a service listens unless it is told otherwise
    postgresql://…          a new database on a real server for each different address
    ag_...                  the token that was printed last
"""

import os
import re
import signal
import subprocess
import sys
from collections import deque
from pathlib import Path
from tempfile import TemporaryFile
from threading import Thread, Timer

from testbed.ports import Port

PROGRAMS = {"afterglow", "python", "cat", "cp", "rm", "curl"}  # what a document may run here
STAND_INS = Path(__file__).parents[1] / "programs"
PATIENCE = 60.0  # seconds for something to begin or end
EXPORT = re.compile(r"export (\w+)=(.*)")
KILL = re.compile(r"kill (?:-(9) %(\d+)|%(\d+) && wait %\3)")
PORT = re.compile(r"\b832[1-9]\b")
DATABASE = re.compile(r"postgres(?:ql)?://[^\s\"'`<>]+")
TOKEN = re.compile(r"\bag_[0-9a-f]+_[\w-]+")
ANY_TOKEN = "ag_..."


class Refusal(Exception):
    """A command that isn't run, or did not do what it should."""


class Shell:
    """`run` gives what a command printed; `close` ends what is left of it all."""

    def __init__(self) -> None:
        self.started: list[subprocess.Popen[str]] = []
        self.jobs: dict[int, subprocess.Popen[str]] = {}  # those that weren't killed, by number
        self.ports: dict[str, Port] = {}
        self.databases: dict[str, str] = {}
        self.token = ANY_TOKEN
        self.before = dict(os.environ)
        for name in [name for name in os.environ if name.startswith("AFTERGLOW_")]:
            del os.environ[name]
        os.environ.update({"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"})

    # What stands for what

    def real(self, text: str) -> str:
        """A text of the document as it is run."""
        text = PORT.sub(lambda found: self.port(found[0]), text)
        text = DATABASE.sub(lambda found: self.database(found[0]), text)
        return text.replace(ANY_TOKEN, self.token)

    def shown(self, text: str) -> str:
        """What came, as the document shows it."""
        for name, port in self.ports.items():
            text = re.sub(rf"\b{port.number}\b", name, text)
        if found := TOKEN.findall(text):
            self.token = found[-1]
        return text

    def port(self, name: str) -> str:
        """One that is free, and stays so until it is listened on."""
        if name not in self.ports:
            self.ports[name] = Port()
        return str(self.ports[name].number)

    def database(self, address: str) -> str:
        if address not in self.databases:
            from testbed.postgres import server  # starts one, which takes a moment

            self.databases[address] = server().fresh()
        return self.databases[address]

    # Commands

    def run(self, command: str, shown: str) -> tuple[str, int]:
        """What a line of shell printed (also its errors, if it failed), and its exit code."""
        if exported := EXPORT.fullmatch(command):
            os.environ[exported[1]] = self.output(f"printf %s {exported[2]}")[0]
            return "", 0
        if killed := KILL.fullmatch(command):
            self.kill(int(killed[2] or killed[3]), int(killed[1] or signal.SIGTERM))
            return "", 0
        program = command.split(maxsplit=1)[0]
        if program == "kill":
            raise Refusal(f"`{command}` doesn't wait, so what follows may come too early: `kill %1 && wait %1`")
        if program not in PROGRAMS:
            raise Refusal(f"`{program}` isn't run from documents; mark the block <!-- not run: why -->")
        if command.endswith("&"):
            return self.start(command.removesuffix("&"), len(shown.strip().splitlines())), 0
        return self.output(command)

    def output(self, command: str) -> tuple[str, int]:
        done = subprocess.run(
            self.real(command), shell=True, env=self.environment(), capture_output=True, text=True, encoding="utf-8",
            check=False,
        )  # fmt: skip
        return self.shown(done.stdout + done.stderr if done.returncode else done.stdout), done.returncode

    def start(self, command: str, lines: int) -> str:
        """Leave a command running; the first lines that it prints."""
        with TemporaryFile("w+", encoding="utf-8") as errors:
            process = subprocess.Popen(
                f"exec {self.real(command)}", shell=True, env=self.environment(), stdout=subprocess.PIPE,
                stderr=errors, text=True, encoding="utf-8",
            )  # fmt: skip
            self.started.append(process)
            self.jobs[max(self.jobs, default=0) + 1] = process
            assert process.stdout is not None
            too_long = Timer(PATIENCE, process.kill)
            too_long.start()
            printed = [line for _, line in zip(range(lines), process.stdout, strict=False)]
            too_long.cancel()
            if len(printed) < lines:
                errors.seek(0)
                raise Refusal(f"`{command.strip()}` ended after {''.join(printed)!r}: {errors.read()}")
        Thread(target=deque, args=(process.stdout, 0), daemon=True).start()  # whatever else it prints
        return self.shown("".join(printed))

    def kill(self, job: int, how: int) -> None:
        if job not in self.jobs:
            raise Refusal(f"there is no job %{job} to kill")
        process = self.jobs.pop(job)
        process.send_signal(how)
        if (code := process.wait(PATIENCE)) not in (0, -how):
            raise Refusal(f"job %{job} exits {code}")

    def environment(self) -> dict[str, str]:
        """This interpreter's programs come first, stand-ins for what a machine may lack come last."""
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", ""), str(STAND_INS)])
        settings = {"PATH": path, "COLUMNS": "120", "NO_COLOR": "1", "AFTERGLOW_PORT": self.port("8321")}
        return dict(os.environ) | settings

    def close(self) -> None:
        for process in self.started:
            process.kill()
            process.wait(PATIENCE)
            if process.stdout is not None:
                process.stdout.close()
        for port in self.ports.values():
            port.close()
        os.environ.clear()
        os.environ.update(self.before)
        if self.databases:
            from testbed.postgres import server  # starts one, which takes a moment

            for address in self.databases.values():
                server().drop(address)
