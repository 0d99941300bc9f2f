"""The operators' dashboard: pages that the service renders, readable without scripts, livelier with them.

Nothing comes from another host. A page shows what the token may read that its visitor has signed in with, and has a
button for what it may order.
"""

from starlette.routing import BaseRoute, Route

from afterglow.service.auth.sessions import Sessions
from afterglow.service.dashboard.assets import asset
from afterglow.service.dashboard.commands import command_page
from afterglow.service.dashboard.create import create_page
from afterglow.service.dashboard.experiment import changes, experiment_page, totals
from afterglow.service.dashboard.explain import explain_form, explain_page
from afterglow.service.dashboard.middleware import Page, behind
from afterglow.service.dashboard.overview import overview
from afterglow.service.dashboard.sign_in import sign_in, sign_out
from afterglow.service.dashboard.visit import Dashboard
from afterglow.service.service import Service

__all__ = ["routes"]

READ, SEND = ["GET"], ["POST"]
PAGES: tuple[tuple[str, Page, str | None, list[str]], ...] = (
    ("/", overview, "read", READ),
    ("/sign-in", sign_in, None, [*READ, *SEND]),
    ("/sign-out", sign_out, None, SEND),
    ("/new", create_page, "admin", [*READ, *SEND]),
    ("/experiments/{name}", experiment_page, "read", READ),
    ("/experiments/{name}/changes", changes, "read", READ),
    ("/experiments/{name}/totals", totals, "read", READ),
    ("/experiments/{name}/explain", explain_form, "read", READ),
    ("/experiments/{name}/steps/{step:int}", explain_page, "read", READ),
    ("/experiments/{name}/order/{order}", command_page, "operate", [*READ, *SEND]),
)


def routes(service: Service) -> list[BaseRoute]:
    """All addresses of the dashboard."""
    experiments = service.experiments
    sessions = Sessions(service.tokens, service.access)
    call, auth = service.workers.call, service.settings.auth
    dashboard = Dashboard(experiments, sessions, call, service.authenticator, auth, experiments.now)
    made = [Route(path, behind(dashboard, page, scope), methods=methods) for path, page, scope, methods in PAGES]
    return [*made, Route("/assets/{name}", asset, methods=READ)]
