"""JSON logs, one object per line, with time, level, logger, message and the extra fields of the record."""

import logging
import sys
import traceback
from datetime import UTC, datetime
from time import monotonic
from typing import IO

import msgspec

SPARING = 10.0  # seconds
OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message", "taskName"}


class JsonFormatter(logging.Formatter):
    """Formats a record and its `extra` fields as JSON."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(), "logger": record.name, "message": record.getMessage(),
            **{name: value for name, value in vars(record).items() if name not in OWN},
        }  # fmt: skip
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = "".join(traceback.format_exception(*record.exc_info))
        return msgspec.json.encode(line, enc_hook=str).decode()


def write_logs(level: str, stream: IO[str] | None = None) -> None:
    """Write the logs of the service and its server to stderr only."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter())
    own, others = ("afterglow.service", "afterglow.live"), ("uvicorn", "uvicorn.error")
    for name, least in [*((name, level) for name in own), *((name, "warning") for name in others)]:
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(max(logging.getLevelName(least.upper()), logging.getLevelName(level.upper())))


class Sparing:
    """Logs a warning at most every few seconds, however often it occurs."""

    def __init__(self, logger: logging.Logger, sentence: str) -> None:
        self.logger = logger
        self.sentence = sentence
        self.said = -SPARING

    def say(self, what: object) -> None:
        if monotonic() - self.said >= SPARING:
            self.said = monotonic()
            self.logger.warning(self.sentence, what)
