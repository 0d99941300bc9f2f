"""The Dockerfile's steps, run in order in empty folders; then the image's command and its health check."""

import os
import re
import subprocess
from contextlib import closing

import pytest

from support.deploy.dockerfile import Image
from support.deploy.programs import DEPLOY, PATIENCE
from testbed.ports import Port

ROOT = DEPLOY.parent


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    root = tmp_path_factory.mktemp("image") / "nothing"
    return Image(root, ROOT).build((DEPLOY / "Dockerfile").read_text(encoding="utf-8"))


def test_the_image_is_made_of_pinned_packages_and_a_user_without_rights(image: Image) -> None:
    assert image.ran == 4
    assert image.user == "afterglow"
    if os.geteuid() == 0:
        assert re.search(r"^afterglow:x:10001:", (image.root / "etc/passwd").read_text(), re.MULTILINE)
    shown = subprocess.run(
        [image.root / "srv/afterglow/bin/python", "-m", "pip", "list", "--format=freeze"],
        env=image.environment(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    pins = dict(re.findall(r"^([\w.-]+)==([^ ]+)", (ROOT / "requirements/serve.txt").read_text(), re.MULTILINE))
    for line in shown.stdout.splitlines():
        name, _, version = line.partition("==")
        plain = name.lower().replace("_", "-")
        assert plain in {"pip", "setuptools", "afterglow-bandits"} or pins[plain] == version


def test_the_image_serves_by_its_command_and_is_healthy(image: Image) -> None:
    port = Port()
    told = image.environment() | {"AFTERGLOW_PORT": str(port.number), "AFTERGLOW_HOST": "127.0.0.1"}
    place = image.inside("/var/lib/afterglow")
    with (
        closing(port),
        subprocess.Popen(image.command, cwd=place, env=told, stdout=subprocess.PIPE, text=True) as process,
    ):
        assert process.stdout is not None
        assert any("listening on" in line for line in process.stdout)
        program, *rest = (part.replace(image.variables["AFTERGLOW_PORT"], str(port.number)) for part in image.health)
        checked = subprocess.run([program, *rest], env=told, cwd=place, check=False, timeout=PATIENCE)
        assert checked.returncode == 0
        assert (place / "experiments.db").exists()
        process.terminate()
        assert process.wait(PATIENCE) == 0
        failed = subprocess.run([program, *rest], env=told, cwd=place, check=False, stderr=subprocess.PIPE)
        assert failed.returncode != 0
