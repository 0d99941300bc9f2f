"""A release to come, with one more revision: what `afterglow migrate` is for."""

from collections.abc import Iterable
from pathlib import Path
from shutil import copytree

import pytest

from afterglow.live.store import migrate, migrations

NOW = migrations.VERSIONS[-1]
NEXT = str(int(NOW) + 1)

REVISION = """
from afterglow.live.store.migrations import alter

revision = {revision!r}
down_revision = {before!r}


def upgrade() -> None:
    alter({{"sqlite": {statements!r}, "postgresql": {statements!r}}})
"""


def release(patch: pytest.MonkeyPatch, folder: Path, statements: Iterable[str]) -> None:
    """Let this be a release whose layout is version `NEXT`, which those statements lead to."""
    copytree(migrate.HERE, folder / "migrations")
    text = REVISION.format(statements=tuple(statements), revision=NEXT, before=NOW)
    (folder / "migrations" / "versions" / f"v{NEXT}.py").write_text(text, encoding="utf-8")
    patch.setattr(migrate, "HERE", folder / "migrations")
    patch.setattr("afterglow.live.store.migrations.VERSIONS", (*migrations.VERSIONS, NEXT))
