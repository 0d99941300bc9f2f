"""Uvicorn's reader of HTTP, with a limit on the request line and headers: they end in time, or the connection does."""

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST = 1 << 16  # bytes


class Reader(HttpToolsProtocol):
    """Counts bytes until the headers are complete."""

    before_body = True
    counted = 0

    def data_received(self, data: bytes) -> None:
        if self.before_body:
            self.counted += len(data)
            if self.counted > MOST + len(data):  # what came with the last piece may be the body already
                self.transport.close()
                return
        super().data_received(data)

    def on_headers_complete(self) -> None:
        self.before_body = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self.before_body, self.counted = True, 0
        super().on_message_complete()
