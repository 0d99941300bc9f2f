"""The programs that `deploy` is written for: nginx, Caddy, promtool, systemd-analyze."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

DEPLOY = Path(__file__).parents[3] / "deploy"
PACKAGES = {"nginx": "nginx-light", "caddy": "caddy", "promtool": "prometheus", "systemd-analyze": "systemd"}
PATIENCE = 60.0  # seconds, on a busy machine


def program(name: str) -> str:
    """Where it is; without it the test is skipped, and says so."""
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")
    if found is None:
        pytest.skip(f"{name} is not installed, so deploy/ is not checked by it; `apt-get install {PACKAGES[name]}`")
    return found


def run(*command: str | Path, **environment: str) -> str:
    """What a command says; it must succeed."""
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=PATIENCE, env=environment or None
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}"
    return done.stdout + done.stderr


@contextmanager
def running(*command: str | Path, log: Path, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """A server in the foreground; ended at the end, its output in `log`."""
    with log.open("wb") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said, env=environment or None)
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE)
            finally:
                process.kill()
