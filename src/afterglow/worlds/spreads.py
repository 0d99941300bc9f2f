"""Spreads: when the reward of a pull arrives, by name or by a user's function.

A spread cuts the reward of a pull into parts that arrive at lags 0 … window - 1. Each is described by a short
text (`uniform`, `geometric:0.5`, `delay:poisson:3`, …), which is also how it is stored and printed. `plan`
turns it into the numbers that the engine's compiled functions read.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterglow.errors import BadValue, UnknownName, argument

Numbers = NDArray[np.float64]
NAMES = {
    "immediate": "all at once",
    "uniform": "an equal part in each step of the window",
    "last": "all in the last step of the window",
    "geometric:r": "parts proportional to r^lag",
    "kernel:w0,w1,…": "by the given weights; rows for each arm are separated by /",
    "dirichlet:alpha": "by Dirichlet weights drawn anew for each pull (alpha = 1 if left out)",
    "delay:uniform": "all at one random lag; also delay:geometric:p and delay:poisson:m, cut to the window",
    "hoard": "held back until the player changes arm, or the window ends",
    "handicap": "the best arm pays in the last step of the window, all others at once",
    "chameleon": "the best arm pays at once early in a run and late later on, all others the other way round",
}
VARIABLE = 0x0C  # flags of *args and **kwargs
ADVERSARIAL = ("hoard", "handicap", "chameleon")


@dataclass(frozen=True)
class SpreadPlan:
    """A spread for one world: which compiled function, its table, and what it needs beside."""

    kind: str  # kernel, delay, dirichlet or custom
    table: Numbers
    gather: bool = False  # what is owed arrives at once when the player changes arm
    room: int = 0  # cells of working space beyond the window


@dataclass(frozen=True)
class Spread:
    """A spread by its text, or a user's function.

    A function `cut(reward, arm, best, age, draws, parts)` fills `parts` (zeros, one per lag) so that they add
    up to `reward`; `age` counts the steps of the present run before this pull, `draws` holds as many uniforms
    as asked for. With `memory` cells it takes one more argument, an array that it may keep things in between
    pulls; it must then see every pull, and only the `step` engine can run it.
    """

    text: str
    function: Callable[..., None] | None = field(default=None, repr=False)
    draws: int = 0
    memory: int = 0

    def refuse_other_arguments(self, function: Callable[..., None]) -> None:
        """Refuse a function that can't be called as the engine calls it."""
        wanted = ("reward", "arm", "best", "age", "draws", "parts", *(["memory"] if self.memory else []))
        code = getattr(function, "__code__", None)
        if code is not None and (code.co_argcount != len(wanted) or code.co_kwonlyargcount or code.co_flags & VARIABLE):
            has = ", ".join(code.co_varnames[: code.co_argcount])
            raise BadValue(
                f"a spread's function takes ({', '.join(wanted)}), {function.__name__} takes ({has})",
                kind="wrong-signature",
                field="spread",
            )

    def plan(self, arms: int, best: int, window: int) -> SpreadPlan:
        """The numbers that the engine reads."""
        if self.function is not None:
            self.refuse_other_arguments(self.function)
            table = np.array([best, self.draws, self.memory], float)
            return SpreadPlan("custom", table, room=self.draws + self.memory)
        name, *values = self.text.split(":", 1)
        rest = values[0] if values else ""
        if name == "dirichlet":
            return SpreadPlan("dirichlet", np.array([positive(self.text, rest or "1", 0.01)]))
        if name == "delay":
            return SpreadPlan("delay", delay_table(lag_law(self.text, rest, window)))
        if name == "chameleon":
            early, late = one_lag(0, window), one_lag(window - 1, window)
            rows = [[early, late] if arm == best else [late, early] for arm in range(arms)]
            return SpreadPlan("kernel", kernel_table(np.array(rows), window - 1))
        rows = fixed_rows(self.text, name, rest, arms, best, window)
        return SpreadPlan("kernel", kernel_table(np.array(rows)[:, None, :], 0), gather=name == "hoard")


def spread(what: "str | Spread | Callable[..., None]", draws: int = 0, memory: int = 0) -> Spread:
    """A spread from its text, or from a user's function."""
    if isinstance(what, Spread):
        return what
    if callable(what):
        return Spread(getattr(what, "__name__", "custom"), what, draws, memory)
    if not isinstance(what, str):
        raise BadValue(f"{argument('spread')} must be a text such as 'uniform', or a function, got {what!r}")
    known = [name.split(":")[0] for name in NAMES]
    name = what.split(":")[0]
    if name not in known:
        raise UnknownName("spread", name, known, f"spreads are {', '.join(dict.fromkeys(known))}")
    if ":" in what and name in ("immediate", "uniform", "last", "hoard", "handicap", "chameleon"):
        raise BadValue(f"{argument('spread')} {name} takes no value, got {what!r}")
    made = Spread(what)
    if name != "kernel":  # whose weights are checked against the arms and the window of a world
        made.plan(2, 0, 1_000)
    return made


