"""A network that fails on purpose: a relay between a client and a service on loopback."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock, Thread


class Relay:
    """Passes bytes on. While `losing` is above 0, requests go through and their answers are lost, one less each."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.losing = 0
        self.lost = 0
        self.turn = Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.lines: list[socket.socket] = []
        Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                try:
                    far = socket.create_connection(("127.0.0.1", self.port))
                except OSError:  # nobody is there
                    near.close()
                    continue
                self.lines += [near, far]
                Thread(target=self.requests, args=(near, far), daemon=True).start()
                Thread(target=self.answers, args=(far, near), daemon=True).start()

    def requests(self, near: socket.socket, far: socket.socket) -> None:
        with suppress(OSError):
            while data := near.recv(65536):
                far.sendall(data)
        hang_up(far)

    def answers(self, far: socket.socket, near: socket.socket) -> None:
        with suppress(OSError):
            while data := far.recv(65536):
                if self.lose():
                    break
                near.sendall(data)
        hang_up(near)

    def lose(self) -> bool:
        with self.turn:
            if self.losing <= 0:
                return False
            self.losing -= 1
            self.lost += 1
            return True

    def close(self) -> None:
        hang_up(self.listener)
        self.listener.close()
        for line in self.lines:
            hang_up(line)
            line.close()


def hang_up(line: socket.socket) -> None:
    with suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)


@contextmanager
def relaying(port: int) -> Iterator[Relay]:
    made = Relay(port)
    try:
        yield made
    finally:
        made.close()
