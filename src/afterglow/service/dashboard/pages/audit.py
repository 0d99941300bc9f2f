"""The audit, for admins: who signed in, and who changed tokens and webhooks."""

from typing import NamedTuple

from starlette.responses import Response

from afterglow.live.store.access import AuditRow
from afterglow.service.dashboard.pages.tokens import require_everywhere
from afterglow.service.dashboard.visit import Visit

LATEST = 200  # lines
SENTENCES = {
    "signed-in": "signed in",
    "signed-out": "signed out",
    "token-created": "created token {subject}",
    "token-revoked": "revoked token {subject}",
    "webhook-created": "created webhook {subject}",
    "webhook-deleted": "deleted webhook {subject}",
}


class AuditSentence(NamedTuple):
    at: float
    who: str
    text: str
    detail: str


def audit_page(visit: Visit) -> Response:
    require_everywhere(visit)
    rows = visit.dashboard.sessions.rows.audit(LATEST)
    return visit.page("audit.html", lines=[sentence(row) for row in rows], latest=LATEST)


def sentence(row: AuditRow) -> AuditSentence:
    who = f"{row.label} ({row.token})" if row.label and row.token else row.label or row.token
    text = SENTENCES.get(row.kind, row.kind).format(subject=row.subject)
    return AuditSentence(row.at / 1000, who, text, row.detail)
