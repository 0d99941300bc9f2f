"""`afterglow migrate`: upgrade a database of an older release."""

from afterglow.cli import options
from afterglow.cli.messages import one_line
from afterglow.live.store.migrate import migrate


def command(database: options.Database) -> None:
    """Upgrade a database to the schema of this release; a file is copied first."""
    done = migrate(database)
    if not done.changed:
        one_line(f"{done.address} has the layout of this release; nothing was changed")
    elif done.copy is None:
        one_line(f"{done.address} is ready")
    else:
        one_line(f"{done.address} is ready; as it was before, it is in {done.copy}")
