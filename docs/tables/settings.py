"""The table of the service's settings in the guide, generated from the code: python docs/tables/settings.py."""

from dataclasses import fields
from pathlib import Path

from afterglow.cli.app import commands
from afterglow.cli.reference import in_toml
from afterglow.service.settings import MEANINGS, PREFIX, ServiceSettings

GUIDE = Path(__file__).parents[2] / "docs/guides/service.md"
HEAD = "| in a file | in the environment | as a flag | default | |\n|---|---|---|---|---|\n"


def table() -> str:
    """One row for each setting."""
    flags = {option.name: option.opts[0] for option in commands().commands["serve"].params}
    return HEAD + "".join(
        f"| `{one.name}` | `{PREFIX}{one.name.upper()}` | {f'`{flags[one.name]}`' if one.name in flags else ''} "
        f"| `{in_toml(one.default)}` | {MEANINGS[one.name]} |\n"
        for one in fields(ServiceSettings)
    )


def drawn(guide: str) -> str:
    """The guide with the table as it should be."""
    before, _, rest = guide.partition(HEAD)
    return before + table() + rest[rest.index("\n\n") + 1 :]


if __name__ == "__main__":
    GUIDE.write_text(drawn(GUIDE.read_text(encoding="utf-8")), encoding="utf-8")
