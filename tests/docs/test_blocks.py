"""The documents are executed, and a document that says something wrong fails."""

import sys
from pathlib import Path

import pytest

from support.docs.blocks import Mismatch, blocks, commands, run_document

ROOT = Path(__file__).parents[2]
PYTHON = "```python\n{}\n```\n"
CONSOLE = "```console\n{}\n```\n"


def run(text: str, folder: Path) -> None:
    document = folder / "sample.md"
    document.write_text(text, encoding="utf-8")
    run_document(document, folder)


def test_python_blocks_of_a_document_share_their_names(tmp_path: Path) -> None:
    run(PYTHON.format("x = 20") + "prose\n" + PYTHON.format("assert x == 20"), tmp_path)


def test_a_document_leaves_no_names_modules_or_files_behind(tmp_path: Path) -> None:
    before, folder = sys.path[:], Path.cwd()
    run("<!-- file: brought_along.py -->\n" + PYTHON.format("y = 1") + PYTHON.format("import brought_along"), tmp_path)
    assert (sys.path, Path.cwd()) == (before, folder)
    assert not {"document", "brought_along"} & sys.modules.keys()
    assert (tmp_path / "brought_along.py").read_text() == "y = 1\n"


def test_an_error_in_a_python_block_points_into_the_document(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        run("title\n\n" + PYTHON.format("x = 0\n1 / x"), tmp_path)
    assert (Path(caught.traceback[-1].path).name, caught.traceback[-1].lineno + 1) == ("sample.md", 5)


def test_prompts_in_a_python_block_are_compared_with_what_comes(tmp_path: Path) -> None:
    run(PYTHON.format("x = 2") + PYTHON.format(">>> x + 1\n3\n>>> x = 5") + PYTHON.format("assert x == 5"), tmp_path)
    with pytest.raises(Mismatch, match="Expected"):
        run(PYTHON.format(">>> 1 + 1\n3"), tmp_path)


def test_an_output_block_is_what_the_python_block_before_it_printed(tmp_path: Path) -> None:
    run(PYTHON.format("print('seen 12.5 in all')") + "```output\nseen ... in all\n```\n", tmp_path)
    with pytest.raises(Mismatch, match=r"sample.md:5: the document shows"):
        run(PYTHON.format("print(1)") + "```output\n2\n```\n", tmp_path)


def test_a_command_must_print_what_the_document_shows(tmp_path: Path) -> None:
    run(CONSOLE.format('$ python -c "print(1); print(2)"\n1\n...\n$ python -c "print(3)"'), tmp_path)
    with pytest.raises(Mismatch, match="but this came\n    1\n"):
        run(CONSOLE.format('$ python -c "print(1)"\n2'), tmp_path)


def test_a_command_may_fail_only_if_the_document_shows_how(tmp_path: Path) -> None:
    fails = "$ python -c \"import sys; sys.exit('window must be at least 1')\""
    run(CONSOLE.format(fails + "\nwindow must be at least 1"), tmp_path)
    with pytest.raises(Mismatch, match="exits 1: window"):
        run(CONSOLE.format(fails), tmp_path)


def test_only_a_few_programs_run_from_documents(tmp_path: Path) -> None:
    with pytest.raises(Mismatch, match="`pip` isn't run from documents"):
        run("```sh\npip install afterglow\n```\n", tmp_path)


def test_a_long_command_may_go_over_several_lines() -> None:
    assert commands("$ afterglow a \\\n    --b\nshown\n") == [("afterglow a     --b", "shown\n")]
    assert commands("# first\ncat a\n\ncat b\n") == [("cat a", ""), ("cat b", "")]
    assert commands("$ cat 'a' \\\n    'b'\n") == [("cat 'a'     'b'", "")]
    with pytest.raises(Mismatch, match="a backslash within quotes"):
        commands("$ cat 'a' 'b \\\n    c'\n")


def test_a_saved_block_can_be_used_by_later_ones(tmp_path: Path) -> None:
    run(
        "<!-- file: world.toml -->\n```toml\nwindow = 3\n```\n" + CONSOLE.format("$ cat world.toml\nwindow = 3"),
        tmp_path,
    )


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ("```toml\nwindow = \n```", "toml that doesn't parse"),
        ("```json\n{'a': 1}\n```", "json that doesn't parse"),
        ("```py\nx = 1\n```", "no way to check a 'py' block"),
        ("```\nx = 1\n```", "no way to check a '' block"),
    ],
)
def test_a_block_that_cant_be_what_it_says_is_refused(tmp_path: Path, block: str, reason: str) -> None:
    with pytest.raises(Mismatch, match=reason):
        run(block, tmp_path)


def test_a_block_is_passed_over_only_with_a_reason_directly_above_it(tmp_path: Path) -> None:
    wrong = PYTHON.format("raise SystemExit(3)")
    run("<!-- not run: stops the interpreter -->\n" + wrong, tmp_path)
    with pytest.raises(SystemExit):
        run("<!-- not run: stops the interpreter -->\n\n" + wrong, tmp_path)


def test_blocks_in_lists_and_longer_fences_are_found() -> None:
    found = blocks("- item\n\n  ```python\n  x = 1\n  ```\n\n````text\n```python\n```\n````\n")
    assert [(block.language, block.body, block.line) for block in found] == [
        ("python", "x = 1\n", 4),
        ("text", "```python\n```\n", 8),
    ]


def test_pytest_fails_a_document_whose_output_is_wrong(pytester: pytest.Pytester) -> None:
    pytester.makeconftest((ROOT / "conftest.py").read_text())
    pytester.makefile(".md", good=PYTHON.format("assert 1 + 1 == 2"), bad=CONSOLE.format('$ python -c "print(1)"\n2'))
    result = pytester.runpytest_inprocess("-p", "no:xdist")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["bad.md:2: the document shows"])


def test_blocks_that_are_not_run_are_few() -> None:
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    found = [(page, block) for page in documents for block in blocks(page.read_text(encoding="utf-8"))]
    passed_over = [f"{page.name}:{block.line}: {block.not_run}" for page, block in found if block.not_run is not None]
    assert all(line.rsplit(": ", 1)[1] for line in passed_over)
    elsewhere = [line for line in passed_over if line.startswith("deploy.md:")]  # their steps are run by tests/deploy
    assert len(elsewhere) == 3
    assert len(passed_over) - len(elsewhere) <= 7, "\n".join(passed_over)
