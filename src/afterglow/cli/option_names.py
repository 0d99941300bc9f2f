"""Arguments in messages, written as options of the command that was called: `reward_max` as `--reward-max`."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from shlex import quote
from typing import Any

from afterglow.errors import Sentence, Word
from afterglow.policies.registry import named, names


def as_option(name: str, value: str | None) -> str:
    """An argument as an option of its name."""
    flag = "--" + name.replace("_", "-")
    return flag if value is None else f"{flag} {quote(value)}"


current: ContextVar[Word] = ContextVar("current", default=as_option)  # of the command that runs


def worded(text: str) -> str:
    """A text, with the arguments that it marks as options of the command that runs."""
    return text.worded(current.get()) if isinstance(text, Sentence) else text


@contextmanager
def words_of(command: Any) -> Iterator[None]:
    """Write arguments as the options of this command while it runs."""
    before = current.set(words_for(command))
    try:
        yield
    finally:
        current.reset(before)


def words_for(command: Any) -> Word:
    """How a command names arguments: its own options, a policy's settings with `--set`, others as they are."""
    flags = {flag.removeprefix("--").replace("-", "_") for option in command.params for flag in option.opts}

    def word(name: str, value: str | None) -> str:
        if name in flags:
            return as_option(name, value)
        assigned = name if value is None else f"{name}={quote(value)}"
        return f"--set {assigned}" if "set" in flags and is_setting(name) else assigned

    return word


def is_setting(name: str) -> bool:
    """Whether a policy has a setting of this name."""
    return any(name in named(policy).options() for policy in names())


def command_in(commands: Any, arguments: Sequence[str]) -> Any:
    """The command that arguments call: one of a group's if they name one."""
    inner = getattr(commands, "commands", {})
    for place, argument in enumerate(arguments):
        if argument in inner:
            return command_in(inner[argument], arguments[place + 1 :])
    return commands
