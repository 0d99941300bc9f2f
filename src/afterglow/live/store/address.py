"""What names a database: a file, or `postgresql://…`."""

import re
from pathlib import Path
from urllib.parse import unquote

from afterglow.errors import BadValue, argument

POSTGRES = ("postgresql://", "postgres://")
SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
KEYWORDS = re.compile(r"\s*(dbname|host|hostaddr|password|passfile|port|service|sslmode|user)\s*=", re.IGNORECASE)
PARAMETER = re.compile(r"(?<=[?&])([^=&]*)=[^&]*(?:&|$)")


def is_postgres(address: str | Path) -> bool:
    """Whether an address names a PostgreSQL database; what is neither that nor a file is refused, without its text."""
    if isinstance(address, Path) or address.startswith(POSTGRES):
        return not isinstance(address, Path)
    scheme = SCHEME.match(address)
    if scheme is not None or KEYWORDS.match(address):
        what = f"{scheme[1]}://…" if scheme else "keywords such as host=…"
        raise BadValue(
            f"{argument('address')} must be a file or postgresql://user:password@host/database, got {what}; write a "
            "PostgreSQL database as postgresql://…, and a file of such a name as ./…"
        )
    return False


def without_password(address: str) -> str:
    """An address without its password, also if it can't be read as an address.

    >>> without_password("postgresql://me:se/cr@et@host/base")
    'postgresql://me@host/base'
    """
    scheme, found, rest = address.partition("://")
    if not found:
        return "…" if KEYWORDS.match(address) else address
    shown = PARAMETER.sub(lambda found: "" if "password" in unquote(found[1]).lower() else found[0], rest)
    before, at, after = shown.rstrip("?&").rpartition("@")
    return f"{scheme}://{re.split('[:/?#]', before)[0]}{at}{after}"
