"""`Policy`: two dataclasses (settings, state) and functions, in plain Python.

A policy plays *holds*. `next_hold(settings, state, draws)` names an arm, a number of steps and a split;
after those steps `learn(settings, state, arm, steps, split, head, body)` receives two sums: `head`, the
totals seen in the first `split` steps of the hold, and `body`, those of the rest. The last hold may be
cut short by the horizon: `steps` and `split` are then what was played, not what was asked.

The fields of settings and state are `int`, `float`, `list[int]` or `list[float]`; a list keeps the length
it has after `start`. So the same source runs live, on lists, and compiled, on rows.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from afterglow.errors import BadValue
from afterglow.policies.block_means import BlockMeans
from afterglow.policies.configurable import Configurable
from afterglow.policies.contrasts import Contrasts
from afterglow.policies.index import Index

SettingsT = TypeVar("SettingsT")
StateT = TypeVar("StateT")

PLACE = ("arms", "window", "horizon")  # what an experiment gives


@dataclass(frozen=True)
class Policy(Configurable, Generic[SettingsT, StateT]):
    """One bandit algorithm.

    `configure` makes checked settings out of `arms`, `window`, `horizon` (those it names) and options;
    left out, it is the settings class itself. `recommend` names the arm to keep after the last step;
    left out, it is the arm played most. `evidence` says what the last decision rests on, for explanations.
    `test` returns the blocks of a randomised schedule, for an exact test. `contrasts` returns what a model of its own
    says of all arms, for verdicts; left out, they are compared by batches of washed steps. `index` returns the numbers
    by which arms are chosen, for explanations. `extend` returns the settings for a longer horizon, in the middle of an
    experiment; a policy that takes a horizon and has none can't be lengthened, because its schedule depends on it.
    `skip` tells a policy that follows a season of steps that it doesn't learn from: how many passed, and on which arm,
    -1 if on several or an unknown one. Such a policy learns what there is of a hold that is interrupted, and a void
    step keeps its place; without `skip` the rest of the hold follows later.
    """

    name: str
    Settings: type[SettingsT]
    State: type[StateT]
    start: Callable[[SettingsT], StateT]
    next_hold: Callable[[SettingsT, StateT, Sequence[float]], tuple[int, int, int]]
    learn: Callable[[SettingsT, StateT, int, int, int, float, float], None]
    configure: Callable[..., SettingsT] | None = None
    recommend: Callable[[SettingsT, StateT], int] | None = None
    draws: int | Callable[[int], int] = 0  # how many uniforms in [0, 1) next_hold reads; or how many for K arms
    every_step: bool = False  # asks for one-step holds, always or after each change of arm
    privileged: bool = False  # sees each pull's whole reward when its window closes; can't run live
    bounded: bool = False  # relies on rewards of at most 1: totals beyond what they allow mislead it
    adjustable: bool = False  # accepts totals less expected totals, which may be negative
    version: int = 1  # increases when decisions change; stored with experiments
    summary: str = ""
    guarantee: str = ""
    source: str = ""
    evidence: Callable[[SettingsT, StateT], str] | None = None
    unbroken: bool = False  # its schedule is fixed: a hold that is interrupted is learned cut short, not continued
    test: Callable[[SettingsT, StateT], BlockMeans] | None = None
    contrasts: Callable[[SettingsT, StateT], Contrasts | None] | None = None
    index: Callable[[SettingsT, StateT, Sequence[float]], Index] | None = None
    extend: Callable[[SettingsT, StateT, int], SettingsT] | None = None
    skip: Callable[[SettingsT, StateT, int, int], None] | None = None

    @property
    def extendable(self) -> bool:
        """Whether the horizon of a running experiment may be lengthened."""
        return self.extend is not None or "horizon" not in self.parameters()

    def reads(self, arms: int) -> int:
        """How many uniforms `next_hold` reads where there are that many arms."""
        count: object = self.draws(arms) if callable(self.draws) else self.draws
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            what = f"return a whole number of at least 0, got {count!r} for {arms} arms"
            what = what if callable(self.draws) else f"be a whole number of at least 0, got {count!r}"
            raise BadValue(
                f"draws of {self.name} must {what}",
                kind="bad-draws",
                field="policy",
            )
        return count

    def settings(
        self, arms: int, window: int, horizon: int | None = None, options: Mapping[str, Any] | None = None
    ) -> SettingsT:
        """Checked settings for one experiment."""
        given, known = dict(options or {}), self.parameters()
        for name in given:
            if name not in known or name in self.place:
                raise self.unknown(name)
        for name, value in zip(PLACE, (arms, window, horizon), strict=True):
            if name in known and value is not None:
                given[name] = value
        self.refuse_missing(given)
        return (self.configure or self.Settings)(**given)
