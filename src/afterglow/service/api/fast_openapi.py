"""The OpenAPI description of the fast routes, which are no FastAPI routes."""

from typing import Any

from afterglow.live.reward_keys import LONGEST
from afterglow.service.api.examples import EXAMPLES
from afterglow.service.api.fast_routes import BATCH, MOST
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


CURRENT: dict[str, Any] = {
    "get": {
        "tags": ["live"],
        "summary": "The current variant",
        "description": "The same for everyone until the step ends.",
        "operationId": "current",
        "parameters": [
            NAME,
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
                    "schema": {
                        "anyOf": [
                            ref("Reward"),
                            {"type": "array", "items": ref("Reward"), "maxItems": BATCH},
                        ]
                    },
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
                "content": {"application/json": {"schema": ref("Receipt")}},
            }
        },
    }
}
SCHEMAS: dict[str, Any] = {
    "Reward": {
        "title": "Reward",
        "type": "object",
        "additionalProperties": False,
        "required": ["key", "amount"],
        "properties": {
            "key": {"type": "string", "minLength": 1, "maxLength": LONGEST, "description": "Random, such as a UUID."},
            "amount": {"type": "number", "minimum": 0},
            "step": {
                "anyOf": [{"type": "integer", "minimum": 0, "maximum": MOST}, {"type": "null"}],
                "description": "The step to which it was sent before, if this is another try.",
            },
        },
    },
    "Receipt": {
        "title": "Receipt",
        "type": "object",
        "required": ["step", "accepted", "duplicates"],
        "properties": {
            "step": {"type": "integer", "description": "The step whose total they joined."},
            "accepted": {"type": "integer"},
            "duplicates": {"type": "integer", "description": "Received before, with the same amount."},
        },
    },
}
FAST_CALLS = {
    "paths": {"/v1/experiments/{name}/current": CURRENT, "/v1/experiments/{name}/rewards": REWARDS},
    "schemas": SCHEMAS,
}