def fixed_rows(text: str, name: str, rest: str, arms: int, best: int, window: int) -> list[Any]:
    """One row of weights for each arm."""
    if name == "immediate":
        return [one_lag(0, window)] * arms
    if name in ("last", "hoard"):
        return [one_lag(window - 1, window)] * arms
    if name == "uniform":
        return [np.full(window, 1.0 / window)] * arms
    if name == "geometric":
        ratio = positive(text, rest, 0.0)
        logs = np.arange(window) * math.log(ratio)
        return [normal(np.exp(logs - logs.max()))] * arms
    if name == "handicap":
        return [one_lag(window - 1 if arm == best else 0, window) for arm in range(arms)]
    return kernel_rows(text, rest, arms, window)


def kernel_rows(text: str, rest: str, arms: int, window: int) -> list[Any]:
    """Weights as given, one row for all arms or one for each."""
    rows = [row.split(",") for row in rest.split("/")]
    if len(rows) not in (1, arms):
        sentence = f"{text} has {len(rows)} rows of weights for {arms} arms; give one row, or one for each arm"
        raise BadValue(sentence, field="spread")
    made = []
    for row in rows:
        weights = [positive(text, value, 0.0, zero=True) for value in row]
        if len(weights) > window:
            sentence = f"{text} has {len(weights)} weights, the window is {window}; make the window longer"
            raise BadValue(sentence, field="spread")
        if not sum(weights) > 0:
            raise BadValue(f"{text} has no weight above 0; at least one lag must pay", field="spread")
        made.append(normal(np.array(weights + [0.0] * (window - len(weights)))))
    return made * arms if len(made) == 1 else made


def kernel_table(rows: Numbers, boundary: int) -> Numbers:
    """Stages, boundary, then for each arm and stage the first and one past the last lag that pays, the weights,
    and for each lag the sum of the weights from there on."""
    arms, stages, window = rows.shape
    table = [float(stages), float(boundary)]
    for weights in rows.reshape(arms * stages, window):
        paid = np.flatnonzero(weights)
        late = np.minimum(np.cumsum(weights[::-1])[::-1], 1.0)
        late[: paid[0] + 1] = 1.0
        table += [float(paid[0]), float(paid[-1] + 1), *weights, *late]
    return np.array(table)


def lag_law(text: str, rest: str, window: int) -> Numbers:
    """Probabilities of the lags 0 … window - 1."""
    name, _, value = rest.partition(":")
    lags = np.arange(window)
    if name == "uniform":
        return np.full(window, 1.0 / window)
    if name == "geometric":
        p = positive(text, value, 0.0)
        if p >= 1:
            sentence = f"the p of {text} must lie between 0 and 1; delay:geometric:0.2 waits 4 steps on average"
            raise BadValue(sentence, field="spread")
        return normal(np.exp(lags * math.log1p(-p)))
    if name == "poisson":
        mean = positive(text, value, 0.0)
        logs = lags * math.log(mean) - np.array([math.lgamma(lag + 1.0) for lag in lags])
        return normal(np.exp(logs - logs.max()))
    known = ("uniform", "geometric", "poisson")
    raise UnknownName("delay", name, known, "delays are uniform, geometric:p, poisson:m", field="spread")


def delay_table(law: Numbers) -> Numbers:
    """The cumulative law, and for each of `window` equal slices of [0, 1) the first lag it can mean."""
    upto = np.cumsum(law)
    upto[np.flatnonzero(law)[-1] :] = 2.0  # above every uniform: the search ends at the last lag that pays
    guide = np.searchsorted(upto, np.arange(law.size) / law.size, side="right")
    return np.concatenate([upto, guide.astype(float)])


def one_lag(lag: int, window: int) -> Numbers:
    weights = np.zeros(window)
    weights[lag] = 1.0
    return weights


def normal(weights: Sequence[float] | Numbers) -> Numbers:
    """The weights divided by their sum."""
    return np.asarray(weights) / np.sum(weights)


def positive(text: str, value: str, least: float, zero: bool = False) -> float:
    """A number of a spread's text."""
    try:
        number = float(value)
    except ValueError:
        name = text.partition(":")[0]
        example = {"kernel": "kernel:3,2,1", "delay": "delay:geometric:0.3"}.get(name, "geometric:0.5")
        sentence = f"{argument('spread')} {text} needs a number where it has {value!r}; for instance {example}"
        raise BadValue(sentence) from None
    if not (least < number < math.inf or (number == least and (zero or least > 0))):
        rule = "at least" if zero or least else "above"
        raise BadValue(f"the numbers of spread {text} must be {rule} {least:g}, got {value}", field="spread")
    return number
