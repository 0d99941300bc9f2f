"""The workflow on GitHub runs what `.ci/run` runs, with the same programs of the system."""

import re
import tomllib

from support.deploy.programs import DEPLOY, PACKAGES

ROOT = DEPLOY.parent
WORKFLOW = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
LOCAL = (ROOT / ".ci/run").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def made(text: str) -> set[str]:
    return set(re.findall(r"^\s*(?:- run: )?make ([\w-]+)", text, re.MULTILINE))


def test_both_run_the_same_targets() -> None:
    assert made(LOCAL) == {"check", "test"}
    assert made(WORKFLOW) == {"check", "test", "test-versions", "docs", "build"}
    assert made(WORKFLOW) <= set(re.findall(r"^([\w-]+):", MAKEFILE, re.MULTILINE))


def test_both_install_the_same_programs() -> None:
    here = {word for words in re.findall(r"missing\+=\(([\w -]+)\)", LOCAL) for word in words.split()}
    there = re.search(r"--no-install-recommends ([\w -]+)$", WORKFLOW, re.MULTILINE)
    assert there is not None
    assert here == {"chromium", *there[1].split()}  # the machines of GitHub have one, Ubuntu's packages don't
    assert set(PACKAGES.values()) < here


def test_every_python_that_the_package_names_is_tested() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [line.rpartition(" ")[2] for line in project["classifiers"] if re.search(r":: 3\.\d+$", line)]
    tested = re.search(r"python: (\[.*?\])", WORKFLOW)
    assert tested is not None
    assert re.findall(r"[\d.]+", tested[1]) == named
    assert project["requires-python"] == f">={named[0]}"


def test_both_ends_of_the_requirements_are_tested() -> None:
    assert set(re.findall(r'resolution: ([\w-]+), python: "([\d.]+)"', WORKFLOW)) == {
        ("lowest-direct", "3.11"), ("highest", "3.11"), ("highest", "3.14"),
    }  # fmt: skip
    assert "make test-versions RESOLUTION=${{ matrix.resolution }}" in WORKFLOW


def test_a_tag_is_published_without_a_stored_password() -> None:
    job = WORKFLOW.partition("  publish:")[2]
    assert "startsWith(github.ref, 'refs/tags/v')" in job
    assert "id-token: write" in job
    assert "secrets." not in WORKFLOW
