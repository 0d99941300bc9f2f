"""`afterglow token`: create, list and revoke tokens of the service, also while it runs."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from typer import Argument, Option

from afterglow.cli.commands.serve import Config, Db
from afterglow.cli.exit_codes import StrictCommand, SuggestingGroup
from afterglow.cli.messages import one_line
from afterglow.cli.options import Json
from afterglow.errors import UnknownName
from afterglow.live.store import access
from afterglow.live.store.access import Access, TokenRow
from afterglow.service.auth.audit import at_the_machine, line, made
from afterglow.service.auth.tokens import lifetime, new_token
from afterglow.service.settings import ServiceSettings, settings_from

app = typer.Typer(cls=SuggestingGroup, help="Tokens of the service: create, list, revoke.", no_args_is_help=True)


@contextmanager
def tokens_in(db: str | None, config: Any) -> Iterator[Access]:
    """The tokens of the database that the settings name, as for `serve`."""
    settings: ServiceSettings = replace(settings_from({"db": db}, os.environ, config))
    found = access(settings.db)
    try:
        yield found
    finally:
        found.close()


@app.command("create", cls=StrictCommand)
def create(
    scope: Annotated[list[str], Option("--scope", metavar="SCOPE", help="read, decide, report, operate or admin.")],
    experiment: Annotated[
        list[str] | None, Option("--experiment", metavar="NAME", help="Restrict to this experiment; default: all.")
    ] = None,
    expires: Annotated[
        str | None, Option("--expires", metavar="TIME", help="Lifetime, such as 30d; default: none.")
    ] = None,
    label: Annotated[str, Option("--label", metavar="TEXT", help="Description of the token.")] = "",
    db: Db = None,
    config: Config = None,
) -> None:
    """Create a token and print it once."""
    life = None if expires is None else lifetime(expires)
    token, row = new_token(scope, experiment or None, label, time.time(), life)
    with tokens_in(db, config) as tokens:
        tokens.put_token(row, made(row, at_the_machine(), time.time()))
    print(token)
    one_line(f"token {row.id} with {row.scopes.replace(' ', ', ')}; it is not shown again")


@app.command("list", cls=StrictCommand)
def list_(db: Db = None, config: Config = None, json: Json = False) -> None:
    """Show all tokens, without their secrets."""
    with tokens_in(db, config) as tokens:
        rows = [shown(row) for row in tokens.tokens()]
    if json:
        from afterglow.cli.output import print_json  # noqa: PLC0415

        print_json(rows)
        return
    print(f"{'id':<12}  {'state':<8} scopes; experiments; lifetime  label")
    for row in rows:
        names = ", ".join(row["experiments"]) if row["experiments"] is not None else "all experiments"
        until = f", until {row['expires']}" if row["expires"] else ""
        print(f"{row['id']}  {row['state']:<8} {', '.join(row['scopes'])}; {names}{until}  {row['label']}".rstrip())


@app.command("revoke", cls=StrictCommand)
def revoke(
    token: Annotated[str, Argument(metavar="ID", help="As `afterglow token list` shows it.")],
    db: Db = None,
    config: Config = None,
) -> None:
    """Revoke a token."""
    with tokens_in(db, config) as tokens:
        now = time.time()
        note = line("token-revoked", at_the_machine(), token, "", now) if token.isprintable() else None
        if not tokens.revoke_token(token, round(1000 * now), note):
            known = [row.id for row in tokens.tokens() if row.revoked is None]
            way_out = "`afterglow token list` shows them"
            raise UnknownName("valid token", token, known, way_out, kind="unknown-token", field="token")
    one_line(f"token {token} is revoked; a running service refuses it within two seconds")


def shown(row: TokenRow) -> dict[str, Any]:
    now = 1000 * time.time()
    expired = row.expires is not None and row.expires <= now
    return {
        "id": row.id,
        "label": row.label,
        "scopes": row.scopes.split(),
        "experiments": None if row.experiments is None else row.experiments.split(),
        "created": day(row.created),
        "expires": day(row.expires),
        "revoked": day(row.revoked),
        "state": "revoked" if row.revoked is not None else "expired" if expired else "valid",
    }


def day(ms: int | None) -> str | None:
    return None if ms is None else datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="seconds")
