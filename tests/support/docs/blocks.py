"""Run the fenced blocks of a Markdown document, top to bottom, in one empty folder.

    python           runs; the blocks of a document share one namespace. With prompts (`>>>`) it is a doctest.
    output           is what the python block before it printed
    console, sh      `$ command` lines run; what is shown below one is what it prints (stdout, or everything
                     if it fails). Without prompts every line is a command.
    toml, json       parse
    text, math, mermaid, diff, nginx, systemd, yaml   are for reading

`...` in shown output stands for any text; `docs_shell` says what else stands for what, and how a service is started.
A comment directly above a block changes what happens to it:

    <!-- not run: needs a second machine -->    nothing, for the reason given
    <!-- file: world.toml -->                   the block is also saved under that name, and python isn't run
"""

import doctest
import io
import json
import re
import sys
import textwrap
import tomllib
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

from support.docs.shell import Refusal, Shell

FENCE = re.compile(
    r"(?:^ *<!-- *(?P<verb>not run|file): *(?P<note>[^\n]*?) *--> *\n)?"
    r"^(?P<indent> *)(?P<fence>`{3,})(?P<language>[^\s`]*)[^\n]*\n(?P<body>.*?)^(?P=indent)(?P=fence) *$",
    re.MULTILINE | re.DOTALL,
)
READ_ONLY = {"text", "math", "mermaid", "diff", "nginx", "systemd", "yaml"}


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
    with sandbox(folder) as (namespace, shell):
        printed = ""
        for block in blocks(document.read_text(encoding="utf-8")):
            if block.not_run is not None:
                continue
            try:
                printed = run_block(block, document, namespace, shell, printed)
            except (Mismatch, Refusal) as wrong:
                raise Mismatch(f"{document.name}:{block.line}: {wrong}") from None


@contextmanager
def sandbox(folder: Path) -> Iterator[tuple[dict[str, object], Shell]]:
    """A fresh namespace and a shell, with `folder` as the place to work in and to import from."""
    module, shell = ModuleType("document"), Shell()
    modules = dict(sys.modules)
    sys.modules[module.__name__] = module
    sys.path.insert(0, str(folder))
    try:
        with chdir(folder):
            yield module.__dict__, shell
    finally:
        shell.close()
        sys.path.remove(str(folder))
        for name, loaded in list(sys.modules.items()):
            if name not in modules and (getattr(loaded, "__file__", None) or "").startswith(str(folder)):
                del sys.modules[name]
        del sys.modules[module.__name__]


def run_block(block: Block, document: Path, namespace: dict[str, object], shell: Shell, printed: str) -> str:
    """Run one block; what it printed, for an `output` block after it."""
    if block.language == "python" or block.file is not None:
        block = replace(block, body=shell.real(block.body))
    if block.file is not None:
        Path(block.file).write_text(block.body, encoding="utf-8")
    match block.language:
        case "python":
            return shell.shown(run_python(block, document, namespace))
        case "output":
            compare(block.body, printed)
        case "console" | "sh":
            for command, shown in commands(block.body):
                run_command(command, shown, shell)
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
    if re.search(r"^[^'\n]*'[^'\n]*(?:'[^'\n]*'[^'\n]*)*\\\n", body, re.MULTILINE):
        raise Mismatch("a backslash within quotes is part of what is quoted; end the line elsewhere")
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


def run_command(command: str, shown: str, shell: Shell) -> None:
    """Run one line of shell, with this interpreter's programs first on the path."""
    printed, code = shell.run(command, shown)
    if shown.strip():
        compare(shown, printed)
    elif code:
        raise Mismatch(f"`{command}` exits {code}: {printed}")


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
