"""Every line of the security checklist names a test that exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/guides/security-checklist.md").read_text()
LINES = re.findall(r"^\| (\w[\w ]*) \| (.+?) \| `(\S+)::(\w+)` \|$", TEXT, re.M)


def test_every_line_of_the_checklist_has_its_test() -> None:
    assert len(LINES) > 40
    assert len(LINES) == TEXT.count("\n| ") - 1, "a line without a test"
    for _, what, path, name in LINES:
        assert re.search(rf"^(async )?def {name}\(", (ROOT / "tests" / path).read_text(), re.M), f"{what}: no {name}"


def test_guide_and_image_install_hashed_requirements() -> None:
    pinned = (ROOT / "requirements/serve.txt").read_text()
    packages = re.findall(r"^[\w.-]+(?:\[[\w,]+\])?==", pinned, re.M)
    assert len(packages) > 10
    assert len(re.findall(r"==[^\n]*\\\n +--hash=sha256:", pinned)) == len(packages)
    assert re.search(r"^psycopg", pinned, re.M), "PostgreSQL is left out"
    for place in ("deploy/Dockerfile", "docs/guides/deploy.md"):
        text = (ROOT / place).read_text()
        assert re.search(r"--require-hashes\s+--requirement requirements/serve.txt", text), place
