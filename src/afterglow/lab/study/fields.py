"""Checks of a study's fields; errors name the file, the key and the value."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import Any

from afterglow.checks import at_most, choice, whole
from afterglow.engine.simulate import LONGEST, MOST_MARKS, TIERS
from afterglow.errors import BadValue, UnknownName, argument
from afterglow.lab.study.code.policy_files import policy_from
from afterglow.lab.study.grid import Entry, expanded
from afterglow.policies.policy import Policy
from afterglow.policies.registry import AnyPolicy
from afterglow.policies.rounds import RoundPolicy
from afterglow.worlds.baseline import baseline as parse_baseline
from afterglow.worlds.rewards import Reward
from afterglow.worlds.spreads import Spread
from afterglow.worlds.units_world import UnitsWorld
from afterglow.worlds.world import World, law_of

MOST_RUNS = 1_000_000_000  # of a cell
UNIT_KEYS = ("units", "common", "own", "interaction", "sizes", "loadings", "shift", "told")
WORLD_KEYS = ("rewards", "arms", "window", "spread", "baseline", *UNIT_KEYS)


@contextmanager
def naming(place: str, field: str = "") -> Iterator[None]:
    """Put a place before the sentence of an error within; `field` is the study's argument at fault."""
    try:
        yield
    except BadValue as problem:
        sentence = f"{place}: {problem}" if place else str(problem)
        raise BadValue(sentence, kind=problem.kind, field=field or problem.field) from None


@contextmanager
def at(key: str, value: Any) -> Iterator[None]:
    """Name the key and its value."""
    with naming(f"{key} = {plain(value)!r}", key):
        yield


def axis(key: str, value: Any, read: Callable[[Any], Any]) -> list[Any]:
    """The values of a field, one or a list of them."""
    with at(key, value):
        found = [read(one) for one in (value if isinstance(value, list | tuple) else [value])]
        if not found:
            raise BadValue("a list needs at least one value")
        if len(set(found)) < len(found):
            raise BadValue("a value is in the list twice")
        return found


def steps(value: Any) -> int:
    found = whole("horizon", value, 1)
    if found > LONGEST:
        raise BadValue(f"{argument('horizon')} must be at most {LONGEST:.0e}, got {found:.3g}")
    return found


def count(value: Any) -> int:
    return at_most("runs", whole("runs", value, 1), MOST_RUNS)


def seed(value: Any) -> int:
    found = whole("seed", value, 0)
    if found >= 2**63:
        raise BadValue(f"{argument('seed')} must be below 2^63, got {found}")
    return found


def flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise BadValue(f"{argument('told_horizon')} must be true or false, got {value!r}")
    return value


def season(value: Any) -> int:
    return whole("season", value, 1, "1 = none")


def engine(value: Any) -> str:
    return choice("engine", value, ["auto", *TIERS])


def one_of(key: str, value: Any, choices: list[str]) -> None:
    with at(key, value):
        choice(key, value, choices)


def folder_name(name: Any) -> None:
    """A study's name, which is also that of its folder."""
    if not isinstance(name, str) or not name or name.startswith(".") or "/" in name or "\\" in name:
        sentence = f"name = {name!r}: a name must be a text without slashes that doesn't start with a dot"
        raise BadValue(sentence, field="name")


def text(key: str, value: Any) -> None:
    if not isinstance(value, str):
        raise BadValue(f"{key} = {plain(value)!r}: {key} must be a text", field=key)


def told_window(value: Any) -> int | str | None:
    """Steps, or a multiple of the world's window."""
    if value is None or value == "world":
        return None
    if isinstance(value, str) and value.startswith("x"):
        try:
            if Fraction(value[1:]) > 0:
                return value
        except (ValueError, ZeroDivisionError):
            pass
    if isinstance(value, str):
        raise BadValue(
            f'{argument("told_window")} must be steps, "world" or a multiple such as "x1/8" or "x2", got {value!r}'
        )
    return whole("told_window", value, 1)


