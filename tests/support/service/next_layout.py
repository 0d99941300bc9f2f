"""A release to come, with one more revision: what `afterglow migrate` is for."""

from collections.abc import Iterable
from pathlib import Path
from shutil import copytree

import pytest

from afterglow.live.store import migrate

REVISION = """
from afterglow.live.store.migrations import alter

revision = "2"
down_revision = "1"


def upgrade() -> None:
    alter({{"sqlite": {statements!r}, "postgresql": {statements!r}}})
"""


def release(patch: pytest.MonkeyPatch, folder: Path, statements: Iterable[str]) -> None:
    """Let this be a release whose layout is version 2, which those statements lead to."""
    copytree(migrate.HERE, folder / "migrations")
    text = REVISION.format(statements=tuple(statements))
    (folder / "migrations" / "versions" / "v2.py").write_text(text, encoding="utf-8")
    patch.setattr(migrate, "HERE", folder / "migrations")
    patch.setattr("afterglow.live.store.migrations.VERSIONS", ("1", "2"))
