"""Tokens of the service, for admins: list them with their last use, create one, revoke one."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from starlette.responses import Response

from afterglow.errors import BadValue
from afterglow.live.store.access import TokenRow
from afterglow.service.auth.audit import line, made
from afterglow.service.auth.sessions import SEPARATOR
from afterglow.service.auth.tokens import SCOPES, lifetime, new_token
from afterglow.service.dashboard.visit import Visit
from afterglow.service.problems import Problem

MEANING = {
    "read": "see experiments on pages and in the API",
    "decide": "get the current variant",
    "report": "report rewards, close steps",
    "operate": "give commands, such as pin and stop",
    "admin": "everything: create experiments, tokens and webhooks",
}
FRESH = {"label": "", "experiments": "", "expires": "", **{f"scope_{scope}": "" for scope in SCOPES}}


class ListedToken(NamedTuple):
    id: str
    label: str
    scopes: str
    experiments: str
    created: float
    expires: float | None
    state: str  # valid, expired or revoked
    used: float | None  # seconds since 1970; None: not since the service started
    sessions: int  # of signed-in operators
    own: bool  # the visitor's


def tokens_page(visit: Visit) -> Response:
    """The list and the form; sent back, the token is created and shown once."""
    require_everywhere(visit)
    if visit.request.method == "GET":
        return page(visit, FRESH)
    typed = {name: visit.form.get(name, "") for name in FRESH}
    try:
        token, row = created(visit, typed)
    except BadValue as error:
        return page(visit, typed, refused=str(error))
    return page(visit, FRESH, token=token, made=row.id)


def require_everywhere(visit: Visit) -> None:
    """Tokens and webhooks are for all experiments, so a token for some of them is refused."""
    if visit.token is None or visit.token.experiments is not None:
        raise Problem("forbidden", "this page needs a token for all experiments; sign in with one")


def page(visit: Visit, typed: Mapping[str, str], refused: str = "", token: str = "", made: str = "") -> Response:
    code = 422 if refused else 200
    return visit.page(
        "tokens.html", code, rows=listed(visit), typed=typed, refused=refused, token=token, made=made,
        scopes=[(scope, MEANING[scope]) for scope in SCOPES], since=visit.dashboard.authenticator.since,
    )  # fmt: skip


def created(visit: Visit, typed: Mapping[str, str]) -> tuple[str, TokenRow]:
    scopes = [scope for scope in SCOPES if typed[f"scope_{scope}"]]
    names = names_in(typed, "experiments")
    expires = typed["expires"].strip()
    token, row = new_token(
        scopes, names, typed["label"].strip(), visit.now, lifetime(expires) if expires else None
    )  # fmt: skip
    visit.dashboard.sessions.rows.put_token(row, made(row, visit.required_actor(), visit.now))
    visit.dashboard.sessions.tokens.renew()
    return token, row


def names_in(typed: Mapping[str, str], field: str) -> list[str] | None:
    """Names that were typed, with commas or spaces between them; None if nothing was: then all are meant."""
    names = typed[field].replace(",", " ").split()
    if not names and typed[field].strip():
        raise BadValue(f"{field} must have a name, or be empty for all, got {typed[field]!r}")
    return names or None


def listed(visit: Visit) -> list[ListedToken]:
    """All tokens, valid ones first, the newest first; sessions are counted with their token."""
    rows = visit.dashboard.sessions.rows.tokens()
    sessions = Counter(
        row.id.partition(SEPARATOR)[0] for row in rows if is_session(row) and state(row, visit) == "valid"
    )
    found = [view(visit, row, sessions[row.id]) for row in rows if not is_session(row)]
    return sorted(found, key=lambda one: (one.state != "valid", -one.created))


def is_session(row: TokenRow) -> bool:
    return SEPARATOR in row.id


def state(row: TokenRow, visit: Visit) -> str:
    if row.revoked is not None:
        return "revoked"
    return "expired" if row.expires is not None and row.expires <= 1000 * visit.now else "valid"


def view(visit: Visit, row: TokenRow, sessions: int) -> ListedToken:
    return ListedToken(
        row.id, row.label, row.scopes.replace(" ", ", "),
        "all" if row.experiments is None else row.experiments.replace(" ", ", "), row.created / 1000,
        None if row.expires is None else row.expires / 1000, state(row, visit),
        visit.dashboard.authenticator.used.get(row.id), sessions, visit.token is not None and visit.token.id == row.id,
    )  # fmt: skip


def revoke_page(visit: Visit) -> Response:
    """Ask before a token is revoked; sent back, it is."""
    require_everywhere(visit)
    id_ = visit.request.path_params["id"]
    row = next((one for one in listed(visit) if one.id == id_), None)
    if row is None or row.state == "revoked":
        raise Problem("not-found", "there is no valid token of that id")
    if visit.request.method == "GET":
        return visit.page("revoke.html", row=row)
    note = line("token-revoked", visit.required_actor(), id_, "", visit.now)
    visit.dashboard.sessions.rows.revoke_token(id_, round(1000 * visit.now), note)
    visit.dashboard.sessions.tokens.renew()
    return visit.go("/tokens?done=revoke")
