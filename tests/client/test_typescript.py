"""The TypeScript client under Node, against a real service."""

import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright._impl._driver import compute_driver_executable

from tables.typescript import FILE, source
from testbed.service import Serving

FOLDER = Path(__file__).parents[2] / "clients/typescript"
NODE = Path(compute_driver_executable()[0])  # Playwright brings one, which strips types


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with Serving(tmp_path_factory.mktemp("typescript") / "live.db") as serving:
        yield serving


def test_the_types_are_those_of_the_openapi_document() -> None:
    assert FILE.read_text(encoding="utf-8") == source(), "run python docs/tables/typescript.py"


def test_the_client_keeps_its_promises_under_node(service: Serving) -> None:
    with service.client() as http:
        made: dict[str, Any] = {"name": "node", "variants": ["A", "B"], "window": 2, "reward_max": 100, "horizon": 1000}
        made["guards"] = {"complaints": {"at_most": "+10%"}}
        assert http.post("/v1/experiments", json=made).status_code == 201
    told = {"AFTERGLOW_ADDRESS": service.address, "AFTERGLOW_TOKEN": service.token, "AFTERGLOW_EXPERIMENT": "node"}
    done = subprocess.run(
        [NODE, "--test", "--test-reporter=spec", *sorted(FOLDER.glob("test/*.test.ts"))],
        env=os.environ | told, cwd=FOLDER, check=False, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "fail 0" in done.stdout
    assert "pass 13" in done.stdout


@pytest.fixture(scope="module")
def packages() -> Path:
    """The packages of npm that the example and the type check need."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed, so types are not checked and the OpenFeature example is not run")
    folder = os.open(FOLDER, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)  # another worker may be installing them
        if not (FOLDER / "node_modules/.package-lock.json").exists():
            done = subprocess.run(
                [npm, "ci", "--ignore-scripts"], cwd=FOLDER, check=False, capture_output=True, text=True, timeout=120
            )
            assert done.returncode == 0, done.stderr
    finally:
        os.close(folder)
    return FOLDER / "node_modules"


def test_the_types_of_the_client_are_sound(packages: Path) -> None:
    done = subprocess.run(
        [packages / ".bin/tsc", "--noEmit"], cwd=FOLDER, check=False, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout


def test_the_stock_provider_of_openfeature_reads_the_variant_in_a_web_page(service: Serving, packages: Path) -> None:
    with service.client() as http:
        made = {"name": "flag", "variants": ["A", "B"], "window": 2, "reward_max": 100, "horizon": 1000}
        assert http.post("/v1/experiments", json=made).status_code == 201
        variant = http.get("/v1/experiments/flag/current").json()["variant"]
    token = service.new_token("decide", experiments=["flag"])
    told = {"AFTERGLOW_ADDRESS": service.address, "AFTERGLOW_TOKEN": token, "AFTERGLOW_EXPERIMENT": "flag"}
    done = subprocess.run(
        [NODE, "examples/openfeature.ts"],
        env=os.environ | told,
        cwd=FOLDER,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.strip() == variant, done.stderr
