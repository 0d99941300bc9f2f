"""The audit: sign-ins, and changes of tokens and webhooks, each stored in the transaction of the change itself."""

import getpass
import secrets

from afterglow.live import Actor
from afterglow.live.store.access import AuditRow, TokenRow


def line(kind: str, actor: Actor, subject: str, detail: str, now: float) -> AuditRow:
    """A line; `now` is in seconds since 1970."""
    return AuditRow(secrets.token_hex(8), round(1000 * now), kind, actor.token, actor.label, subject, detail)


def made(row: TokenRow, actor: Actor, now: float) -> AuditRow:
    """A token was created."""
    names = "all experiments" if row.experiments is None else row.experiments.replace(" ", ", ")
    label = f"{row.label}: " if row.label else ""
    return line("token-created", actor, row.id, f"{label}{row.scopes.replace(' ', ', ')}; {names}", now)


def at_the_machine() -> Actor:
    """Whoever runs a command on the machine of the database."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError, ImportError):  # an account without a name
        name = "unknown account"
    return Actor("", f"command line, {name}" if name.isprintable() else "command line")
