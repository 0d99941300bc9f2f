"""The version of a database's layout: only this release's is used, an older one is changed by a command."""

from afterglow.errors import BadDatabase
from afterglow.live.store import migrations

LAYOUT = frozenset({"experiments", "events", "steps", "snapshots", "rewards", "tokens"})  # of every version


def refuse_other(version: str, address: str) -> None:
    """Refuse another layout than this release's; it is never changed implicitly."""
    if behind(version, address):
        raise BadDatabase(
            f"{address} has schema version {version}, this release needs {migrations.VERSIONS[-1]}; "
            f"run `afterglow migrate {address}`"
        )


def behind(version: str, address: str) -> bool:
    """Whether a layout is older than this release's; a newer one can't be read."""
    if version not in migrations.VERSIONS:
        raise BadDatabase(
            f"{address} has schema version {version}, written by a newer release; this one knows version "
            f"{migrations.VERSIONS[-1]}: pull your clone and run `pip install .` in it again"
        )
    return version != migrations.VERSIONS[-1]
