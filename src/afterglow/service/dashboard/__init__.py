"""The operators' dashboard: server-rendered HTML pages that work without JavaScript and update themselves with it.

Pages load nothing from other hosts. A page shows the experiments that the visitor's token may read, and buttons for the
commands that it may give.
"""

from starlette.routing import BaseRoute, Route

from afterglow.service.auth.sessions import Sessions
from afterglow.service.dashboard.assets import asset
from afterglow.service.dashboard.middleware import Page, bar, problem_for_browsers, protected
from afterglow.service.dashboard.pages.audit import audit_page
from afterglow.service.dashboard.pages.commands import command_page
from afterglow.service.dashboard.pages.create import create_page
from afterglow.service.dashboard.pages.download import steps_csv
from afterglow.service.dashboard.pages.experiment import changes, experiment_page, totals
from afterglow.service.dashboard.pages.explain import explain_form, explain_page
from afterglow.service.dashboard.pages.log import log_page
from afterglow.service.dashboard.pages.overview import overview
from afterglow.service.dashboard.pages.plan import cancel_page, plan_page, result_page
from afterglow.service.dashboard.pages.sign_in import sign_in, sign_out
from afterglow.service.dashboard.pages.tokens import revoke_page, tokens_page
from afterglow.service.dashboard.pages.webhooks import delete_page, test_page, webhooks_page
from afterglow.service.dashboard.visit import Dashboard
from afterglow.service.service import Service

__all__ = ["bar", "dashboard_of", "problem_for_browsers", "routes"]

READ, SEND = ["GET"], ["POST"]
PAGES: tuple[tuple[str, Page, str | None, list[str]], ...] = (
    ("/", overview, "read", READ),
    ("/sign-in", sign_in, None, [*READ, *SEND]),
    ("/sign-out", sign_out, None, SEND),
    ("/new", create_page, "admin", [*READ, *SEND]),
    ("/plan", plan_page, "admin", [*READ, *SEND]),
    ("/plan/{id}", result_page, "admin", READ),
    ("/plan/{id}/cancel", cancel_page, "admin", SEND),
    ("/tokens", tokens_page, "admin", [*READ, *SEND]),
    ("/tokens/{id}/revoke", revoke_page, "admin", [*READ, *SEND]),
    ("/webhooks", webhooks_page, "admin", [*READ, *SEND]),
    ("/webhooks/{id}/test", test_page, "admin", SEND),
    ("/webhooks/{id}/delete", delete_page, "admin", [*READ, *SEND]),
    ("/audit", audit_page, "admin", READ),
    ("/experiments/{name}", experiment_page, "read", READ),
    ("/experiments/{name}/changes", changes, "read", READ),
    ("/experiments/{name}/totals", totals, "read", READ),
    ("/experiments/{name}/steps.csv", steps_csv, "read", READ),
    ("/experiments/{name}/log", log_page, "read", READ),
    ("/experiments/{name}/explain", explain_form, "read", READ),
    ("/experiments/{name}/steps/{step}", explain_page, "read", READ),
    ("/experiments/{name}/actions/{action}", command_page, "operate", [*READ, *SEND]),
)


def dashboard_of(service: Service) -> Dashboard:
    """The dashboard of a service."""
    experiments = service.experiments
    sessions = Sessions(service.tokens, service.access)
    call, auth = service.workers.call, service.settings.auth
    return Dashboard(
        experiments, sessions, call, service.authenticator, service.webhooks, service.plans, auth,
        service.settings.max_age, experiments.now,
    )  # fmt: skip


def routes(dashboard: Dashboard) -> list[BaseRoute]:
    """All routes of the dashboard."""
    made = [Route(path, protected(dashboard, page, scope), methods=methods) for path, page, scope, methods in PAGES]
    return [*made, Route("/assets/{name}", asset, methods=READ)]
