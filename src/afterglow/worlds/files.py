"""Read a world from a TOML file.

    window = 10
    spread = "dirichlet:0.5"
    baseline = "seasonal:0.1,0.3"  # or none

    [[arms]]
    reward = "beta:2,3"

    [[arms]]
    reward = 0.8

A number is the mean of a Bernoulli reward. Errors name the file, the key and the value.
"""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from afterglow.checks import whole
from afterglow.errors import BadValue, UnknownName, argument
from afterglow.files import read_whole
from afterglow.worlds.rewards import Reward
from afterglow.worlds.spreads import Spread
from afterglow.worlds.spreads import spread as parse_spread
from afterglow.worlds.world import World, law_of

KEYS = ("window", "spread", "baseline", "arms")
LARGEST = 10_000_000  # bytes of a file
DEEPEST = 50  # tables and lists inside each other
# DEEPEST and one: slow to parse when very long. Found in one pass: it starts where a word does and never goes back.
LONG_KEY = re.compile(r"""(?<![\w"'-])(?:(?:"[^"\n]*+"|'[^'\n]*+'|[\w"'-]++)[ \t]*+\.[ \t]*+){51}""")
TOO_LONG = "a whole number has more than 64 bits"


def read_world(path: str | Path, window: int | None = None, spread: str | None = None) -> World:
    """The world that a file describes; `window` and `spread` take the place of the file's own."""
    found = read_toml(path)
    only(path, "key", found, KEYS)
    laws = [reward_of(path, number, arm) for number, arm in enumerate(arms_of(path, found))]
    steps = window if window is not None else found.get("window")
    if steps is None:
        raise BadValue(f"{path} has no window; add a line such as window = 10", field="window")
    try:
        length = whole("window", steps, 1, "1 = paid at once")
        return World.of(laws, length, spread or spread_of(found), baseline_of(found))
    except BadValue as problem:
        raise BadValue(f"{path}: {problem}", kind=problem.kind, field=problem.field) from None


def read_toml(path: str | Path) -> dict[str, Any]:
    """What a TOML file says."""
    try:
        text = read_whole(path, "path", LARGEST).decode("utf-8-sig").replace("\r\n", "\n")
        if LONG_KEY.search(text):
            raise too_deep(path)
        found = tomllib.loads(text)
    except RecursionError:
        raise too_deep(path) from None
    except BadValue:
        raise
    except ValueError as problem:
        why = TOO_LONG if "integer string" in str(problem) else str(problem).lower()
        if isinstance(problem, UnicodeDecodeError):
            why += "; save it as UTF-8"
        raise BadValue(f"{path} is not TOML: {why}", kind="bad-file", field="path") from None
    refuse_extremes(path, found)
    return found


def too_deep(path: str | Path) -> BadValue:
    return BadValue(f"{path} can't be read: it is nested more than {DEEPEST} deep", kind="bad-file", field="path")


def refuse_extremes(path: str | Path, found: Any) -> None:
    """Refuse nesting deeper than `DEEPEST` and whole numbers of more than 64 bits, at any place."""
    waiting = [(found, 0)]
    while waiting:
        value, depth = waiting.pop()
        if depth > DEEPEST:
            raise too_deep(path)
        if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
            raise BadValue(f"{path} is not TOML: {TOO_LONG}", kind="bad-file", field="path")
        if isinstance(value, dict | list):
            inner = value.values() if isinstance(value, dict) else value
            waiting.extend((one, depth + 1) for one in inner)


def only(path: str | Path, what: str, given: Mapping[str, Any], known: tuple[str, ...]) -> None:
    """Refuse unknown keys."""
    for key in given:
        if key not in known:
            problem = UnknownName(what, key, known, f"it has {', '.join(known)}")
            raise BadValue(f"{path}: {problem}", kind="unknown-key", field=key)


def arms_of(path: str | Path, found: Mapping[str, Any]) -> list[Any]:
    """The tables of the arms."""
    arms = found.get("arms", [])
    if not isinstance(arms, list) or not arms or not all(isinstance(arm, dict) for arm in arms):
        sentence = f'{path}: arms must be tables, [[arms]] with reward = "beta:2,3" below, got {arms!r}'
        raise BadValue(sentence, field="arms")
    return arms


def reward_of(path: str | Path, number: int, arm: Mapping[str, Any]) -> Reward:
    """The law of one arm."""
    only(path, f"key of arms[{number}]", arm, ("reward",))
    reward = arm.get("reward")
    if isinstance(reward, bool) or not isinstance(reward, str | int | float):
        rule = f'must be a text such as "beta:2,3" or a mean, got {reward!r}'
        raise BadValue(f"{path}: arms[{number}].reward {rule}", field="arms")
    try:
        return law_of(reward)
    except BadValue as problem:
        raise BadValue(
            f"{path}: arms[{number}].reward = {reward!r}: {problem}", kind=problem.kind, field="arms"
        ) from None


def spread_of(found: Mapping[str, Any]) -> Spread:
    """The spread, uniform if none is named."""
    text = found.get("spread", "uniform")
    if not isinstance(text, str):
        raise BadValue(f'{argument("spread")} must be a text such as "uniform", got {text!r}')
    return parse_spread(text)


def baseline_of(found: Mapping[str, Any]) -> str | float | None:
    """The baseline, none if none is named."""
    given = found.get("baseline")
    if isinstance(given, bool) or not isinstance(given, str | int | float | None):
        raise BadValue(f'{argument("baseline")} must be a text such as "seasonal:0.1,0.3" or a number, got {given!r}')
    return given
