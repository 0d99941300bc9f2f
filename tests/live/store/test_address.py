"""Addresses of databases are shown without their passwords."""

import pytest

from afterglow.live.store.address import without_password


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://me:secret@host:5432/base?sslmode=require", "postgresql://me@host:5432/base?sslmode=require"),
        ("postgres://me:se@cret@host/base", "postgres://me@host/base"),
        ("postgresql://host/base?user=me&password=secret", "postgresql://host/base?user=me"),
        ("experiments.db", "experiments.db"),
    ],
)
def test_an_address_is_shown_without_its_password(address: str, shown: str) -> None:
    assert without_password(address) == shown
