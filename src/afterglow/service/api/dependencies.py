"""What an endpoint is given: the service, the token, and the scope checked before anything else is looked at."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request

from afterglow.errors import UnknownName
from afterglow.live import Experiment
from afterglow.service.auth.scopes import allow
from afterglow.service.auth.tokens import Token
from afterglow.service.problems import Problem
from afterglow.service.service import Service

Result = TypeVar("Result")


class Call:
    """One call of somebody who may make it."""

    def __init__(self, service: Service, token: Token, name: str | None) -> None:
        self.service = service
        self.token = token
        self.name = name or ""

    async def experiment(self) -> Experiment:
        """The experiment named in the address."""
        return await self.service.experiment(self.name)

    async def ask(self, function: Callable[..., Result], *given: Any, conflict: str = "step-closed") -> Result:
        """What a function of the experiment returns, asked in a worker thread."""
        return await self.service.ask(function, await self.experiment(), *given, conflict=conflict)


def needs(scope: str) -> Callable[[Request], Awaitable[Call]]:
    """A dependency that lets in whoever has the scope, for the experiment in the address."""

    async def entered(request: Request) -> Call:
        token: Token = request.scope["token"]
        name = request.path_params.get("name")
        allow(token, scope, name)
        refuse_unknown(request)
        return Call(request.app.state.service, token, name)

    entered.scope_needed = scope  # type: ignore[attr-defined]  # the OpenAPI document says so too
    return entered


def refuse_unknown(request: Request) -> None:
    """A parameter that nobody looks at is a typing error."""
    known = [each.alias for each in request.scope["route"].dependant.query_params]
    for name in request.query_params:
        if name not in known:
            may = f"there are {', '.join(known)}" if known else "there is none here"
            raise Problem("bad-value", str(UnknownName("query parameter", name, known, may)))


Reads = Annotated[Call, Depends(needs("read"))]
Reports = Annotated[Call, Depends(needs("report"))]
Operates = Annotated[Call, Depends(needs("operate"))]
Administers = Annotated[Call, Depends(needs("admin"))]
