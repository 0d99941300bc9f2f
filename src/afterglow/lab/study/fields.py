"""Checks of a study's fields; errors name the file, the key and the value."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

from afterglow.checks import at_most, choice, whole
from afterglow.engine.simulate import LONGEST, MOST_MARKS, TIERS
from afterglow.errors import BadValue, argument
from afterglow.lab.study.code.policy_files import policy_from
from afterglow.lab.study.grid import Entry, expanded
from afterglow.policies.policy import Policy
from afterglow.policies.registry import AnyPolicy
from afterglow.policies.rounds import RoundPolicy
from afterglow.worlds.units_world import UnitsWorld
from afterglow.worlds.world import World

MOST_RUNS = 1_000_000_000  # of a cell
LONGEST_NAME, LONGEST_LABEL = 100, 200  # characters: a name is a folder's, a label stands in every table and figure


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
    if len(name) > LONGEST_NAME or not name.isprintable():
        shown = name if len(name) <= LONGEST_NAME else name[:20] + "…"
        sentence = f"name = {shown!r}: a name must have at most {LONGEST_NAME} characters, all of them printable"
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
    return Entry(" ".join([label_of(one, policy.name), *shown]), policy, options, runs)


def label_of(one: Mapping[str, Any], name: str) -> str:
    """The label of a policy in tables and figures; without one, its name."""
    label = str(one.get("label", name))
    if len(label) > LONGEST_LABEL or not label.isprintable():
        said = label if len(label) <= LONGEST_LABEL else label[:20] + "…"
        rule = f"a label must have at most {LONGEST_LABEL} characters, all of them printable"
        raise BadValue(f"label = {said!r}: {rule}", field="label")
    return label


def policy_of(value: Any, source: str) -> AnyPolicy:
    """A policy by name, by file relative to the study's, or itself."""
    if isinstance(value, Policy | RoundPolicy):
        return value
    if not isinstance(value, str):
        raise BadValue("a policy must be a name or the path of a Python file")
    beside = Path(source).parent / value
    return policy_from(str(beside) if value.endswith(".py") and source else value)


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
