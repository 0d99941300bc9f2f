"""Messages on stderr, one line each; logs and warnings are shown once."""

import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from afterglow.cli.option_names import worded
from afterglow.errors import AfterglowWarning


def one_line(text: str) -> None:
    """A sentence on stderr, without its line breaks."""
    print(" ".join(text.split()), file=sys.stderr, flush=True)


class Once(logging.Handler):
    """Prints each message the first time only."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.said: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        self.say(record.getMessage())

    def say(self, text: str) -> None:
        if text not in self.said:
            self.said.add(text)
            one_line(text)


@contextmanager
def shown() -> Iterator[None]:
    """Show log messages and warnings, each once."""
    once, log = Once(), logging.getLogger("afterglow")
    before = log.level

    def warn(message: Warning | str, *_: Any, **__: Any) -> None:
        once.say(f"warning: {worded(message.args[0] if isinstance(message, Warning) else message)}")

    log.addHandler(once)
    log.setLevel(logging.INFO)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", AfterglowWarning)
            warnings.showwarning = warn
            yield
    finally:
        log.removeHandler(once)
        log.setLevel(before)
