"""Bases and shared types of models of requests and answers. Unknown fields and other types are refused."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from afterglow.live.domain import limits
from afterglow.live.domain.arguments import LONGEST_NAME
from afterglow.live.domain.guards.settings import LONGEST as LONGEST_METRIC

MOST = limits.EXACT
NAMES, WORDS = f"^[A-Za-z0-9_-]{{1,{LONGEST_NAME}}}$", r"\S"
RULES = {NAMES: f"must be 1 to {LONGEST_NAME} letters, digits, '-' or '_'", WORDS: "must not be blank"}
Name = Annotated[str, Field(pattern=NAMES, examples=["shipping"], description="Letters, digits, `-` and `_`.")]
Variant = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME, examples=["59"])]
Moment = Annotated[str, Field(json_schema_extra={"format": "date-time"}, examples=["2026-11-16T01:30:00.000Z"])]
MetricName = Annotated[str, Field(min_length=1, max_length=LONGEST_METRIC, examples=["complaints"])]


class Sent(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Answered(BaseModel):
    model_config = ConfigDict(json_schema_mode_override="serialization")
