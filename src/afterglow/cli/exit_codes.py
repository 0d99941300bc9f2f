"""What a failure comes to: one sentence, and 2 for a wrong call or 1 for anything else."""

from typing import Any

from afterglow.errors import AfterglowError, BadValue, UnknownName


def verdict(failure: Exception) -> tuple[str, int] | None:
    """(sentence, exit code); None for what is a bug and deserves its traceback."""
    if isinstance(failure, AfterglowError):
        return str(failure), 2 if isinstance(failure, BadValue) else 1
    if isinstance(failure, OSError):
        where = f"{failure.filename}: " if failure.filename else ""
        return f"{where}{(failure.strerror or str(failure)).lower()}", 1
    if hasattr(failure, "format_message"):  # Typer's own
        return usage(failure), 2
    return None


def usage(failure: Any) -> str:
    """A call that Typer can't read, in our words."""
    context = getattr(failure, "ctx", None)
    path = context.command_path if context else "afterglow"
    help_ = f"`{path} --help` lists them"
    kind = type(failure).__name__
    if kind == "NoSuchOption":
        known = [name for option in context.command.params for name in option.opts] if context else []
        return str(UnknownName("option", failure.option_name, [*known, "--help"], help_))
    if kind == "MissingParameter":
        name = failure.param.opts[0]
        needed = name if name.startswith("-") else failure.param.metavar or name
        return f"{path} needs {needed}; `{path} --help` says what it takes"
    if context is not None and failure.message.startswith("No such command"):
        known = list(context.command.commands)
        return str(UnknownName("command", failure.message.split("'")[1], known, help_))
    if "unexpected extra argument" in failure.message:
        return f"{path} takes options only, got {failure.message.rpartition('(')[2].rstrip(')')!r}; {help_}"
    plain = str(failure.format_message()).strip().rstrip(".")
    return plain[:1].lower() + plain[1:]
