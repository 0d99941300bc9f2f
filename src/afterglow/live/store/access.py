"""Tokens and webhooks of the service, stored in the database of the experiments."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from afterglow.errors import BadValue, argument
from afterglow.live.domain.log import Place
from afterglow.live.store.names import storable
from afterglow.live.store.session import Session


class TokenRow(NamedTuple):
    id: str
    label: str
    digest: bytes  # of the secret, which is not kept
    scopes: str
    experiments: str | None  # None: all of them
    created: int  # milliseconds since 1970, like the others
    expires: int | None = None
    revoked: int | None = None


class HookRow(NamedTuple):
    id: str
    address: str
    secret: str
    kinds: str | None  # None: all of them
    experiments: str | None
    created: int


class AuditRow(NamedTuple):
    """A change of who may do what, or a sign-in."""

    id: str
    at: int
    kind: str
    token: str  # of the actor; "" for a command on the machine
    label: str  # of the actor
    subject: str  # the token, session or webhook
    detail: str


class Access(Protocol):
    """Short transactions of their own. On SQLite another process may write the experiments meanwhile."""

    def session(self, change: bool) -> AbstractContextManager[Session]:
        """A transaction on all tables: one moment to read, or a change that is durable when it ends."""

    def tokens(self) -> list[TokenRow]:
        """All tokens, oldest first."""

    def tokens_version(self) -> tuple[object, ...]:
        """Another value after every change of the tokens."""

    def put_token(self, token: TokenRow, note: AuditRow | None = None) -> None:
        """Keep a new token, and the line of the audit about it."""

    def put_session(self, session: TokenRow, now: int, most: int, note: AuditRow | None = None) -> None:
        """Keep a session of a token, whose id begins with the token's id and a hyphen; delete those that have ended,
        and the oldest of that token beyond so many."""

    def revoke_token(self, token: str, at: int, note: AuditRow | None = None) -> bool:
        """Refuse a token from now on; False if there is none of that id or it was revoked before."""

    def drop_token(self, token: str, note: AuditRow | None = None) -> bool:
        """Delete a token; False if there is none of that id."""

    def hooks(self) -> list[HookRow]:
        """All webhooks, oldest first."""

    def put_hook(self, hook: HookRow, note: AuditRow | None = None) -> None:
        """Keep a new webhook."""

    def drop_hook(self, hook: str, note: AuditRow | None = None) -> bool:
        """Forget a webhook and how far it was delivered; False if there is none of that id."""

    def hook_places(self) -> dict[tuple[str, str], Place]:
        """How far the records of experiments were delivered, by webhook and experiment, where any were."""

    def put_hook_places(self, places: Mapping[tuple[str, str], Place]) -> None:
        """Records up to these places are delivered; webhooks that were deleted are left out."""

    def audit(self, count: int) -> list[AuditRow]:
        """The last lines of the audit, newest first."""

    def lead(self, purpose: str, lasts: float) -> AbstractContextManager[bool]:
        """Whether this process is the one to do it, out of all that use the database; it is until the context ends.

        It is no longer after `lasts` seconds: the process may be frozen, and another one takes over.
        """

    def close(self) -> None:
        """Close the database."""


INSERT_TOKEN = f"INSERT INTO tokens ({', '.join(TokenRow._fields)}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"


class TableAccess(ABC):
    """`Access` over short transactions that `session` begins."""

    @abstractmethod
    def session(self, change: bool) -> AbstractContextManager[Session]:
        """A transaction; kept if it ends well."""

    def tokens(self) -> list[TokenRow]:
        columns = ", ".join(TokenRow._fields)
        with self.session(change=False) as session:
            return [TokenRow._make(row) for row in session.rows(f"SELECT {columns} FROM tokens ORDER BY created, id")]

    def tokens_version(self) -> tuple[object, ...]:
        query = "SELECT count(*), max(created), max(id), count(revoked), max(revoked) FROM tokens"
        with self.session(change=False) as session:
            return session.row(query) or ()

    def put_token(self, token: TokenRow, note: AuditRow | None = None) -> None:
        kept_whole("token", token)
        with self.session(change=True) as session:
            session.run(INSERT_TOKEN, *token)
            keep_note(session, note)

    def put_session(self, session: TokenRow, now: int, most: int, note: AuditRow | None = None) -> None:
        kept_whole("session", session)
        pattern = f"{session.id.partition('-')[0]}-%"
        with self.session(change=True) as base:
            base.run("DELETE FROM tokens WHERE id LIKE '%-%' AND (revoked IS NOT NULL OR expires <= ?)", now)
            base.run(INSERT_TOKEN, *session)
            base.run(
                "DELETE FROM tokens WHERE id IN (SELECT id FROM tokens WHERE id LIKE ? AND id <> ? "
                "ORDER BY created DESC, id LIMIT 1000000 OFFSET ?)",
                pattern, session.id, most - 1,
            )  # fmt: skip
            keep_note(base, note)

    def revoke_token(self, token: str, at: int, note: AuditRow | None = None) -> bool:
        statement = "UPDATE tokens SET revoked = ? WHERE id = ? AND revoked IS NULL"
        with self.session(change=True) as session:
            return storable(token) and keep_note(session, note, session.run(statement, at, token) > 0)

    def drop_token(self, token: str, note: AuditRow | None = None) -> bool:
        with self.session(change=True) as session:
            return storable(token) and keep_note(
                session, note, session.run("DELETE FROM tokens WHERE id = ?", token) > 0
            )

    def audit(self, count: int) -> list[AuditRow]:
        query = f"SELECT {', '.join(AuditRow._fields)} FROM audit ORDER BY at DESC, id LIMIT ?"
        with self.session(change=False) as session:
            return [AuditRow._make(row) for row in session.rows(query, count)]

    def hooks(self) -> list[HookRow]:
        columns = ", ".join(HookRow._fields)
        with self.session(change=False) as session:
            return [HookRow._make(row) for row in session.rows(f"SELECT {columns} FROM hooks ORDER BY created, id")]

    def put_hook(self, hook: HookRow, note: AuditRow | None = None) -> None:
        kept_whole("webhook", hook)
        with self.session(change=True) as session:
            session.run(f"INSERT INTO hooks ({', '.join(HookRow._fields)}) VALUES (?, ?, ?, ?, ?, ?)", *hook)
            keep_note(session, note)

    def drop_hook(self, hook: str, note: AuditRow | None = None) -> bool:
        if not storable(hook):
            return False
        with self.session(change=True) as session:
            session.run("DELETE FROM hook_places WHERE hook = ?", hook)
            return keep_note(session, note, session.run("DELETE FROM hooks WHERE id = ?", hook) > 0)

    def hook_places(self) -> dict[tuple[str, str], Place]:
        with self.session(change=False) as session:
            found = session.rows("SELECT hook, experiment, seq, at, hash FROM hook_places")
            return {(hook, name): Place(seq, at or 0, bytes(mark or b"")) for hook, name, seq, at, mark in found}

    def put_hook_places(self, places: Mapping[tuple[str, str], Place]) -> None:
        statement = (
            "INSERT INTO hook_places (hook, experiment, seq, at, hash) SELECT id, ?, ?, ?, ? FROM hooks WHERE id = ? "
            "ON CONFLICT (hook, experiment) DO UPDATE SET seq = excluded.seq, at = excluded.at, hash = excluded.hash"
        )
        with self.session(change=True) as session:
            session.run_many(statement, [(name, *place, hook) for (hook, name), place in sorted(places.items())])


def keep_note(session: Session, note: AuditRow | None, changed: bool = True) -> bool:
    """Keep a line of the audit if something was changed; whether it was."""
    if note is not None and changed:
        kept_whole("line of the audit", note)
        session.run(f"INSERT INTO audit ({', '.join(AuditRow._fields)}) VALUES (?, ?, ?, ?, ?, ?, ?)", *note)
    return changed


def kept_whole(what: str, row: NamedTuple) -> None:
    """Refuse text that not every database can keep."""
    for name, value in zip(row._fields, row, strict=True):
        if isinstance(value, str) and not value.isprintable():
            raise BadValue(f"{argument(name)} of a {what} must be text without control characters, got {value!r}")
