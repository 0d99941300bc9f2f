"""A user's policy in a file of its own."""

from pathlib import Path

import pytest

from afterglow.errors import BadFormat, BadValue, UnknownName
from afterglow.lab.study.code.policy_files import load, policy_from
from afterglow.policies.registry import named


def test_a_name_is_a_policy_of_the_registry() -> None:
    assert policy_from("ucb1") is named("ucb1")
    with pytest.raises(UnknownName, match="did you mean 'ucb1'"):
        policy_from("ucb")


def test_a_file_may_use_what_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "lying_beside.py").write_text("from afterglow.policies.ucb1 import policy as found\n")
    (tmp_path / "mine.py").write_text("from lying_beside import found as policy\n")
    assert policy_from(str(tmp_path / "mine.py")) is named("ucb1")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("raise SystemExit")
    with pytest.raises(BadValue, match=r"notes\.txt can't be loaded as Python: its name must end with \.py"):
        load(tmp_path / "notes.txt")
    with pytest.raises(BadValue, match=r"no file '.*none\.py'; give the path of a Python file with a `policy`"):
        policy_from(str(tmp_path / "none.py"))


@pytest.mark.parametrize(
    ("source", "said"), [("x = 1\n", "nothing is called that"), ("policy = 'ucb1'\n", "it is 'ucb1'")]
)
def test_a_file_without_a_policy_is_refused(tmp_path: Path, source: str, said: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(source)
    with pytest.raises(BadValue, match=f"must name an afterglow.Policy `policy`, {said}"):
        policy_from(str(path))


@pytest.mark.parametrize(
    ("source", "said"),
    [("x = 1\ny = x / 0\n", r"stops with ZeroDivisionError: .* \(line 2\)"), ("x = (\n", "stops with SyntaxError: ")],
)
def test_a_file_that_stops_is_named_with_its_line(tmp_path: Path, source: str, said: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(source)
    with pytest.raises(BadFormat, match=said):
        policy_from(str(path))
