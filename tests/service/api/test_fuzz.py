"""Thousands of calls made up from the OpenAPI document: nothing fails, nothing is answered that is not documented."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import given, settings
from hypothesis.errors import FailedHealthCheck, Unsatisfiable
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.config import SchemathesisConfig
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode

from testbed.quick_disk import quick_folder
from testbed.service import Serving

EXAMPLES = 8  # of each call, each way
TAGS = (
    "live",
    "experiments",
    "commands",
    "steps",
    "knowledge",
    "events",
    "webhooks",
    "audit",
    "openfeature",
    "operation",
)
EXPECTED = ["2xx", "304", "401", "403", "404", "409", "422"]  # 422: well formed, and still not to be done
CONFIG = {
    "seed": 11,
    "checks": {"positive_data_acceptance": {"expected-statuses": EXPECTED}},
    "operations": [  # it ignores other parameters, as its description says
        {"include-operation-id": "current", "generation": {"allow-extra-parameters": False}}
    ],
}


@pytest.fixture(scope="module")
def serving() -> Iterator[Serving]:
    with quick_folder() as folder, Serving(Path(folder) / "experiments.db", rate_limit="0") as made:
        with made.client() as client:
            for name, more in (("shipping", {}), ("hourly", {"step_seconds": 3600}), ("over", {})):
                asked = {"name": name, "variants": ["49", "59", "69"], "window": 3, "reward_max": 10.0, **more}
                client.post("/v1/experiments", json=asked).raise_for_status()
            client.post("/v1/experiments/over/stop", json={"reason": "to be over"}).raise_for_status()
        yield made


@pytest.fixture(scope="module")
def operations(serving: Serving) -> dict[str, Any]:
    with serving.client() as client:
        document = client.get("/openapi.json").json()
    schema = schemathesis.openapi.from_dict(document, config=SchemathesisConfig.from_dict(CONFIG))
    found: dict[str, Any] = {}
    for result in schema.get_all_operations():
        assert isinstance(result, Ok), result
        operation = result.ok()
        found.setdefault(operation.definition.raw["tags"][0], []).append(operation)
    return found


def test_every_call_has_a_tag_that_is_tried(operations: dict[str, Any]) -> None:
    assert set(operations) == set(TAGS)


@pytest.mark.parametrize("tag", TAGS)
def test_no_call_fails_and_no_answer_is_undocumented(tag: str, serving: Serving, operations: dict[str, Any]) -> None:
    load_all_checks()
    with requests.Session() as session:
        session.trust_env = False
        session.headers["Authorization"] = f"Bearer {serving.token}"
        for operation in operations[tag]:
            for mode in GenerationMode:
                for name in ("shipping", "hourly", None):
                    attempt(operation, mode, name, serving.address, session)


def every_check() -> Any:
    return CHECKS.get_all()


def attempt(operation: Any, mode: GenerationMode, name: str | None, address: str, session: requests.Session) -> None:
    """Some calls of one kind, to an experiment that there is or to any."""
    named = "{name}" in operation.path and name is not None
    if not named and name is not None:
        return
    fixed = {"path_parameters": {"name": name}} if named and operation.path.count("{") == 1 else {}

    @settings(max_examples=EXAMPLES)
    @given(case=operation.as_strategy(generation_mode=mode, **fixed))
    def tried(case: Any) -> None:
        if case.path == "/v1/events":
            case.query["seconds"] = 0.01
        case.call_and_validate(base_url=address, session=session, checks=every_check())

    if mode is GenerationMode.NEGATIVE:
        with suppress(Unsatisfiable, FailedHealthCheck):  # nothing is sent that could be wrong
            tried()
    else:
        tried()
