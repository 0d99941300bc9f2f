"""`RoundPolicy`: a policy that decides for several units at once, in plain Python.

A round is a hold with an arm for every unit. `next_round(settings, state)` names a number of steps and a split; the
arms are `state.arms`, one per unit. After those steps `learn(settings, state, steps, split, known, heads, bodies)`
receives lists over units: `heads`, what each unit's totals came to in the first `split` steps, `bodies`, those of the
rest, and `known`, the number of counted body steps. `known[u]` is 0 if a total of unit u is missing in the round, or if
a step of the round, or of the `window - 1` steps before it, did not play what the policy had named. The last round may
be cut short by the horizon: `steps` and `split` are then what was played.

All units change at the same steps. So time, storing and cutting short work as for one hold. A step that one unit loses
costs its own cell of the round and never makes the others' round longer.

The fields of settings and state are those of a `Policy`. What is random is in the settings: `order`, a permutation of
the units, and `labels`, one of the arms, are drawn before the start.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from afterglow.policies.configurable import Configurable

SettingsT = TypeVar("SettingsT")
StateT = TypeVar("StateT")

LEAST_UNITS, MOST_UNITS = 2, 200
LEAST_ARMS, MOST_ARMS = 2, 20


class PanelDifference(NamedTuple):
    """How much better one arm is than another, as a share of a unit's level."""

    mean: float
    low: float
    high: float


Compared = Callable[[int, int, float], PanelDifference]


@dataclass(frozen=True)
class RoundPolicy(Configurable, Generic[SettingsT, StateT]):
    """One algorithm that decides for all units.

    `configure` makes checked settings out of `arms`, `units`, `window`, `horizon`, `levels` (a list, empty if they are
    not known), `order`, `labels` and options. `recommend` names the arm to keep. `difference(settings, state, a, b,
    confidence)` estimates how much better a is than b; `compared(settings, state)`, if there is one, is a function of
    a, b and confidence that gives the same for many pairs, after one fit. `statistic` is the number that the exact test
    compares: it must be the same for arms that are named in another order. `quiet(state)`, if there is one, makes a
    fresh state leave out what only the alarm needs: replays of the test call it. `unchanged(settings, state)`, if there
    is one, is a number of steps for which all units stay on their arms, whatever is learned meanwhile; then `learn`
    takes rounds together of which no total is known: `steps` is a multiple of those of a round, all of `known` 0.
    """

    place: ClassVar[tuple[str, ...]] = ("arms", "units", "window", "horizon", "levels", "order", "labels")

    name: str
    Settings: type[SettingsT]
    State: type[StateT]
    start: Callable[[SettingsT], StateT]
    next_round: Callable[[SettingsT, StateT], tuple[int, int]]
    learn: Callable[[SettingsT, StateT, int, int, Sequence[int], Sequence[float], Sequence[float]], None]
    configure: Callable[..., SettingsT]
    recommend: Callable[[SettingsT, StateT], int]
    difference: Callable[[SettingsT, StateT, int, int, float], PanelDifference]
    statistic: Callable[[SettingsT, StateT], float]
    alarmed: Callable[[SettingsT, StateT], bool]  # whether the window was found too short
    every_step: bool = False
    privileged: bool = False
    bounded: bool = False  # totals may be any numbers
    version: int = 1
    summary: str = ""
    guarantee: str = ""
    source: str = ""
    compared: Callable[[SettingsT, StateT], Compared] | None = None
    quiet: Callable[[StateT], None] | None = None
    unchanged: Callable[[SettingsT, StateT], int] | None = None
    rounding: float = 1e-9  # relative: statistics that are no further apart are those of one plan under other names

    def pairs(self, settings: SettingsT, state: StateT) -> Compared:
        """`difference` for many pairs of arms; the state must not change meanwhile."""
        return partial(self.difference, settings, state) if self.compared is None else self.compared(settings, state)

    def settings(
        self,
        arms: int,
        units: int,
        window: int,
        horizon: int,
        levels: Sequence[float],
        order: Sequence[int],
        labels: Sequence[int],
        options: Mapping[str, Any] | None = None,
    ) -> SettingsT:
        """Checked settings for one experiment."""
        given = dict(options or {})
        for name in given:
            if name not in self.options():
                raise self.unknown(name)
        values = (arms, units, window, horizon, list(levels), list(order), list(labels))
        given |= dict(zip(self.place, values, strict=True))
        self.refuse_missing(given)
        return self.configure(**given)
