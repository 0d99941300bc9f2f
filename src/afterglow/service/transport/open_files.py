"""Limit of connections by the number of open files that the system allows."""

import logging
import sys

LOG = logging.getLogger("afterglow.service")
KEPT = 128  # files reserved for the database, webhooks and others


def room_for(connections: int) -> int:
    """The configured number of connections, or as many as the limit of open files allows."""
    if sys.platform == "win32":
        return connections
    import resource  # noqa: PLC0415  Windows has none

    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY or files >= connections + KEPT:
        return connections
    room = max(1, files - KEPT)
    LOG.warning("the system allows %s open files, which limits connections to %s", f"{files:,}", f"{room:,}")
    return room
