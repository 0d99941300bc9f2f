"""Values of options, read from text and checked."""

import inspect
import re
from collections.abc import Sequence
from types import NoneType
from typing import Any, get_args

from afterglow.checks import between, number_of, whole
from afterglow.errors import BadValue, argument
from afterglow.policies.registry import AnyPolicy

THOUSANDS = re.compile(r"[1-9]\d{0,2}([.,']\d{3})+")


def count(name: str, text: str, least: int = 1) -> int:
    """A whole number; `1e6` is accepted, and 1.000 is refused as ambiguous."""
    if THOUSANDS.fullmatch(text.strip()):
        plain = "".join(filter(str.isdigit, text))
        raise BadValue(f"{argument(name)} must be a whole number without thousands signs, got {text!r}; write {plain}")
    return whole(name, number_of(text), least)


def numbers(name: str, text: str) -> list[float]:
    """Numbers from 0 to 1, separated by commas."""
    return [between(name, number_of(part.strip()), 0, 1, "each of them") for part in text.split(",")]


def assignments(policy: AnyPolicy, texts: Sequence[str]) -> dict[str, Any]:
    """The options of a policy from `key=value` texts, read as `configure` annotates them."""
    known = policy.options()
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals:
            raise BadValue(f"--set must be key=value, got {text!r}; {policy.name}: {policy.takes()}", field="set")
        if name in policy.place:
            sentence = f"--set is for a policy's own settings, got {text!r}; give --{name} instead"
            raise BadValue(sentence, field="set")
        if name not in known:
            raise policy.unknown(name)
        if name in found:
            raise BadValue(f"--set must name a setting once, got {name!r} again", field="set")
        found[name] = annotated(name, value, inspect.signature(maker(policy), eval_str=True).parameters[name])
    return found


def maker(policy: AnyPolicy) -> Any:
    """The function that makes a policy's settings."""
    return policy.configure or policy.Settings


def annotated(name: str, text: str, parameter: inspect.Parameter) -> Any:
    """A text in the type of the parameter's annotation; without one, a number if it is one."""
    kinds = get_args(parameter.annotation) or (parameter.annotation,)
    if NoneType in kinds and text.lower() == "none":
        return None
    if str in kinds:
        return text
    value = number_of(text)
    if isinstance(value, str) and not {int, float}.isdisjoint(kinds):
        raise BadValue(f"{argument(name)} must be a number, got {text!r}")
    return float(value) if kinds == (float,) and not isinstance(value, str) else value
