"""The page of all commands is the commands'."""

from pathlib import Path

from afterglow.cli.reference import every_command, reference

PAGE = Path(__file__).parents[2] / "docs/reference/commands.md"


def test_the_reference_is_what_the_commands_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == reference()


def test_every_option_of_every_command_is_documented() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name, command in every_command():
        chapter = page.split(f"\n## afterglow {name}\n")[1].split("\n## ")[0]
        for option in command.params:
            if option.name == "help" or getattr(option, "hidden", False):  # a former name is hidden
                continue
            written = option.metavar if option.param_type_name == "argument" else option.opts[0]
            assert f"| `{written}" in chapter, f"{name} {written}"
            assert option.help, f"{name} {option.opts[0]} says nothing"
