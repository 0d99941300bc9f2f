"""Identity of results: study, code and versions, which must match before results are combined."""

import warnings
from collections.abc import Iterator
from dataclasses import fields
from hashlib import sha256
from typing import Any

from afterglow.errors import AfterglowWarning, BadValue, argument
from afterglow.lab.study.code.digest import Unknown, content
from afterglow.lab.study.definition import StudyDefinition
from afterglow.lab.versions import versions
from afterglow.policies.registry import AnyPolicy, is_ours

WORDS = ("summary", "guarantee", "source")  # descriptions, which don't affect results
NO_DIGEST = "unknown: "
OTHER = "other-results"  # kind of error: a folder has results of another study


def identity(study: StudyDefinition) -> dict[str, Any]:
    """All that must stay the same while a study is resumed; the question may change."""
    code = {cell.label: mark(cell.policy) for cell in study.cells}
    spreads = {cell.world.spread.text: cell.world.spread for cell in study.cells}
    own = {
        text: marked(one.function, one.draws, one.memory) for text, one in spreads.items() if one.function is not None
    }
    laws = {law.text: law for cell in study.cells for law in cell.world.rewards}
    own |= {text: marked(law) for text, law in laws.items() if not type(law).__module__.startswith("afterglow.")}
    played = {key: value for key, value in study.to_dict().items() if key != "question"}
    return {"study": played, "code": code | own, "settings": settings(study), "versions": versions()}


def mark(policy: AnyPolicy) -> str:
    """A policy's code: the version of ours, a digest of a user's."""
    if is_ours(policy):
        return f"{policy.name} {policy.version}"
    return marked(*(getattr(policy, one.name) for one in fields(policy) if one.name not in WORDS))


def marked(*parts: Any) -> str:
    """A digest of a user's code, or why there is none."""
    try:
        return content(*parts)
    except Unknown as problem:
        return f"{NO_DIGEST}{problem}"


def settings(study: StudyDefinition) -> dict[str, Any]:
    """The settings of each policy, defaults included: a value, or a digest where cells differ."""
    found: dict[str, dict[str, list[Any]]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AfterglowWarning)  # the study has them all
        for cell in study.cells:
            for name, value in cell.settings().items():
                found.setdefault(cell.label, {}).setdefault(name, []).append(value)
    return {label: {name: short(values) for name, values in own.items()} for label, own in found.items()}


def short(values: list[Any]) -> Any:
    """One number where all are the same, else a digest.

    >>> short([4, 4]), short([4, 8])
    (4, 'e956190c')
    """
    same = all(value == values[0] for value in values) and isinstance(values[0], int | float)
    return values[0] if same else sha256(repr(values).encode()).hexdigest()[:8]


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
    way_out = f"give another folder with {argument('out')}, or remove it"
    if "settings" not in old:
        sentence = f"{folder} has results of an earlier Afterglow, which stored less about the code"
        raise BadValue(sentence, kind=OTHER, field="out", way_out=way_out)
    found = [*differences(old["study"], new["study"])]
    if not found:
        found += [(f"setting {key}", *values) for key, *values in differences(old["settings"], new["settings"])]
    if not found:
        found += [(f"code of {key}", *values) for key, *values in differences(old["code"], new["code"])]
    found += [(f"version of {key}", *values) for key, *values in differences(old["versions"], new["versions"])]
    if found:
        said = "; ".join(f"{key} was {was!r} and is {now!r}" for key, was, now in found)
        raise BadValue(f"{folder} has results of another study: {said}", kind=OTHER, field="out", way_out=way_out)
    for label, text in new["code"].items():
        if text.startswith(NO_DIGEST):
            reason = text.removeprefix(NO_DIGEST)
            sentence = f"{folder} has results, perhaps of other code of {label}: {reason}, can't be compared"
            raise BadValue(sentence, kind=OTHER, field="out", way_out=way_out)
