"""What a failure prints and exits with: one sentence, and 2 for a wrong call or 1 for anything else."""

from collections.abc import Sequence
from typing import Any

from typer.core import TyperCommand, TyperGroup

from afterglow.cli import option_names
from afterglow.errors import AfterglowError, BadValue, UnknownName

WAYS_OUT = {  # by kind, where the command line has another than Python
    "in-use": "stop it first; `afterglow verify`, `backup` and `export` can be used",
    "no-database": "name the file of the experiments",
    "read-only": "this command only reads",
    "not-copied": "go back to a backup, or copy it all the same with --damaged",
    "not-exported": "go back to a backup, or export it all the same with --damaged",
}


class StrictCommand(TyperCommand):
    """A command that names the arguments that it doesn't take."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.allow_extra_args = True
        rest: list[str] = super().parse_args(ctx, args)
        if rest:
            sentence = f"{ctx.command_path} takes options only, got {' '.join(rest)!r}; {listed_by(ctx.command_path)}"
            raise BadValue(sentence, kind="extra-argument", field=rest[0])
        return rest


class SuggestingGroup(TyperGroup):
    """A group of commands that suggests one for a misspelt name."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in self.commands:
            raise UnknownName("command", args[0], list(self.commands), listed_by(ctx.command_path))
        return super().resolve_command(ctx, args)


def listed_by(path: str) -> str:
    return f"`{path} --help` lists them"


def verdict(failure: Exception, called: Any) -> tuple[str, int] | None:
    """(sentence, exit code) of a failure in a command; None for a bug, which keeps its traceback."""
    if isinstance(failure, AfterglowError):
        sentence = failure.worded(option_names.words_for(called), WAYS_OUT)
        return sentence, 2 if isinstance(failure, BadValue) else 1
    if isinstance(failure, OSError):
        where = f"{failure.filename}: " if failure.filename else ""
        return f"{where}{(failure.strerror or str(failure)).lower()}", 1
    if hasattr(failure, "format_message"):  # Typer's own
        return usage(failure), 2
    return None


def usage(failure: Any) -> str:
    """The sentence for a call that Typer can't read."""
    context = getattr(failure, "ctx", None)
    path = context.command_path if context else "afterglow"
    kind = type(failure).__name__
    if kind == "NoSuchOption":
        known: Sequence[str] = [name for option in context.command.params for name in option.opts] if context else []
        return str(UnknownName("option", failure.option_name, [*known, "--help"], listed_by(path)))
    if kind == "MissingParameter":
        name = failure.param.opts[0]
        needed = name if name.startswith("-") else failure.param.metavar or name
        return f"{path} needs {needed}; `{path} --help` says what it takes"
    plain = str(failure.format_message()).strip().rstrip(".")
    return plain[:1].lower() + plain[1:]
