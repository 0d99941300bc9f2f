"""File names in a results folder, and whether it is complete."""

from pathlib import Path

from afterglow.lab.study.tables import TABLES

JOURNAL = "journal.arrows"
QUESTION = "question.txt"  # beside the tables, because its text may change


def finished(folder: Path) -> bool:
    """Whether all tables are written; the journal is removed last."""
    return not (folder / JOURNAL).exists() and all((folder / f"{name}.parquet").exists() for name in TABLES)
