"""`afterglow migrate`: a database of an older release for this one."""

from afterglow.cli import live_options as options
from afterglow.cli.messages import one_line
from afterglow.live.store.migrate import migrate


def command(database: options.Database) -> None:
    """Bring a database to the layout of this release, after a backup."""
    copy = migrate(database)
    if copy is None:
        one_line(f"{database} has the layout of this release; nothing was changed")
    else:
        one_line(f"{database} is ready; as it was before, it is in {copy}")
