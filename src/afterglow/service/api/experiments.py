"""Create and list experiments."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from afterglow import live
from afterglow.errors import BadValue, Unavailable, argument
from afterglow.live.shared_patience import SharedPatience
from afterglow.service.api import models
from afterglow.service.api.declared_models import NewExperiment
from afterglow.service.api.dependencies import Administers, Reads
from afterglow.service.api.openapi import answers
from afterglow.service.auth.scopes import allow
from afterglow.service.auth.tokens import Token
from afterglow.service.problems import problem_of
from afterglow.service.service import Service
from afterglow.service.views import experiment_view, listed_view, seconds_of

router = APIRouter(prefix="/v1", tags=["experiments"])


@router.post(
    "/experiments",
    status_code=201,
    response_model=models.Experiment,
    summary="Create an experiment",
    responses=answers("name-taken") | {201: {"headers": {"Location": {"schema": {"type": "string"}}}}},
)
async def create_experiment(asked: NewExperiment, call: Administers, response: Response) -> Any:
    """It starts at once, unless `start` is false. Its settings can't be changed later."""
    allow(call.token, "admin", asked.name)
    made = await call.service.ask(create, call.service, asked, call.token)
    response.headers["Location"] = f"/v1/experiments/{asked.name}"
    return made


def create(service: Service, asked: NewExperiment, token: Token) -> dict[str, Any]:
    given = asked.model_dump(exclude_unset=True)  # what is left out may depend on the rest
    if asked.starts is not None:
        given["starts"] = seconds_of(asked.starts)
    if asked.profile_from is not None:
        given["profile_from"] = seconds_of(asked.profile_from, "profile_from")
    return experiment_view(service.experiments.create(**given, by=token.actor()))


@router.get(
    "/experiments", response_model=models.ExperimentList, summary="List experiments, oldest first", responses=answers()
)
async def list_experiments(
    call: Reads,
    after: Annotated[str | None, Query(max_length=100, description="`next` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> Any:
    """Experiments that the token may read. This waits for no locks: an experiment that another process has locked is
    listed as it is stored, with `stale` in its status if a step of it has ended since then."""
    return await call.service.ask(page, call.service.experiments, call.token, after, limit)


def page(experiments: live.Experiments, token: Token, after: str | None, limit: int) -> dict[str, Any]:
    names = [name for name in experiments.names() if token.knows(name)]
    if after is not None and after not in names:
        raise BadValue(f"{argument('after')} must be the next of an earlier page, got {after!r}")
    rest = names[names.index(after) + 1 if after is not None else 0 :]
    items, unusable, patience = list[dict[str, Any]](), list[dict[str, str]](), SharedPatience()
    for name in rest[:limit]:
        try:
            items.append(listed_view(experiments.get(name), patience.left()))
        except Unavailable:
            raise
        except Exception as error:  # one experiment must not hide the others
            unusable.append({"name": name, "detail": problem_of(error).detail})
    return {"items": items, "unusable": unusable, "next": rest[limit - 1] if len(rest) > limit else None}


@router.get(
    "/experiments/{name}",
    response_model=models.Experiment,
    summary="One experiment with its status",
    responses=answers("unknown-experiment"),
)
async def get_experiment(name: str, call: Reads) -> Any:
    return await call.ask(experiment_view)
