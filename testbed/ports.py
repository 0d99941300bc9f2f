"""A port that stays one's own while nobody listens on it: else it may be given to another test before a restart."""

import socket
import sys


class Port:
    """Bound, and never listened on here: Linux lets a server that reuses addresses listen, and gives it to nobody."""

    def __init__(self) -> None:
        self.kept = socket.socket()
        self.kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.kept.bind(("127.0.0.1", 0))
        self.number: int = self.kept.getsockname()[1]
        if sys.platform != "linux":
            self.kept.close()  # elsewhere two can't have it: it is free, and most likely stays so

    def close(self) -> None:
        self.kept.close()
