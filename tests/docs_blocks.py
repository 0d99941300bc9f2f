"""Run the fenced blocks of a Markdown document, top to bottom, in one empty folder.

    python           runs; the blocks of a document share one namespace. With prompts (`>>>`) it is a doctest.
    output           is what the python block before it printed
    console, sh      `$ command` lines run; what is shown below one is what it prints (stdout, or everything
                     if it fails). Without prompts every line is a command.
    toml, json       parse
    text, math, mermaid, diff   are for reading

`...` in shown output stands for any text. A comment directly above a block changes what happens to it:

    <!-- not run: needs a second machine -->    nothing, for the reason given
    <!-- file: world.toml -->                   the block is also saved under that name, and python isn't run
"""

import doctest
import io
import json
import os
import re
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

FENCE = re.compile(
    r"(?:^ *<!-- *(?P<verb>not run|file): *(?P<note>[^\n]*?) *--> *\n)?"
    r"^(?P<indent> *)(?P<fence>`{3,})(?P<language>[^\s`]*)[^\n]*\n(?P<body>.*?)^(?P=indent)(?P=fence) *$",
    re.MULTILINE | re.DOTALL,
)
READ_ONLY = {"text", "math", "mermaid", "diff"}
COMMANDS = {"afterglow", "python", "cat"}  # what a document may run here


class Mismatch(AssertionError):
    """A block that doesn't do what the document says."""


@dataclass(frozen=True)
class Block:
    language: str
    body: str
    line: int  # of the first line of the body, counted from 1
    not_run: str | None = None  # the reason
    file: str | None = None  # the name to save it under


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a document, in order."""
    found = []
    for match in FENCE.finditer(text):
        verb, note = match["verb"], match["note"]
        found.append(
            Block(
                match["language"],
                textwrap.dedent(match["body"]),
                text.count("\n", 0, match.start("body")) + 1,
                note if verb == "not run" else None,
                note if verb == "file" else None,
            )
        )
    return found


def run_document(document: Path, folder: Path) -> None:
    """Run every block of `document` in `folder`, and stop at the first that doesn't hold."""
    with sandbox(folder) as namespace:
        printed = ""
        for block in blocks(document.read_text(encoding="utf-8")):
            if block.not_run is not None:
                continue
            try:
                printed = run_block(block, document, namespace, printed)
            except Mismatch as wrong:
                raise Mismatch(f"{document.name}:{block.line}: {wrong}") from None


@contextmanager
def sandbox(folder: Path) -> Iterator[dict[str, object]]:
    """A fresh namespace, with `folder` as the place to work in and to import from."""
    module = ModuleType("document")
    modules = dict(sys.modules)
    sys.modules[module.__name__] = module
    sys.path.insert(0, str(folder))
    try:
        with chdir(folder):
            yield module.__dict__
    finally:
        sys.path.remove(str(folder))
        for name, loaded in list(sys.modules.items()):
            if name not in modules and (getattr(loaded, "__file__", None) or "").startswith(str(folder)):
                del sys.modules[name]
        del sys.modules[module.__name__]


def run_block(block: Block, document: Path, namespace: dict[str, object], printed: str) -> str:
    """Run one block; what it printed, for an `output` block after it."""
    if block.file is not None:
        Path(block.file).write_text(block.body, encoding="utf-8")
    match block.language:
        case "python":
            return run_python(block, document, namespace)
        case "output":
            compare(block.body, printed)
        case "console" | "sh":
            for command, shown in commands(block.body):
                run_command(command, shown)
        case "toml":
            parse(tomllib.loads, block)
        case "json":
            parse(json.loads, block)
        case language if language not in READ_ONLY:
            raise Mismatch(f"no way to check a {language!r} block; say what it is, or mark it <!-- not run: why -->")
    return ""


def run_python(block: Block, document: Path, namespace: dict[str, object]) -> str:
    """Run Python code; tracebacks point into the document."""
    if block.body.startswith(">>>"):
        run_doctest(block, document, namespace)
        return ""
    code = compile("\n" * (block.line - 1) + block.body, str(document), "exec", dont_inherit=True)
    if block.file is not None:
        return ""
    with redirect_stdout(io.StringIO()) as printed:
        exec(code, namespace)
    return printed.getvalue()


def run_doctest(block: Block, document: Path, namespace: dict[str, object]) -> None:
    test = doctest.DocTestParser().get_doctest(block.body, namespace, document.name, str(document), block.line - 1)
    test.globs = namespace  # the parser copied it
    said = io.StringIO()
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    if runner.run(test, out=said.write, clear_globs=False).failed:
        raise Mismatch(said.getvalue())


def commands(body: str) -> list[tuple[str, str]]:
    """The commands of a block, each with the output shown below it."""
    lines = body.replace("\\\n", "").splitlines(keepends=True)
    if not any(line.startswith("$ ") for line in lines):
        return [(line.strip(), "") for line in lines if line.strip() and not line.startswith("#")]
    found: list[tuple[str, str]] = []
    for line in lines:
        if line.startswith("$ "):
            found.append((line[2:].strip(), ""))
        elif found:
            found[-1] = (found[-1][0], found[-1][1] + line)
    return found


def run_command(command: str, shown: str) -> None:
    """Run one line of shell with this interpreter's programs first on the path."""
    program = command.split(maxsplit=1)[0]
    if program not in COMMANDS:
        raise Mismatch(f"`{program}` isn't run from documents; mark the block <!-- not run: why -->")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    settings = {"PATH": path, "COLUMNS": "120", "NO_COLOR": "1"}
    done = subprocess.run(
        command, shell=True, env=os.environ | settings, capture_output=True, text=True, encoding="utf-8", check=False
    )
    if done.returncode == 0 and not shown.strip():
        return
    if done.returncode and not shown.strip():
        raise Mismatch(f"`{command}` exits {done.returncode}: {done.stderr or done.stdout}")
    compare(shown, done.stdout if done.returncode == 0 else done.stdout + done.stderr)


def compare(shown: str, printed: str) -> None:
    """Refuse output that isn't what the document shows; `...` stands for any text."""
    want, got = ("\n".join(line.rstrip() for line in text.strip().splitlines()) + "\n" for text in (shown, printed))
    if not doctest.OutputChecker().check_output(want, got, doctest.ELLIPSIS):
        raise Mismatch(
            f"the document shows\n{textwrap.indent(want, '    ')}but this came\n{textwrap.indent(got, '    ')}"
        )


def parse(read: Callable[[str], object], block: Block) -> None:
    try:
        read(block.body)
    except ValueError as wrong:
        raise Mismatch(f"{block.language} that doesn't parse: {wrong}") from None
