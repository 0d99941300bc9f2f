"""File names in a results folder, and whether it is complete."""

from pathlib import Path

from afterglow.errors import BadFormat
from afterglow.files import read_whole
from afterglow.lab.study.tables import TABLES

JOURNAL = "journal.arrows"
QUESTION = "question.txt"  # beside the tables, because its text may change
LONGEST = 100_000  # bytes of a question


def question_in(folder: Path) -> str:
    """The question of a study, empty if it has none."""
    path = folder / QUESTION
    if not path.exists():
        return ""
    try:
        return read_whole(path, "folder", LONGEST).decode("utf-8").strip()
    except UnicodeDecodeError:
        raise BadFormat(f"{path} is not UTF-8 text; save it as such, or remove it", field="folder") from None


def finished(folder: Path) -> bool:
    """Whether all tables are written; the journal is removed last."""
    return not (folder / JOURNAL).exists() and all((folder / f"{name}.parquet").exists() for name in TABLES)
