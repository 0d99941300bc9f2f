"""Authentication and CSRF protection for every page; errors are rendered as pages."""

import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from afterglow.errors import AfterglowError
from afterglow.service.auth.scopes import refuse_strangers
from afterglow.service.auth.sessions import DURATION, own_form
from afterglow.service.auth.tokens import ANYBODY, Token
from afterglow.service.dashboard.forms import read_form
from afterglow.service.dashboard.visit import Dashboard, Visit
from afterglow.service.problems import Problem, problem_of
from afterglow.service.transport.middleware import UPLOAD_PATH

LOG = logging.getLogger("afterglow.service")

SESSION, BEFORE = "afterglow_session", "afterglow_before"  # cookies of visitors who have signed in, and who have not
LONGEST = 300  # maximum characters of a cookie
OTHER_SITES = ("cross-site", "same-site")  # values of Sec-Fetch-Site for forms of other sites

Page = Callable[[Visit], Response]
Endpoint = Callable[[Request], Awaitable[Response]]


def protected(dashboard: Dashboard, page: Page, scope: str | None) -> Endpoint:
    """An endpoint that requires a scope; None requires none."""

    async def endpoint(request: Request) -> Response:
        signed_out = dashboard.auth and not has_session_id(dashboard, request)
        if signed_out:
            dashboard.authenticator.brake("visits without a session", request.scope)  # raised, not rendered as a page
        try:
            if signed_out and request.url.path == UPLOAD_PATH:  # nobody's file is read
                return Visit(dashboard, request, None, "", {}).sign_in()
            form = await read_form(request) if request.method == "POST" else {}
            if signed_out and "token" in form:
                await dashboard.authenticator.look_for(
                    typed_token(form), request.scope
                )  # loads a token that was just created
            return await dashboard.call(lambda: respond(dashboard, request, form, page, scope))
        except Problem as problem:
            return problem_page(Visit(dashboard, request, None, "", {}), problem)
        except AfterglowError as error:
            return problem_page(Visit(dashboard, request, None, "", {}), problem_of(error))
        except HTTPException as error:
            kinds = {400: "malformed", 413: "too-large", 415: "unsupported-media-type"}
            return problem_page(
                Visit(dashboard, request, None, "", {}), Problem(kinds[error.status_code], error.detail)
            )

    endpoint.__name__ = page.__name__  # the name in logs and metrics
    return endpoint


def has_session_id(dashboard: Dashboard, request: Request) -> bool:
    """Whether the cookie has the id of an existing session; its secret is checked later."""
    return request.cookies.get(SESSION, "").partition(".")[0] in dashboard.sessions.tokens.known


def typed_token(form: Mapping[str, str]) -> str:
    return form.get("token", "").strip()


def respond(dashboard: Dashboard, request: Request, form: Mapping[str, str], page: Page, scope: str | None) -> Response:
    """Authenticate a visitor and respond with the page, a redirect or a problem."""
    visit = visit_of(dashboard, request, form)
    if visit.token is not None:
        request.scope["token"] = visit.token  # for the access log
        dashboard.authenticator.used[visit.token.id] = visit.now
    try:
        if not dashboard.auth:
            refuse_strangers(request.headers.get("host", "").encode("latin-1"))
        if request.method == "POST":
            check_form(visit)
        if scope is not None and visit.token is None:
            return visit.sign_in()
        if scope is not None and not visit.may(scope):
            raise Problem("forbidden", f"this page needs a token with the scope {scope!r}; sign in with one")
        return with_cookie(page(visit), visit)
    except Problem as problem:
        return problem_page(visit, problem)
    except AfterglowError as error:
        refused = problem_of(error)
        if refused.kind.slug == "internal":
            LOG.error("an experiment can't be displayed: %s", error)
        return problem_page(visit, refused)
    except Exception:
        LOG.exception("a page failed", extra={"request": request.scope["request_id"]})
        return problem_page(visit, Problem("internal", f"the log has the cause under {request.scope['request_id']}"))


def visit_of(dashboard: Dashboard, request: Request, form: Mapping[str, str]) -> Visit:
    """The visit with the token of its session, if the session is valid."""
    token: Token | None = None if dashboard.auth else ANYBODY
    cookie = request.cookies.get(SESSION, "")
    if dashboard.auth and 0 < len(cookie) <= LONGEST:
        token = dashboard.sessions.find(cookie, dashboard.clock())
        if token is not None:
            return Visit(dashboard, request, token, cookie, form)
    before = request.cookies.get(BEFORE, "")
    return Visit(dashboard, request, token, before if 0 < len(before) <= LONGEST else secrets.token_urlsafe(16), form)


def check_form(visit: Visit) -> None:
    """Refuse forms that were not sent from a page of this visitor."""
    sent = visit.request.cookies
    foreign = visit.request.headers.get("sec-fetch-site") in OTHER_SITES
    own = visit.cookie in (sent.get(SESSION), sent.get(BEFORE)) and own_form(visit.cookie, visit.form.get("mark", ""))
    if foreign or not own:
        raise Problem("forbidden", "this form was sent from another site or has expired; reload the page and try again")


def with_cookie(response: Response, visit: Visit) -> Response:
    """Set a random cookie for visitors who have not signed in, so that their forms can be verified."""
    sent = visit.request.cookies
    if visit.cookie and visit.cookie not in (sent.get(SESSION), sent.get(BEFORE)):
        set_cookie(response, visit, BEFORE, visit.cookie)
    return response


def set_cookie(response: Response, visit: Visit, name: str, value: str) -> None:
    response.set_cookie(name, value, max_age=DURATION, path="/", secure=visit.secure, httponly=True, samesite="strict")


def problem_for_browsers(dashboard: Dashboard, request: Request, problem: Problem) -> Response | None:
    """A problem as a page, if a browser requested one; None for other clients."""
    if request.method != "GET" or "text/html" not in request.headers.get("accept", ""):
        return None
    return problem_page(quick_visit(dashboard, request), problem)


def quick_visit(dashboard: Dashboard, request: Request) -> Visit:
    """The visit, without the database: of nobody if the session is not known yet."""
    signed_in = not dashboard.auth or has_session_id(dashboard, request)
    return visit_of(dashboard, request, {}) if signed_in else Visit(dashboard, request, None, "", {})


def bar(dashboard: Dashboard, request: Request) -> str:
    """The navigation, for pages that are made elsewhere."""
    return quick_visit(dashboard, request).text("bar.html")


def problem_page(visit: Visit, problem: Problem) -> Response:
    """A page for a problem."""
    page = visit.page("problem.html", problem.kind.status, problem=problem)
    page.headers.update(problem.headers or {})
    return with_cookie(page, visit)
