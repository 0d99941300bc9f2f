"""Names in tables, and the table of experiments."""

from afterglow.errors import Conflict, UnknownName
from afterglow.live.store.session import Session


def listed(session: Session) -> dict[str, int]:
    """Every experiment, oldest first, with the seq of its last record."""
    query = (
        "SELECT name, coalesce((SELECT max(seq) FROM events WHERE experiment = experiments.id), -1) "
        "FROM experiments ORDER BY id"
    )
    return dict(session.rows(query))


def number_of(session: Session, name: str) -> int:
    """The number of an experiment; it never changes."""
    found = session.row("SELECT id FROM experiments WHERE name = ?", name) if storable(name) else None
    if found is None:
        known = list(listed(session))
        raise UnknownName("experiment", name, known, f"available: {', '.join(known)}" if known else "there is none")
    return int(found[0])


def name_taken(name: str) -> Conflict:
    """The error for a name that another experiment has."""
    sentence = f"there is an experiment named {name!r} already; take another name"
    return Conflict(sentence, kind="name-taken", field="name")


def storable(text: str) -> bool:
    """Whether text can be stored as a name: PostgreSQL stores no NUL, and no database half a surrogate pair."""
    return text.isascii() and text.isprintable()
