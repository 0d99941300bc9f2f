"""Commands and settings in the reference, and the typed methods of commands, all from their declarations.

`python docs/tables/commands.py` writes them; tests compare.
"""

import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path

from afterglow.live.domain.arguments import Argument, Kind
from afterglow.live.domain.command_table import COMMANDS, Command
from afterglow.live.domain.settings_table import SETTINGS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/reference/live.md"
CLIENT_PAGE = ROOT / "docs/reference/client.md"
LIVE = ROOT / "src/afterglow/live/command_methods.py"
CLIENT = ROOT / "src/afterglow/client/command_methods.py"
MARKS = {one: (f"<!-- {one} -->\n", f"<!-- end of {one} -->\n") for one in ("commands", "settings")}
TYPES = {
    Kind.VARIANT: "str",
    Kind.UNIT: "str",
    Kind.TEXT: "str",
    Kind.WHOLE: "int",
    Kind.NUMBER: "float",
    Kind.FLAG: "bool",
}
WRITTEN = "Written by docs/tables/commands.py from live/domain/command_table.py: change that and run it."
LIVE_HEAD = f'''"""Methods of an experiment for the commands of operators, typed.

{WRITTEN}
"""

from abc import ABC, abstractmethod

from afterglow.live.domain.actor import Actor


class CommandMethods(ABC):
    """Commands of operators. The reference says when each takes effect."""

    @abstractmethod
    def command(self, name: str, /, by: Actor | None = None, **arguments: object) -> None: ...
'''
CLIENT_HEAD = f'''"""Methods of the clients for the commands of operators, and the names of an experiment's settings.

{WRITTEN}
"""

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

Given = TypeVar("Given")  # an answer, or an awaitable one
SETTINGS = frozenset({{
{{settings}}
}})  # fmt: skip


class CommandMethods(ABC, Generic[Given]):
    """Commands of operators. Each returns the status afterwards."""

    @abstractmethod
    def _command(self, address: str, **arguments: object) -> Given: ...
'''


def signature(command: Command) -> str:
    """The arguments of a method, typed."""
    return ", ".join(["self", *(f"{one.name}: {type_of(one)}" for one in command.arguments)])


def type_of(one: Argument) -> str:
    if one.required:
        return TYPES[one.kind]
    return f"{TYPES[one.kind]}{' | None' if one.default is None else ''} = {one.default!r}"


def documented(command: Command) -> str:
    """The docstring of a method."""
    text = f'"""{command.help}"""'
    if len(text) <= 112:
        return f"        {text}\n"
    first, _, rest = command.help.partition(". ")
    wrapped = textwrap.fill(rest, 112, initial_indent=" " * 8, subsequent_indent=" " * 8)
    return f'        """{first}.\n\n{wrapped}\n        """\n'


def live_methods(commands: Iterable[Command] = COMMANDS) -> str:
    """The module of `afterglow.live`."""
    made = LIVE_HEAD
    for one in commands:
        given = "".join(f", {argument.name}={argument.name}" for argument in one.arguments)
        made += f"\n    def {one.name}({signature(one)}) -> None:\n{documented(one)}"
        made += f'        self.command("{one.name}"{given})\n'
    return made


def client_methods(commands: Iterable[Command] = COMMANDS) -> str:
    """The module of `afterglow.client`, which imports nothing of the server."""
    names = ", ".join(f'"{one.name}"' for one in SETTINGS)
    listed = textwrap.fill(names + ",", 112, initial_indent=" " * 4, subsequent_indent=" " * 4)
    made = CLIENT_HEAD.replace("{settings}", listed)
    for one in commands:
        given = "".join(f", {argument.name}={argument.name}" for argument in one.arguments)
        made += f"\n    def {one.name}({signature(one)}) -> Given:\n{documented(one)}"
        made += f'        return self._command("{one.slug}"{given})\n'
    return made


def command_table(commands: Iterable[Command] = COMMANDS) -> str:
    """One row for each command: method, address, accepted phases, event, meaning."""
    rows = ["| command | HTTP | scope | phases | effect | event | |", "|---|---|---|---|---|---|---|"]
    for one in commands:
        phases, events = (", ".join(f"`{each}`" for each in many) for many in (one.phases, one.events))
        when = "at once; clients of the service within its `max_age`" if one.at_once else "next step"
        address = f"`POST /v1/experiments/{{name}}/{one.slug}`"
        rows.append(f"| `{call_of(one)}` | {address} | `{one.scope}` | {phases} | {when} | {events} | {one.help} |")
    return "\n".join(rows) + "\n"


def client_table(commands: Iterable[Command] = COMMANDS) -> str:
    """One row for each command of the clients."""
    rows = ["| name | | |", "|---|---|---|"]
    return "\n".join([*rows, *(f"| `{call_of(one)}` | *a* | {one.help} |" for one in commands)]) + "\n"


def call_of(one: Command) -> str:
    arguments = ", ".join(x.name if x.required else f"{x.name}={x.default!r}" for x in one.arguments)
    return f"{one.name}({arguments})"


def setting_table() -> str:
    """One row for each setting: default, limits, meaning."""
    rows = ["| setting | default | limits | |", "|---|---|---|---|"]
    rows += [f"| `{one.name}` | {default(one)} | {limits(one)} | {one.help} |" for one in SETTINGS]
    return "\n".join(rows) + "\n"


def default(one: Argument) -> str:
    if one.required:
        return "required"
    return one.shown_default or f"`{one.default!r}`"


def limits(one: Argument) -> str:
    """The allowed range in words."""
    if one.kind is Kind.VARIANTS:
        return f"2 to {one.most:,}"
    said = [
        f"{word} {value:,}" for word, value in
        (("from", one.least), ("above", one.above), ("to", one.most), ("below", one.below)) if value is not None
    ]  # fmt: skip
    return " ".join(said)


def drawn(page: str) -> str:
    """The reference of live experiments with its tables as they should be."""
    return with_tables(page, {"settings": setting_table(), "commands": command_table()})


def client_drawn(page: str) -> str:
    """The reference of the client with its table as it should be."""
    return with_tables(page, {"commands": client_table()})


def with_tables(page: str, tables: Mapping[str, str]) -> str:
    for name, text in tables.items():
        first, last = MARKS[name]
        before, _, rest = page.partition(first)
        page = f"{before}{first}\n{text}\n{last}{rest.partition(last)[2]}"
    return page


if __name__ == "__main__":
    PAGE.write_text(drawn(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    CLIENT_PAGE.write_text(client_drawn(CLIENT_PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    LIVE.write_text(live_methods(), encoding="utf-8")
    CLIENT.write_text(client_methods(), encoding="utf-8")
