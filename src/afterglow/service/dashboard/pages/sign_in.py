"""Sign in with a token, and sign out."""

from starlette.responses import Response

from afterglow.service.auth.tokens import Token
from afterglow.service.dashboard.middleware import SESSION, set_cookie, typed_token
from afterglow.service.dashboard.visit import Visit

UNKNOWN = "unknown token: mistyped, expired or revoked"


def sign_in(visit: Visit) -> Response:
    """The form for the token; a valid one begins a session."""
    back = local_path(visit.form.get("next") or visit.request.query_params.get("next", ""))
    if visit.token is not None:
        return visit.go(back)
    if visit.request.method == "GET":
        return visit.page("sign_in.html", back=back, refused="", ended=ended(visit))
    token = valid_token(visit)
    if token is None:
        return visit.page("sign_in.html", 401, back=back, refused=UNKNOWN, ended=False)
    if not token.may("read"):
        refused = "this token has no read access; use one with the scope read, operate or admin"
        return visit.page("sign_in.html", 403, back=back, refused=refused, ended=False)
    response = visit.go(back)
    set_cookie(response, visit, SESSION, visit.dashboard.sessions.begin(token, visit.now))
    return response


def ended(visit: Visit) -> bool:
    """Whether the browser has the cookie of a session that is no longer valid."""
    return SESSION in visit.request.cookies


def valid_token(visit: Visit) -> Token | None:
    """The token that was typed, if it is valid; new ones were loaded before."""
    return visit.dashboard.sessions.tokens.find(typed_token(visit.form), visit.now)


def sign_out(visit: Visit) -> Response:
    cookie = visit.request.cookies.get(SESSION, "")
    if visit.token is not None and cookie == visit.cookie:
        visit.dashboard.sessions.end(cookie, visit.token, visit.now)
    response = visit.go("/sign-in" if visit.dashboard.auth else "/")
    response.delete_cookie(SESSION, path="/", httponly=True, samesite="strict")
    return response


def local_path(address: str) -> str:
    """A path of this service, or its first page: redirects never leave the service.

    >>> local_path("/experiments/shipping?until=20"), local_path("//elsewhere.example"), local_path("https://elsewhere.example")
    ('/experiments/shipping?until=20', '/', '/')
    """
    own = address.startswith("/") and not address.startswith(("//", "/\\")) and address.isprintable()
    return address if own and "\\" not in address else "/"
