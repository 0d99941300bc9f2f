"""A Dockerfile's steps, played in a folder that stands for the empty root of its images.

`RUN`, `COPY`, `WORKDIR`, `ENV` do what Docker does, with absolute paths below the folder; `COPY --from` copies from
what an earlier stage has left. `python` is the interpreter of the tests; nothing else of the environment is passed on
but where pip finds packages.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

PATIENCE = 300.0  # seconds: packages are fetched
PASSED_ON = ("PIP_", "SSL_", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "no_proxy", "LANG", "TMPDIR")


def instructions(text: str) -> list[tuple[str, str]]:
    """(name, rest) of each instruction; continued lines are joined, comments left out."""
    joined = re.sub(r"\\\n", " ", "\n".join(line for line in text.splitlines() if not line.startswith("#")))
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1].strip()) for line in joined.splitlines() if line]


@dataclass
class Image:
    """The root of one stage, and what its instructions have set."""

    root: Path
    context: Path  # the folder that `docker build` is given
    folder: str = "/"
    variables: dict[str, str] = field(default_factory=dict)
    stages: dict[str, Path] = field(default_factory=dict)
    user: str = "root"
    command: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)
    ran: int = 0

    def inside(self, path: str) -> Path:
        """A path of the image as one of this machine."""
        return self.root / (path.lstrip("/") if path.startswith("/") else f"{self.folder.lstrip('/')}/{path}")

    def translated(self, text: str) -> str:
        """A command whose absolute paths lie below the root."""
        return re.sub(r"(?<![\w.:/])/(?=(?:source|srv|var/lib)/|(?:source|srv)\b)", f"{self.root}/", text)

    def environment(self) -> dict[str, str]:
        passed = {name: value for name, value in os.environ.items() if name.startswith(PASSED_ON)}
        own = {name: self.translated(value) for name, value in self.variables.items()}
        base = f"{self.root / 'python'}:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"
        path = own.pop("PATH", "$PATH").replace("$PATH", base)
        return passed | own | {"PATH": path, "HOME": str(self.root), "PIP_NO_COMPILE": "1"}

    def build(self, text: str) -> "Image":
        """Play all instructions."""
        for name, rest in instructions(text):
            getattr(self, f"do_{name.lower()}")(rest)
        return self

    def do_from(self, rest: str) -> None:
        """A new stage: an empty root with the interpreter."""
        image, _, name = rest.partition(" AS ")
        assert re.fullmatch(r"python:3\.\d+-slim", image)
        self.root = self.root.parent / (name or "final")
        self.stages[name] = self.root
        self.folder, self.variables = "/", {}
        (self.root / "python").mkdir(parents=True)
        (self.root / "python/python").symlink_to(Path(sys.base_prefix) / "bin" / "python3")

    def do_workdir(self, rest: str) -> None:
        self.folder = rest
        self.inside(rest).mkdir(parents=True, exist_ok=True)

    def do_copy(self, rest: str) -> None:
        *sources, target = rest.split()
        place = self.context
        if sources[0].startswith("--from="):
            place = self.stages[sources.pop(0).removeprefix("--from=")]
            sources = [source.lstrip("/") for source in sources]
        for source in sources:
            found, goal = place / source, self.inside(target)
            goal = goal / found.name if target.endswith("/") else goal
            goal.parent.mkdir(parents=True, exist_ok=True)
            if found.is_dir():
                shutil.copytree(found, goal, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(found, goal)

    def do_run(self, rest: str) -> None:
        self.ran += 1
        if rest.startswith("useradd "):
            self.add_user(rest)
            return
        done = subprocess.run(
            ["/bin/sh", "-euc", self.translated(rest)], cwd=self.inside(self.folder), env=self.environment(),
            capture_output=True, text=True, check=False, timeout=PATIENCE,
        )  # fmt: skip
        assert done.returncode == 0, f"RUN {rest}: {done.stdout[-2000:]}{done.stderr[-2000:]}"

    def add_user(self, rest: str) -> None:
        """The same command in the root's own list of users; without the right to, only its folder."""
        if os.geteuid() != 0:
            self.inside(shlex.split(rest)[shlex.split(rest).index("--home-dir") + 1]).mkdir(parents=True)
            return
        (self.root / "etc").mkdir(exist_ok=True)
        for name in ("passwd", "group", "shadow", "gshadow"):
            (self.root / "etc" / name).write_text("")
        words = shlex.split(rest)
        done = subprocess.run(
            [shutil.which(words[0], path="/usr/sbin:/sbin") or words[0], "--prefix", self.root, *words[1:]],
            capture_output=True, text=True, check=False, timeout=PATIENCE,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr

    def do_user(self, rest: str) -> None:
        self.user = rest

    def do_env(self, rest: str) -> None:
        self.variables |= dict(word.split("=", 1) for word in shlex.split(rest))

    def do_cmd(self, rest: str) -> None:
        self.command = json.loads(rest)

    def do_healthcheck(self, rest: str) -> None:
        self.health = json.loads(rest.partition("CMD ")[2])

    def do_volume(self, rest: str) -> None:
        assert self.inside(rest).is_dir(), f"{rest} is not there"

    def do_expose(self, rest: str) -> None:
        assert self.variables["AFTERGLOW_PORT"] == rest
