"""The OpenAPI description of the fast routes, which are no FastAPI routes: schemas from their msgspec types.

The answer of `current` is described by the model of the other calls that contain it.
"""

from typing import Any

import msgspec

from afterglow.service.api.examples import EXAMPLES
from afterglow.service.api.fast_routes import SENT, ReceiptBody
from afterglow.service.api.openapi import answers

NAME = {
    "name": "name", "in": "path", "required": True, "schema": {"type": "string", "title": "Name"}, "example": "shipping"
}  # fmt: skip
TAG = {
    "ETag": {
        "description": "The step, the number of the variant, and a digest of the answer.",
        "schema": {"type": "string"},
    }
}
FRESH = {
    "Cache-Control": {
        "description": "`private, max-age=N` to the end of the step; `no-cache` for steps without a schedule.",
        "schema": {"type": "string"},
    }
}


def ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def by_text(made: dict[int | str, dict[str, Any]]) -> dict[str, Any]:
    return {str(status): one for status, one in made.items()}


def described(*kinds: Any) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """Schemas of msgspec types, and of the structs that they name: `RewardBody` as `Reward`."""
    references, made = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
    components = {
        name.removesuffix("Body"): {**schema, "title": name.removesuffix("Body")} for name, schema in made.items()
    }
    return [renamed(one) for one in references], renamed(components)


def renamed(schema: Any) -> Any:
    """The same with references to the public names."""
    if isinstance(schema, dict):
        return {key: value.removesuffix("Body") if key == "$ref" else renamed(value) for key, value in schema.items()}
    return [renamed(one) for one in schema] if isinstance(schema, list | tuple) else schema


(SENT_SCHEMA, RECEIPT_SCHEMA), SCHEMAS = described(SENT, ReceiptBody)

CURRENT: dict[str, Any] = {
    "get": {
        "tags": ["live"],
        "summary": "The current variant",
        "description": "The same for everyone (in a unit, if there are units) until the step ends. Other query "
        "parameters are ignored.",
        "operationId": "current",
        "parameters": [
            NAME,
            {
                "name": "unit",
                "in": "query",
                "required": False,
                "schema": {"type": "string"},
                "description": "The unit, in an experiment with units.",
            },
            {"name": "If-None-Match", "in": "header", "required": False, "schema": {"type": "string"}},
        ],
        "responses": by_text(answers("unknown-experiment"))
        | {
            "200": {
                "description": "The variant, its step, and how long that lasts.",
                "headers": TAG | FRESH,
                "content": {"application/json": {"schema": ref("Current")}},
            },
            "304": {"description": "Not changed.", "headers": TAG | FRESH},
        },
    }
}
REWARDS: dict[str, Any] = {
    "post": {
        "tags": ["live"],
        "summary": "Report rewards",
        "description": "One, or up to a thousand: all of them or, if one is refused, none. They join the total of the "
        "step in which they arrive. Answered once they are on the disk; sent again with their keys they count once. "
        "If a reward that is sent again names the step of the first try and the keys of that step are erased, it is "
        "refused. An empty list stores nothing and is answered with the current step. "
        "There is no field for a variant or a user.",
        "operationId": "rewards",
        "parameters": [NAME],
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": SENT_SCHEMA,
                    "examples": {
                        "one": {"value": EXAMPLES["Reward"]},
                        "several": {"value": [EXAMPLES["Reward"], {"key": "another", "amount": 0}]},
                    },
                }
            },
        },
        "responses": by_text(
            answers(
                "unknown-experiment", "out-of-turn", "horizon-reached", "attribution-refused", "key-reused", "sealed"
            )
        )
        | {
            "202": {
                "description": "Stored.",
                "content": {"application/json": {"schema": RECEIPT_SCHEMA}},
            }
        },
    }
}
FAST_CALLS = {
    "paths": {"/v1/experiments/{name}/current": CURRENT, "/v1/experiments/{name}/rewards": REWARDS},
    "schemas": SCHEMAS,
}
