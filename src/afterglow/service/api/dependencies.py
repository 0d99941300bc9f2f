"""Dependencies of endpoints: the service and the token, whose scope is checked before anything else."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request

from afterglow.errors import UnknownName
from afterglow.live import Experiment
from afterglow.service.auth.scopes import allow
from afterglow.service.auth.tokens import Token
from afterglow.service.problems import problem_of
from afterglow.service.service import Service

Result = TypeVar("Result")


class AuthorizedCall:
    """One call whose token has the scope."""

    def __init__(self, service: Service, token: Token, name: str | None) -> None:
        self.service = service
        self.token = token
        self.name = name or ""

    async def experiment(self) -> Experiment:
        """The experiment named in the address."""
        return await self.service.experiment(self.name, self.token)

    async def ask(self, function: Callable[..., Result], *given: Any) -> Result:
        """The result of a function of the experiment, called in a worker thread."""
        return await self.service.ask(function, await self.experiment(), *given)


def needs(scope: str) -> Callable[[Request], Awaitable[AuthorizedCall]]:
    """A dependency that refuses tokens without the scope, or without the experiment in the address."""

    async def entered(request: Request) -> AuthorizedCall:
        token: Token = request.scope["token"]
        name = request.path_params.get("name")
        allow(token, scope, name)
        refuse_unknown(request)
        return AuthorizedCall(request.app.state.service, token, name)

    entered.scope_needed = scope  # type: ignore[attr-defined]  # the OpenAPI document says so too
    return entered


def refuse_unknown(request: Request) -> None:
    """Refuse query parameters that the route doesn't have."""
    known = [each.alias for each in request.scope["route"].dependant.query_params]
    for name in request.query_params:
        if name not in known:
            may = f"available: {', '.join(known)}" if known else "there is none here"
            raise problem_of(UnknownName("query parameter", name, known, may, field=name))


Reads = Annotated[AuthorizedCall, Depends(needs("read"))]
Reports = Annotated[AuthorizedCall, Depends(needs("report"))]
Operates = Annotated[AuthorizedCall, Depends(needs("operate"))]
Administers = Annotated[AuthorizedCall, Depends(needs("admin"))]
