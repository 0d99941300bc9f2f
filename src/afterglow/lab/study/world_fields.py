"""Checks of a study's worlds, and worlds as text; errors name the key and the value."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from afterglow.checks import at_most, whole
from afterglow.errors import BadValue, UnknownName
from afterglow.lab.study.fields import at, listed, naming, plain
from afterglow.lab.study.grid import expanded
from afterglow.worlds.baseline import baseline as parse_baseline
from afterglow.worlds.rewards import Reward
from afterglow.worlds.spreads import Spread
from afterglow.worlds.units_world import UnitsWorld
from afterglow.worlds.world import World, law_of

MOST_ARMS = 100_000
UNIT_KEYS = ("units", "common", "own", "interaction", "sizes", "loadings", "shift", "told")
WORLD_KEYS = ("rewards", "arms", "window", "spread", "baseline", *UNIT_KEYS)


def worlds(given: Any) -> list[World | UnitsWorld]:
    """The worlds, with lists in tables expanded."""
    found: list[World | UnitsWorld] = []
    for number, one in enumerate(listed("worlds", given)):
        if isinstance(one, World | UnitsWorld):
            found.append(one)
            continue
        with naming(f"worlds[{number}]", "worlds"):
            found += worlds_in(one)
    texts = [world_text(world) for world in found]
    for text, times in Counter(texts).items():
        if times > 1:
            raise BadValue(f"worlds: one is listed twice, {text}", field="worlds")
    return found


def worlds_in(table: Any) -> list[World | UnitsWorld]:
    if not isinstance(table, Mapping):
        raise BadValue(f"a world must be a table with rewards and a window, got {table!r}")
    for key in table:
        if key not in WORLD_KEYS:
            raise UnknownName("key", key, WORLD_KEYS, f"a world has {', '.join(WORLD_KEYS)}")
    for key, example in (("rewards", "[0.9, 0.8]"), ("window", "10")):
        if key not in table:
            raise BadValue(f"it needs {key}, such as {key} = {example}")
    rewards = table["rewards"]
    if not isinstance(rewards, list | tuple) or not rewards:
        raise BadValue(f"rewards = {plain(rewards)!r}: rewards must be a list, one for each arm")
    sets = rewards if isinstance(rewards[0], list | tuple) else [rewards]
    rest = {key: value for key, value in table.items() if key not in ("rewards", "loadings")}
    range_ = {"loadings": table["loadings"]} if "loadings" in table else {}
    return [world_of(laws, one | range_) for laws in sets for one in expanded(rest)]


def world_of(laws: Sequence[Any], one: Mapping[str, Any]) -> World | UnitsWorld:
    with at("rewards", laws):
        made = [law(value) for value in laws]
    if "arms" in one:
        with at("arms", one["arms"]):
            arms = whole("arms", one["arms"], len(made), "one for each reward; the last is that of all further arms")
            at_most("arms", arms, MOST_ARMS, "in a world of a study")
        made += [made[-1]] * (arms - len(made))
    with at("window", one["window"]):
        window = whole("window", one["window"], 1, "1 = paid at once")
    shape = one.get("spread", "uniform")
    if not isinstance(shape, str | Spread) and not callable(shape):
        raise BadValue(f'spread = {shape!r}: a spread must be a text such as "uniform"')
    if "units" in one:
        return units_world(made, window, shape, one)
    for key in UNIT_KEYS:
        if key in one:
            raise BadValue(f"{key} = {plain(one[key])!r}: it describes units; write units = 8 too")
    income = one.get("baseline")
    with at("baseline", income):
        parse_baseline(income)
    with at("spread", shape):
        return World.of(made, window, shape, income)


def units_world(laws: Sequence[Reward], window: int, shape: Any, one: Mapping[str, Any]) -> UnitsWorld:
    """A world of several units."""
    if "baseline" in one:
        raise BadValue(f"baseline = {plain(one['baseline'])!r}: units have common and own income in its place")
    given = {key: one[key] for key in UNIT_KEYS if key in one}
    if given.get("told") == "none":
        given["told"] = None
    if "loadings" in given and (not isinstance(given["loadings"], list | tuple) or len(given["loadings"]) != 2):
        raise BadValue(f"loadings = {plain(given['loadings'])!r}: loadings must be the least and the greatest")
    return UnitsWorld.of(laws, window, spread=shape, **given)


def law(value: Any) -> Reward:
    if isinstance(value, bool) or value is None or isinstance(value, Mapping | list | tuple):
        raise BadValue(f'a reward must be a text such as "beta:2,3" or a mean, got {value!r}')
    return law_of(value)


def income_text(world: World | UnitsWorld) -> str:
    """The baseline; of units what each has, in the same column."""
    return world.baseline.text if isinstance(world, World) else world.text


def world_text(world: World | UnitsWorld) -> str:
    income = f", {world.text}" if isinstance(world, UnitsWorld) else ""
    if isinstance(world, World) and world.baseline.text:
        income = f", baseline {world.baseline.text}"
    return f"{rewards_text(world)}, {world.spread.text}, window {world.window:,}{income}"


def rewards_text(world: World | UnitsWorld) -> str:
    """The reward laws of the arms, a bare number for a Bernoulli mean; repeated laws with their count.

    >>> rewards_text(World.of([0.9, "beta:2,3", "beta:2,3"], window=4))
    '0.9 2×beta:2,3'
    """
    groups = [(text, len(list(group))) for text, group in groupby(law.text for law in world.rewards)]
    texts = [(text.removeprefix("bernoulli:"), times) for text, times in groups]
    return " ".join(text if times == 1 else f"{times}×{text}" for text, times in texts)
