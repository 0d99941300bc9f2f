"""How many connections the machine lets the service have."""

import logging
import sys

LOG = logging.getLogger("afterglow.service")
KEPT = 128  # files for the database, webhooks and whatever else is open


def room_for(connections: int) -> int:
    """As many as are wanted, or as the system's limit of open files leaves room for."""
    if sys.platform == "win32":
        return connections
    import resource  # noqa: PLC0415  Windows has none

    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY or files >= connections + KEPT:
        return connections
    room = max(1, files - KEPT)
    LOG.warning("the system allows %s open files, which leaves room for %s connections", f"{files:,}", f"{room:,}")
    return room
