"""Models of commands and of new experiments, made from their declarations."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import ConfigDict, Field, create_model

from afterglow.live.domain import limits
from afterglow.live.domain.arguments import LONGEST_NAME, LONGEST_TEXT, Argument, Kind
from afterglow.live.domain.command_table import Command
from afterglow.live.domain.settings_table import SETTINGS
from afterglow.policies.registry import names, round_names
from afterglow.service.api.base_models import WORDS, MetricName, Moment, Name, Sent, Variant
from afterglow.service.api.examples import EXAMPLES

POLICIES = tuple(sorted([*names(), *round_names()]))
Change = Annotated[float | str | None, Field(description="A change such as `+10%` or `+0.5`, or the limit itself.")]


class GuardLimit(Sent):
    """The limit of a secondary total: `at_most` or `at_least`, one of them."""

    at_most: Change = None
    at_least: Change = None
    against: Annotated[
        float | str | None,
        Field(description="What a change is measured against: `control`, which is the default, or a number."),
    ] = None
    metric: Annotated[str | None, Field(description="The metric, if it isn't the guard's name; `reward` too.")] = None


def annotation(one: Argument) -> Any:
    """The type of a field with its limits and description."""
    limited = Field(ge=one.least, le=one.most, gt=one.above, lt=one.below)
    short = Field(min_length=1, max_length=int(one.most or LONGEST_TEXT), pattern=WORDS)
    base: Any = {
        Kind.NAME: Name,
        Kind.VARIANTS: Annotated[
            list[Variant],
            Field(min_length=2, max_length=limits.VARIANTS, json_schema_extra={"uniqueItems": True}),
        ],
        Kind.VARIANT: Variant,
        Kind.UNITS: Annotated[
            list[Variant], Field(min_length=2, max_length=limits.UNITS, json_schema_extra={"uniqueItems": True})
        ],
        Kind.UNIT: Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)],
        Kind.LEVELS: dict[str, float],
        Kind.WHOLE: Annotated[int, limited],
        Kind.NUMBER: Annotated[float, limited],
        Kind.NUMBERS: Annotated[list[float], Field(min_length=int(one.least or 1), max_length=int(one.most or 1))],
        Kind.FLAG: bool,
        Kind.TEXT: Annotated[str, short],
        Kind.TIME: Moment,
        Kind.POLICY: Annotated[str, Field(json_schema_extra={"enum": list(POLICIES)})],
        Kind.OPTIONS: dict[str, Any],
        Kind.GUARDS: Annotated[dict[MetricName, GuardLimit], Field(max_length=limits.GUARDS)],
    }[one.kind]
    described = Field(description=one.help, examples=None if one.example is None else [one.example])
    return Annotated[base if one.required or one.default is not None else base | None, described]


def model_of(name: str, arguments: Iterable[Argument], text: str, example: dict[str, Any]) -> Any:
    """A model with a field for each argument."""

    class WithExample(Sent):
        model_config = ConfigDict(json_schema_extra={"examples": [example]})

    fields: dict[str, Any] = {one.name: (annotation(one), ... if one.required else one.default) for one in arguments}
    return create_model(name, __base__=WithExample, __doc__=text, **fields)


def command_model(command: Command) -> Any:
    """The body of a command."""
    unused = [Argument(name, Kind.TEXT, "Accepted and not used.", None) for name in command.ignored]
    example = {one.name: one.example for one in command.arguments}
    return model_of(command.name.title().replace("_", ""), [*command.arguments, *unused], command.help, example)


if TYPE_CHECKING:

    class NewExperiment(Sent):
        name: str
        starts: str | None
        profile_from: str | None
else:
    NewExperiment = model_of(
        "NewExperiment", SETTINGS, "An experiment to create. Without `step_seconds` the caller closes each step.",
        EXAMPLES["NewExperiment"],
    )  # fmt: skip
