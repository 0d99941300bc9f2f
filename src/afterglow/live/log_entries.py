"""The records of a log as readers see them."""

from typing import Any, NamedTuple

from afterglow.live.domain.log import Place, read_body
from afterglow.live.store.contract import Reading


class LogEntry(NamedTuple):
    seq: int
    at: float  # seconds since 1970
    kind: str
    body: dict[str, Any]
    hash: str

    def place(self) -> Place:
        return Place(self.seq, round(1000 * self.at), bytes.fromhex(self.hash))


REWOUND = "rewound"  # kind of the entry that tells a reader that the log has lost records which it has seen


def rewound(seen: int, goes_on: int, mark: bytes, now: float) -> LogEntry:
    """For a reader that has seen the records up to `seen`, and goes on behind record `goes_on`; not in any log."""
    return LogEntry(goes_on, now, REWOUND, {"seen": seen, "continues_after": goes_on}, mark.hex())


def log_entries(log: Reading, after: int, count: int | None) -> list[LogEntry]:
    return [
        LogEntry(one.seq, one.at / 1000, one.kind, read_body(one.body), one.hash.hex())
        for one in log.records(after, count)
    ]
