"""Refuse verbs and spreads that draw random numbers of their own: they would be others in every engine."""

from collections.abc import Mapping
from random import Random
from types import ModuleType
from typing import Any

from afterglow.engine.compiling import is_plain, names, read
from afterglow.errors import Disagreement

CHANCE = ("random", "secrets", "numpy.random", "numpy.random.mtrand")


def refuse_chance(functions: Mapping[str, Any]) -> None:
    """Name the first function, or function it calls, that draws random numbers; the keys say whose they are."""
    waiting = list(functions.items())
    seen = set[Any]()
    while waiting:
        owner, function = waiting.pop()
        if not is_plain(function) or function in seen:
            continue
        seen.add(function)
        for name, value in read(function).items():
            home = getattr(value, "__name__", "") if isinstance(value, ModuleType) else getattr(value, "__module__", "")
            own = home in CHANCE or (home == "numpy" and "random" in names(function.__code__))
            if own or isinstance(getattr(value, "__self__", None), Random):
                raise Disagreement(
                    f"{owner} draws random numbers of its own ({name} in {function.__name__}), which would be others "
                    "in every engine; set `draws` and use the numbers given"
                )
            waiting.append((owner, value))
