"""What results must agree in before they may stand in one table: the study, the code, the versions."""

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from platform import python_version_tuple
from typing import Any

import afterglow
from afterglow.engine.compiling import digest
from afterglow.errors import BadValue
from afterglow.lab.study import Study
from afterglow.policies.policy import Policy
from afterglow.policies.registry import is_ours

PACKAGES = ("numpy", "numba", "pyarrow")


def versions() -> dict[str, str]:
    """Of all that numbers and bytes depend on."""
    found = {"afterglow": afterglow.__version__, "python": ".".join(python_version_tuple()[:2])}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "none"
    return found


def identity(study: Study) -> dict[str, Any]:
    """All that must stay the same while results grow; the question may be put in other words."""
    code = {cell.label: mark(cell.policy) for cell in study.cells}
    spreads = {cell.world.spread.text: cell.world.spread for cell in study.cells}
    own = {text: digest(one.function) for text, one in spreads.items() if one.function is not None}
    played = {key: value for key, value in study.as_data().items() if key != "question"}
    return {"study": played, "code": code | own, "versions": versions()}


def mark(policy: Policy[Any, Any]) -> str:
    """A policy's code: the version of ours, a digest of a user's."""
    if is_ours(policy):
        return f"{policy.name} {policy.version}"
    plain = [function.__code__ for function in (policy.start, policy.configure, policy.recommend) if function]
    return str(digest(policy.next_hold, policy.learn, plain, policy.draws))


def differences(old: Any, new: Any, key: str = "") -> Iterator[tuple[str, Any, Any]]:
    """(key, old, new) wherever two pieces of plain data differ.

    >>> list(differences({"worlds": [{"window": 4}]}, {"worlds": [{"window": 8}]}))
    [('worlds[0].window', 4, 8)]
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys([*old, *new]):
            yield from differences(old.get(name), new.get(name), f"{key}.{name}".lstrip("."))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, pair in enumerate(zip(old, new, strict=True)):
            yield from differences(*pair, f"{key}[{number}]")
    elif old != new:
        yield key, old, new


def refuse_other(folder: Any, old: dict[str, Any], new: dict[str, Any]) -> None:
    """Refuse to add to results of another study, naming what differs."""
    found = [*differences(old["study"], new["study"])]
    found += [(f"code of {key}", *values) for key, *values in differences(old["code"], new["code"]) if not found]
    found += [(f"version of {key}", *values) for key, *values in differences(old["versions"], new["versions"])]
    if found:
        said = "; ".join(f"{key} was {was!r} and is {now!r}" for key, was, now in found)
        raise BadValue(f"{folder} has results of another study: {said}; give another folder with --out, or remove it")
