"""Journal of finished runs: an append-only Arrow stream on disk.

Any Arrow reader can open it. The schema comes first, with the study in its metadata; then one record batch with a
checksum for each range of finished runs. After a crash all complete batches remain: on opening, the first batch that is
incomplete or fails its checksum is removed with all that follow.
"""

import json
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa

from afterglow.errors import BadFormat, OutOfTurn, argument

try:
    import fcntl
except ImportError:  # not on Windows, where nothing keeps a second writer out
    fcntl = None  # type: ignore[assignment]

KEY = b"afterglow"  # of the metadata
COLUMNS = [
    ("cell", pa.int32()), ("run", pa.int64()), ("regret", pa.float64()), ("seen", pa.float64()),
    ("pending", pa.float64()), ("generated", pa.float64()), ("holds", pa.int64()), ("switches", pa.int64()),
    ("recommended", pa.int64()), ("pulls", pa.list_(pa.int64())), ("curve", pa.list_(pa.float64())),
    ("shares", pa.list_(pa.float64())),
]  # fmt: skip
SCHEMA = pa.schema(COLUMNS)


@dataclass(frozen=True)
class Stretch:
    """Runs first … last - 1 of a cell, and their offset in the file."""

    cell: int
    first: int
    last: int
    offset: int


def checksum(batch: Any) -> str:
    """Of all numbers in a record batch."""
    found = 0
    for column in batch.columns:
        inner = column.flatten() if pa.types.is_list(column.type) else column
        found = zlib.crc32(inner.to_numpy(zero_copy_only=False).tobytes(), found)
        if inner is not column:
            found = zlib.crc32(column.value_lengths().to_numpy(zero_copy_only=False).tobytes(), found)
    return f"{found:08x}"


def message(batch: Any) -> bytes:
    """A record batch as bytes of the stream."""
    sink = pa.BufferOutputStream()
    writer = pa.ipc.new_stream(sink, SCHEMA)
    writer.write_batch(batch, custom_metadata={"crc32": checksum(batch)})
    written: bytes = sink.getvalue().to_pybytes()  # before the writer is closed: no end mark, the stream goes on
    return written[len(SCHEMA.serialize()) :]


def stretches(path: Path) -> Iterator[tuple[Stretch, Any, int]]:
    """Every complete batch: its range, its content, and the offset after it."""
    with pa.OSFile(str(path)) as file:
        reader = pa.ipc.open_stream(file)
        offset = file.tell()
        while True:
            try:
                batch, said = reader.read_next_batch_with_custom_metadata()
                kept = said is not None and dict(said).get(b"crc32") == checksum(batch).encode()
            except (StopIteration, pa.ArrowException, OSError):
                return
            if not kept:
                return
            runs = batch.column("run")
            behind = file.tell()
            yield Stretch(batch.column("cell")[0].as_py(), runs[0].as_py(), runs[-1].as_py() + 1, offset), batch, behind
            offset = behind


def described(path: Path) -> dict[str, Any]:
    """The metadata of a journal."""
    try:
        with pa.OSFile(str(path)) as file:
            found: dict[str, Any] = json.loads(pa.ipc.open_stream(file).schema.metadata[KEY])
            return found
    except (pa.ArrowException, OSError, TypeError, KeyError, ValueError):
        way_out = f"remove it, or give another folder with {argument('out')}"
        raise BadFormat(f"{path} is not a journal of results; {way_out}", field="out") from None


class Journal:
    """The journal, opened for writing by one process; it can be reopened until the study is complete."""

    def __init__(self, path: Path, identity: dict[str, Any]) -> None:
        self.path = path
        self.file = path.open("ab")
        try:
            self.lock()
            self.stretches = self.recover(header(identity))
        except BaseException:
            self.file.close()
            raise

    def lock(self) -> None:
        """Lock the file for one process; the system releases the lock when the process ends."""
        if fcntl is None:
            return
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            way_out = f"wait for it, or give another {argument('out')}"
            raise OutOfTurn(f"{self.path.parent} is in use by another run; {way_out}", field="out") from None

    def recover(self, head: bytes) -> list[Stretch]:
        """The ranges in the file, after removing incomplete batches."""
        if barely_begun(self.path, head):
            self.file.truncate(0)
            self.file.write(head)
            self.sync()
            return []
        found, end = [], len(head)
        for stretch, _, behind in stretches(self.path):
            found.append(stretch)
            end = behind
        self.file.truncate(end)
        self.file.seek(end)
        return found

    def append(self, batch: Any) -> None:
        """Add the finished runs of one cell."""
        offset = self.file.tell()
        self.file.write(message(batch))
        self.file.flush()
        runs = batch.column("run")
        self.stretches.append(Stretch(batch.column("cell")[0].as_py(), runs[0].as_py(), runs[-1].as_py() + 1, offset))

    def sync(self) -> None:
        """Flush the file to disk."""
        self.file.flush()
        os.fsync(self.file.fileno())

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, kind: type | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.sync()
        self.file.close()


def header(identity: dict[str, Any]) -> bytes:
    """The beginning of the stream."""
    schema = SCHEMA.with_metadata({KEY: json.dumps(identity, sort_keys=True)})
    written: bytes = schema.serialize().to_pybytes()
    return written


def barely_begun(path: Path, head: bytes) -> bool:
    """Whether a journal is new, or its schema was not completely written."""
    return path.stat().st_size < len(head) and head.startswith(path.read_bytes())


def batches_at(path: Path, offsets: list[int]) -> list[Any]:
    """The batches that begin at the given offsets."""
    with pa.OSFile(str(path)) as file:
        found = []
        for offset in offsets:
            file.seek(offset)
            found.append(pa.ipc.read_record_batch(pa.ipc.read_message(file), SCHEMA))
        return found