def checkpoints(value: Any) -> int | tuple[int, ...]:
    """How many, or which."""
    with at("checkpoints", value):
        if not isinstance(value, list | tuple):
            points = whole("checkpoints", value, 1, "how many points a curve has, or a list of steps")
            return at_most("checkpoints", points, MOST_MARKS)
        marks = tuple(whole("checkpoints", mark, 1, "each of them") for mark in value)
        if not marks or list(marks) != sorted(set(marks)):
            raise BadValue("checkpoints must increase")
        return marks


def entries(given: Any, source: str) -> list[Entry]:
    """The policies with their options, each under a label of its own."""
    found: list[Entry] = []
    for number, one in enumerate(listed("policies", given)):
        table = one if isinstance(one, Mapping) else {"policy": one}
        with naming(f"policies[{number}]", "policies"):
            found += entries_in(table, source)
    labels = [entry.label for entry in found]
    for label, times in Counter(labels).items():
        if times > 1:
            raise BadValue(f"policies: two are called {label!r}; give one of them a label", field="policies")
    return found


def entries_in(table: Mapping[str, Any], source: str) -> list[Entry]:
    if "policy" not in table:
        raise BadValue(f'it needs a policy, such as policy = "trim-ucb", got {plain(table)!r}')
    runs = None
    if "runs" in table:
        with at("runs", table["runs"]):
            runs = count(table["runs"])
    flat = with_flat_options({key: value for key, value in table.items() if key != "runs"})
    return [entry_of(one, flat, source, runs) for one in expanded(flat)]


def with_flat_options(table: Mapping[str, Any]) -> dict[str, Any]:
    """A table of a policy with its `options` table, if it has one, beside its other keys.

    >>> with_flat_options({"policy": "leak-ucb", "options": {"C": [0.5, 1]}})
    {'policy': 'leak-ucb', 'C': [0.5, 1]}
    """
    given = table.get("options", {})
    if not isinstance(given, Mapping):
        raise BadValue(f"{argument('options')} must be a table of settings, got {plain(given)!r}")
    flat = {key: value for key, value in table.items() if key != "options"}
    for name in given:
        if name in flat:
            raise BadValue(f"{argument(name)} is given beside {argument('options')} and in it; give it once")
    return flat | dict(given)


def entry_of(one: dict[str, Any], table: Mapping[str, Any], source: str, runs: int | None) -> Entry:
    options = {key: value for key, value in one.items() if key not in ("policy", "label")}
    with at("policy", one["policy"]):
        policy = policy_of(one["policy"], source)
    for key in options:
        if key not in policy.options():
            raise policy.unknown(key)
    shown = [f"{key}={value}" for key, value in options.items()]
    if "label" in one:  # a label names what it stands for; what varies below it is added
        shown = [text for key, text in zip(options, shown, strict=True) if isinstance(table[key], list | tuple)]
    return Entry(" ".join([str(one.get("label", policy.name)), *shown]), policy, options, runs)


def policy_of(value: Any, source: str) -> AnyPolicy:
    """A policy by name, by file relative to the study's, or itself."""
    if isinstance(value, Policy | RoundPolicy):
        return value
    if not isinstance(value, str):
        raise BadValue("a policy must be a name or the path of a Python file")
    beside = Path(source).parent / value
    return policy_from(str(beside) if value.endswith(".py") and source else value)


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


def listed(key: str, given: Any) -> Sequence[Any]:
    if not isinstance(given, list | tuple) or not given:
        raise BadValue(f"{key} = {plain(given)!r}: {key} must be a list with at least one entry", field=key)
    return given


def plain(value: Any) -> Any:
    """A value as plain data, the same in TOML, JSON and Python."""
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, World):
        given = {"rewards": [law.text for law in value.rewards], "window": value.window, "spread": value.spread.text}
        return given | ({"baseline": value.baseline.text} if value.baseline.text else {})
    if isinstance(value, UnitsWorld):
        given = {"rewards": [law.text for law in value.rewards], "window": value.window, "spread": value.spread.text}
        return given | {"units": value.text}
    if isinstance(value, Policy | RoundPolicy):
        return value.name
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return int(value)
    if isinstance(value, str | int | float) or value is None:
        return value
    return getattr(value, "text", None) or getattr(value, "__name__", None) or repr(value)
