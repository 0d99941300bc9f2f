"""What names a database."""

from pathlib import Path
from urllib.parse import urlsplit

POSTGRES = ("postgresql://", "postgres://")


def is_postgres(address: str | Path) -> bool:
    return str(address).startswith(POSTGRES)


def without_password(address: str) -> str:
    """An address without its password."""
    if not is_postgres(address):
        return address
    parts = urlsplit(address)
    name, at, place = parts.netloc.rpartition("@")
    query = "&".join(each for each in parts.query.split("&") if not each.startswith("password="))
    return parts._replace(netloc=f"{name.partition(':')[0]}{at}{place}", query=query).geturl()
