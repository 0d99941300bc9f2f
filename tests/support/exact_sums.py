"""A check that nothing which is decided or stored is added by the built-in `sum`.

Its result for floats depends on the release of Python: see `afterglow.addition`.
"""

import builtins
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

ROOMS = ("afterglow.policies", "afterglow.estimation", "afterglow.live")
FILES = (
    "afterglow.agent",
    "afterglow.expected",
    "afterglow.policy_runner",
    "afterglow.round_runner",
    "afterglow.units",
)


@contextmanager
def whole_sums() -> Iterator[None]:
    """Refuse floats that decisions and stored values add by `sum`."""
    plain = builtins.sum

    def checked(values: Iterable[Any], /, start: Any = 0) -> Any:
        found = list(values)
        caller = sys._getframe(1).f_globals.get("__name__", "")
        if caller.startswith(ROOMS) or caller in FILES:
            assert not any(isinstance(one, float) for one in found), f"{caller} adds floats by sum: take addition.added"
        return plain(found, start)

    builtins.sum = checked
    try:
        yield
    finally:
        builtins.sum = plain
