"""Versions of what is computed from a log and stored beside it: bounds, batch statistics, the state in snapshots.

A release that computes one of them in another way gives it a new number, where it is computed. An experiment has the
numbers of the release that created it in its spec, and a snapshot those of the release that stored it. Experiments with
units have the number of their rules too; they keep those with which they were created. What follows:

- an experiment with a larger number than this release has is refused by name;
- a snapshot with other numbers is not used: the state is computed again from the log;
- a revision (a late void), which has bounds in the log itself, is refused by name if they were computed in another way.
"""

import json
from collections.abc import Mapping
from typing import Any

from afterglow.errors import BadFormat
from afterglow.estimation import batch_means, bounds

STATE = 2  # 2 has the order of washed totals in time (`timeline`), 1 had not
COMPUTED = {"batches": batch_means.VERSION, "bounds": bounds.VERSION, "state": STATE}  # by this release
UNITS = 2  # 1 kept the policy's choice as soon as a round was learned, 2 once units could be compared
UNNAMED = {"batches": 2, "bounds": 1, "state": 2}  # what doesn't name its numbers, unless its state is of version 1
FIRST = {"batches": 1, "bounds": 1, "state": 1}  # of release 0.1.0
BOUNDS = ("batches", "bounds")  # what revisions have in the log
NAMES = {"batches": "batch statistics", "bounds": "bounds", "state": "stored states", "units": "rules of units"}


def of_new(units: object) -> dict[str, int]:
    """The numbers of an experiment that is created now, with units or without."""
    return COMPUTED | {"units": UNITS} if units else dict(COMPUTED)


def named() -> dict[str, int]:
    """The numbers of this release, as a snapshot or a revision has them; nothing where they go without saying."""
    return {} if COMPUTED == UNNAMED else dict(COMPUTED)


def numbers_of(values: Mapping[str, Any]) -> dict[str, int]:
    """The numbers of a stored state."""
    unnamed = UNNAMED if values.get("version", 1) > 1 else FIRST
    return {**unnamed, **values.get("computed", {})}


def computed_now(text: str) -> bool:
    """Whether a snapshot has what this release would compute."""
    return numbers_of(json.loads(text)) == COMPUTED


def refuse_newer(name: str, numbers: Mapping[str, int], release: str) -> None:
    """Refuse an experiment of a later release."""
    known = of_new(units=True)
    for one, number in numbers.items():
        if number > known.get(one, 0):
            raise BadFormat(
                f"experiment {name!r} has version {number} of {NAMES.get(one, one)}, this release has version "
                f"{known.get(one, 0)}; go on with afterglow {release} or later"
            )


def refuse_other_bounds(name: str, follows: Mapping[str, Any]) -> None:
    """Refuse a revision whose bounds this release would compute in another way."""
    numbers = {**UNNAMED, **follows.get("computed", {})}
    for one in BOUNDS:
        if numbers[one] != COMPUTED[one]:
            raise BadFormat(
                f"experiment {name!r} has steps that were voided with version {numbers[one]} of {NAMES[one]}, this "
                f"release has version {COMPUTED[one]}, which computes something else; go on with the release that "
                "voided them, or create a new one"
            )
