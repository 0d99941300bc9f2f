"""Names in tables, and the table of experiments."""

from afterglow.errors import Conflict, UnknownName
from afterglow.live.domain.log import BEGINNING, Place
from afterglow.live.store.session import Session

LISTED = 10  # names in an error
COMPARED = 1000  # names that are searched for one that is meant: more take long


def listed(session: Session) -> dict[str, Place]:
    """Every experiment, oldest first, with the place of its last record."""
    query = (
        "SELECT name, seq, at, hash FROM experiments LEFT JOIN events ON experiment = id "
        "AND seq = (SELECT max(seq) FROM events WHERE experiment = id) ORDER BY id"
    )
    return {
        name: BEGINNING if seq is None else Place(seq, at, bytes(mark)) for name, seq, at, mark in session.rows(query)
    }


def named(session: Session) -> list[str]:
    """Every experiment, oldest first."""
    return [name for (name,) in session.rows("SELECT name FROM experiments ORDER BY id")]


def number_of(session: Session, name: str) -> int:
    """The number of an experiment; it never changes."""
    found = session.row("SELECT id FROM experiments WHERE name = ?", name) if storable(name) else None
    if found is None:
        known = named(session)
        raise UnknownName("experiment", name, known if len(known) <= COMPARED else (), available(known))
    return int(found[0])


def available(known: list[str]) -> str:
    """The newest names there are, for an error."""
    if not known:
        return "there is none"
    rest = len(known) - LISTED
    return f"available: {', '.join(known[-LISTED:])}" + (f" and {rest:,} older ones" if rest > 0 else "")


def name_taken(name: str) -> Conflict:
    """The error for a name that another experiment has."""
    sentence = f"there is an experiment named {name!r} already; take another name"
    return Conflict(sentence, kind="name-taken", field="name")


def storable(text: str) -> bool:
    """Whether text can be stored as a name: PostgreSQL stores no NUL, and no database half a surrogate pair."""
    return text.isascii() and text.isprintable()
