"""Addresses of databases are shown without their passwords."""

import traceback
from pathlib import Path

import pytest

from afterglow import live
from afterglow.errors import BadValue
from afterglow.live.store.address import without_password


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://me:secret@host:5432/base?sslmode=require", "postgresql://me@host:5432/base?sslmode=require"),
        ("postgres://me:se@cret@host/base", "postgres://me@host/base"),
        ("postgresql://host/base?user=me&password=secret", "postgresql://host/base?user=me"),
        ("postgresql://host/base?password=secret&user=me&%70assword=secret", "postgresql://host/base?user=me"),
        ("postgresql://me:se/cr?et@host/base", "postgresql://me@host/base"),
        ("postgresql://me:se[cret@host/base", "postgresql://me@host/base"),
        ("host=here password=secret", "…"),
        ("experiments.db", "experiments.db"),
    ],
)
def test_an_address_is_shown_without_its_password(address: str, shown: str) -> None:
    assert without_password(address) == shown


@pytest.mark.parametrize(
    "address", ["host=here password=secret", " dbname = a password=secret", "mysql://me:secret@here/a",
                "postgresql+psycopg://me:secret@here/a"],
)  # fmt: skip
def test_what_is_neither_a_file_nor_our_kind_of_address_is_refused_without_its_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadValue, match="must be a file or postgresql://user") as refused:
        live.open(address)
    assert "secret" not in str(refused.value)
    assert not list(tmp_path.iterdir())


def test_a_password_that_cant_be_read_is_not_printed() -> None:
    with pytest.raises(BadValue, match="postgresql://me@here/base can't be read as an address") as refused:
        live.open("postgresql://me:sec%zzret@here/base")
    shown = "".join(traceback.format_exception(refused.value))
    assert "zzret" not in shown.replace('sec%zzret@here/base")', "")
