"""The audit: who signed in, and who changed tokens and webhooks."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import Field

from afterglow.service.api.base_models import Answered, Moment
from afterglow.service.api.dependencies import Administers
from afterglow.service.api.openapi import answers
from afterglow.service.problems import Problem
from afterglow.service.views import moment

router = APIRouter(prefix="/v1/audit", tags=["audit"])
MOST = 1000


class AuditLine(Answered):
    at: Moment
    kind: Literal["signed-in", "signed-out", "token-created", "token-revoked", "webhook-created", "webhook-deleted"]
    token: Annotated[str, Field(description="Id of the token that did it; empty for a command on the machine.")]
    label: str
    subject: Annotated[str, Field(description="The token, session or webhook.")]
    detail: str


class AuditLines(Answered):
    items: list[AuditLine]


@router.get("", response_model=AuditLines, summary="List sign-ins and changes of access", responses=answers())
async def list_audit(call: Administers, limit: Annotated[int, Query(ge=1, le=MOST)] = 100) -> Any:
    """The latest first."""
    if call.token.experiments is not None:
        raise Problem("forbidden", "the audit needs a token for all experiments")
    rows = await call.service.ask(call.service.access.audit, limit)
    return {
        "items": [
            {
                "at": moment(row.at / 1000), "kind": row.kind, "token": row.token, "label": row.label,
                "subject": row.subject, "detail": row.detail,
            }
            for row in rows
        ]
    }  # fmt: skip
