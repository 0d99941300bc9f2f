"""A study as TOML, for reports."""

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields
from itertools import groupby
from typing import Any

from afterglow.lab.study.definition import StudyDefinition

WIDTH = 80  # of a list on one line


def toml_of(study: Mapping[str, Any]) -> str:
    """The fields that differ from their defaults.

    >>> print(toml_of({"name": "short", "horizon": 100, "policies": ["ucb1"],
    ...                "worlds": [{"rewards": [0.9, 0.8], "window": 4}]}), end="")
    name = "short"
    horizon = 100
    policies = ["ucb1"]
    <BLANKLINE>
    [[worlds]]
    rewards = [0.9, 0.8]
    window = 4
    """
    usual = {one.name: one.default for one in fields(StudyDefinition) if one.default is not MISSING}
    own = {key: value for key, value in study.items() if key == "name" or usual.get(key, MISSING) != value}
    tables = [key for key, value in own.items() if isinstance(value, list) and any(isinstance(v, dict) for v in value)]
    top = ("name", "question", "horizon")  # the others as in Study, lists of policies and worlds last
    names = [*top, *(one.name for one in fields(StudyDefinition)), "policies", "worlds"]
    order = sorted({*own} - {*tables}, key=lambda key: (key in ("policies", "worlds"), names.index(key)))
    lines = [f"{key} = {value_of(own[key])}" for key in order]
    for key in tables:
        for table in gathered(own[key]):
            first = sorted(table, key=lambda name: name not in ("policy", "rewards"))
            lines += ["", f"[[{key}]]", *(f"{name} = {value_of(table[name])}" for name in first)]
    return "\n".join(lines) + "\n"


def gathered(given: list[Any]) -> list[dict[str, Any]]:
    """Tables, and names that follow each other as one.

    >>> gathered(["ucb1", "trim-ucb", {"policy": "leak-ucb"}])
    [{'policy': ['ucb1', 'trim-ucb']}, {'policy': 'leak-ucb'}]
    """
    found: list[dict[str, Any]] = []
    for is_table, group in groupby(given, lambda one: isinstance(one, dict)):
        same = list(group)
        found += same if is_table else [{"policy": same}]
    return found


def value_of(value: Any) -> str:
    """One value; TOML writes texts, numbers and lists of them as JSON does. A long list has a line for each item.

    >>> value_of({"C": [0.5, 1]})
    '{ C = [0.5, 1] }'
    """
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{name} = {value_of(one)}' for name, one in value.items())} }}"
    text = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, list) or len(text) <= WIDTH:
        return text
    return "".join(["[\n", *(f"    {value_of(one)},\n" for one in value), "]"])
