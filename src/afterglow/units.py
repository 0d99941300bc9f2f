"""`Units`: select an arm for every unit, then update with the totals of the step.

    >>> from afterglow import Units
    >>> team = Units(arms=["A", "B"], units=["north", "south", "east"], window=4, horizon=200, seed=7)
    >>> plan = team.select()  # what each unit plays in this step
    >>> team.update({"north": 12.5, "south": 8.0})  # the total of east is not known
    >>> team
    <Units panel-elimination: 3 units, 2 arms, window 4, step 1 of 200>

A unit is what the totals of a step can be told apart by: a region, a store, a machine. Units run different arms at the
same time and are compared within the same steps, so what they share (demand, weather, a weekday) cancels. Three things
must hold. An arm in one unit must not change the totals of another. The window is the same in all units. An arm changes
a unit's totals by the same share of its level, on average over units. Totals may be any finite numbers.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from afterglow import records
from afterglow.checks import Name, any_seed, arm_names, is_number, number, whole
from afterglow.errors import AfterglowError, BadFormat, BadValue, HorizonReached, OutOfTurn, UnknownName, argument
from afterglow.estimation.panel import PanelEstimates, UnitsTest, panel_estimates, replayed_test
from afterglow.pictures import with_estimates
from afterglow.policies.panel.state import LEAST_LEVEL
from afterglow.policies.registry import known_options, merged_options, round_policy, round_version
from afterglow.policies.rounds import MOST_ARMS, MOST_UNITS, RoundPolicy
from afterglow.rng import ROUNDS, key
from afterglow.round_runner import Round, RoundRunner, draw_order

FORMAT, VERSION = "afterglow-units", 1
LARGEST = 1e100  # total or level, so that squares stay finite
ARGUMENTS = ("arms", "units", "window", "horizon", "seed", "run", "confidence")  # that are stored


class Units:
    """One experiment over several units: a policy that decides for all of them, and its state.

    `arms` are names or how many there are (2 to 20), `units` names (2 to 200). `window` is the number of steps over
    which one pull pays, including its own. `levels` are the units' mean totals of a step before the start, where they
    are known: they make the first stages more exact, and large units count more (between 1/4 and 4 times the mean).
    `season` makes slots whole cycles, for units whose cycles differ. What is random, which unit begins with which arm,
    is drawn from (`seed`, `run`), as in run number `run` of a simulation.
    """

    def __init__(
        self,
        arms: Iterable[Name] | int,
        units: Iterable[Name] | int,
        window: int,
        horizon: int,
        levels: Mapping[Any, float] | None = None,
        policy: str | RoundPolicy[Any, Any] = "panel-elimination",
        *,
        options: Mapping[str, Any] | None = None,
        seed: int = 1,
        run: int = 0,
        confidence: float = 0.95,
        **settings: Any,
    ) -> None:
        self.arms = few(arm_names(arms), "arms", MOST_ARMS)
        self.units = few(unit_names(units), "units", MOST_UNITS)
        self._places: dict[object, int] = {unit: place for place, unit in enumerate(self.units)}
        self.window = whole("window", window, 1, "1 = paid at once")
        self.horizon = whole("horizon", horizon, 1)
        self.levels = told_levels(self.units, levels)
        self.policy = round_policy(policy)
        self.seed, self.run = any_seed(seed), whole("run", run, 0)
        self.confidence = number("confidence", confidence, 0, 1)
        self.options = known_options(self.policy, merged_options(options, settings), (*ARGUMENTS, "levels"))
        self.settings = self._settings(key(self.seed, self.run, ROUNDS))
        self.step = 0
        state = self.policy.start(self.settings)
        for what, record in (("settings", self.settings), ("state", state)):
            records.plain(record, f"{what} of {self.policy.name}:")
        self._runner = RoundRunner(
            self.policy, self.settings, state, len(self.arms), len(self.units), self.window
        )  # fmt: skip
        self._selected = False
        self._played: list[Round] = []  # what the policy learned from, for the exact test
        self._outside = 0  # unit-steps that did not follow the plan
        self._missing = 0  # unit-steps without a total

    def _settings(self, stream: int) -> Any:
        """The settings with another draw of what is random."""
        order, labels = draw_order(stream, len(self.units), len(self.arms))
        levels = [self.levels[unit] for unit in self.units] if self.levels else []
        return self.policy.settings(
            len(self.arms), len(self.units), self.window, self.horizon, levels, order, labels, self.options
        )  # fmt: skip

    @property
    def finished(self) -> bool:
        """Whether all steps of the horizon are played."""
        return self.step == self.horizon

    @property
    def alarm(self) -> bool:
        """Whether the window was found too short: first slots after a change show the arm before."""
        return self.policy.alarmed(self.settings, self._runner.state)

    def select(self) -> dict[Name, Name]:
        """The arm of every unit in this step; the same until `update`."""
        self._refuse_after_horizon()
        current = self._runner.current(self.horizon - self.step)
        self._selected = True
        return {unit: self.arms[arm] for unit, arm in zip(self.units, current.arms, strict=True)}

    def update(self, totals: Mapping[Any, float | Decimal | None], outside: Iterable[Name] = ()) -> None:
        """End the step with the total of each unit; one that is left out, or None, is not known in this step.

        `outside` are the units that did not play the arm that `select` named: their totals are not counted until a
        window has passed. If anything is refused, nothing changes.
        """
        self._refuse_after_horizon()
        if not self._selected or self._runner.round is None:
            raise OutOfTurn(
                f"update() ends a step whose arms were asked for, step {self.step:,} has none; call select()"
            )
        if not isinstance(totals, Mapping):
            raise BadValue(f"{argument('totals')} must be a mapping from units to totals, got {totals!r}")
        found: list[float | None] = [None] * len(self.units)
        for unit, total in totals.items():
            found[self._place(unit, "totals")] = finite_total(unit, total)
        left_plan = sorted({self._place(unit, "outside") for unit in outside})
        self._outside += len(left_plan)
        self._missing += sum(value is None for place, value in enumerate(found) if place not in left_plan)
        played = self._runner.take(found, left_plan)
        if played is not None:
            self._played.append(played)
        self.step += 1
        self._selected = False

    def recommend(self) -> Name:
        """The arm recommended so far, for all units."""
        if not self._played:
            raise OutOfTurn("recommend() needs at least one slot, none is complete; call select() and update()")
        return self.arms[self.policy.recommend(self.settings, self._runner.state)]

    def estimates(self) -> PanelEstimates:
        """Each arm's difference to the best, as a share of a unit's level, with an ordinary interval for one look."""
        best = self.policy.recommend(self.settings, self._runner.state)
        return panel_estimates(self.policy, self.settings, self._runner.state, self.arms, best, self.confidence)

    def test(self, draws: int = 999) -> UnitsTest:
        """The exact test of "no arm changes any total", once, when all steps are played.

        Had no arm an effect, the totals would have been the same under every other draw of which unit begins with
        which arm. So the policy is replayed on the recorded totals with `draws` other draws, and the largest difference
        of two arms is compared. Valid for any noise, drift, spread and window.
        """
        draws = whole("draws", draws, 19)
        if not self.finished:
            left = self.horizon - self.step
            raise OutOfTurn(
                f"test() is one look at the end, {left:,} of {self.horizon:,} steps are left; play them first"
            )
        slots = [(played.steps, played.split, played.lost, played.heads, played.bodies) for played in self._played]
        state = self._runner.state
        found = replayed_test(self.policy, self._settings, slots, self.settings, state, self.seed, draws)
        return replace(found, missing=self._missing, outside=self._outside)

    def to_json(self) -> str:
        """The experiment as JSON, at any point; `from_json` continues with the same decisions."""
        runner, name = self._runner, self.policy.name
        values = {
            "format": FORMAT,
            "version": VERSION,
            "policy": {"name": name, "version": self.policy.version},
            **{argument_: getattr(self, argument_) for argument_ in ARGUMENTS},
            "levels": [self.levels[unit] for unit in self.units] if self.levels else None,
            "options": self.options,
            "state": records.plain(runner.state, f"state of {name}:"),
            "progress": {
                "step": self.step, "selected": int(self._selected), "regular": runner.regular,
                "outside": self._outside, "missing": self._missing,
            },
            "round": runner.round and records.plain(runner.round, "round:"),
            "played": [records.plain(played, "round:") for played in self._played],
        }  # fmt: skip
        return records.write(values)

    @classmethod
    def from_json(cls, text: str | bytes) -> "Units":
        """The experiment that `to_json` stored."""
        values = records.parse(text, FORMAT, VERSION)
        try:
            given = {argument_: values[argument_] for argument_ in ARGUMENTS}
            levels = values["levels"] and dict(zip(values["units"], values["levels"], strict=True))
            policy = round_version(values["policy"]["name"], values["policy"]["version"])
            if policy.version != values["policy"]["version"]:
                raise BadFormat(
                    f"the text was stored with version {values['policy']['version']} of {policy.name}, this is version "
                    f"{policy.version}, which decides otherwise; use the release that stored it"
                )
            made = cls(**given, levels=levels, policy=policy, options=values["options"])
            made._resume(values)
        except BadFormat:
            raise
        except (AfterglowError, LookupError, TypeError, ValueError) as error:
            raise BadFormat(
                f"the text doesn't make an experiment over units: {error}; it was stored by other code"
            ) from error
        return made

    def _resume(self, values: Mapping[str, Any]) -> None:
        """Restore the stored state."""
        runner, progress = self._runner, values["progress"]
        runner.state = records.like(runner.state, values["state"], f"state of {self.policy.name}")
        zeros = [0.0] * len(self.units)
        blank = Round([0] * len(self.units), 0, 0, 0, zeros, zeros, [0] * len(self.units))
        if values["round"] is not None:
            runner.round = records.like(blank, values["round"], "round")
        self._played = [records.like(blank, played, "round") for played in values["played"]]
        steps = sum(played.steps for played in self._played) + (runner.round.done if runner.round else 0)
        if progress["step"] != steps or progress["selected"] > (runner.round is not None):
            raise BadFormat(f"step {progress['step']:,} contradicts the rounds; the text was changed by hand")
        if len(progress["regular"]) != len(self.units):
            raise BadFormat(f"progress must have a number for each of {len(self.units)} units")
        runner.regular = [whole("regular", since, 0) for since in progress["regular"]]
        self._outside, self._missing = (
            whole("outside", progress["outside"], 0),
            whole("missing", progress["missing"], 0),
        )
        self.step, self._selected = steps, bool(progress["selected"])

    def _place(self, unit: object, field: str) -> int:
        """The place of a unit by its name."""
        try:
            place = self._places.get(unit)
        except TypeError:  # a list, say
            place = None
        if place is None:
            names = [str(name) for name in self.units]
            raise UnknownName("unit", str(unit), names, all_names(names), field=field)
        return place

    def _refuse_after_horizon(self) -> None:
        if self.finished:
            raise HorizonReached(f"all {self.horizon:,} steps are played; recommend() names the arm to keep")

    def __repr__(self) -> str:
        sizes = f"{len(self.units)} units, {len(self.arms)} arms, window {self.window:,}"
        return f"<Units {self.policy.name}: {sizes}, step {self.step:,} of {self.horizon:,}>"

    _repr_html_ = with_estimates


def few(names: tuple[Name, ...], what: str, most: int) -> tuple[Name, ...]:
    """Names, if they are not too many."""
    if len(names) > most:
        raise BadValue(f"{argument(what)} must be at most {most:,} where units are compared, got {len(names):,}")
    return names


def unit_names(units: object) -> tuple[Name, ...]:
    """Names of at least two units, all different; 0, 1, … if only their number is given."""
    return arm_names(units, "units")


def all_names(names: Sequence[str]) -> str:
    """The way out of an unknown name."""
    return f"the units are {', '.join(names[:12])}{', …' * (len(names) > 12)}"


def told_levels(units: Sequence[Name], levels: Mapping[Any, float] | None) -> dict[Name, float]:
    """The level of every unit, or none at all."""
    if levels is None:
        return {}
    if not isinstance(levels, Mapping):
        raise BadValue(f"{argument('levels')} must be a mapping from units to mean totals, got {levels!r}")
    for unit in levels:
        if unit not in units:
            names = [str(name) for name in units]
            raise UnknownName("unit", str(unit), names, all_names(names), field="levels")
    missing = [unit for unit in units if unit not in levels]
    if missing:
        raise BadValue(
            f"{argument('levels')} must have all units or be left out, {', '.join(map(str, missing[:5]))} "
            f"{'is' if len(missing) == 1 else 'are'} missing"
        )
    return {
        unit: number(f"{argument('levels')} of {unit}", levels[unit], LEAST_LEVEL, LARGEST, "its mean total")
        for unit in units
    }


def finite_total(unit: Name, total: object) -> float | None:
    """A unit's total as a float; None stays None."""
    if total is None:
        return None
    given = float(total) if isinstance(total, Decimal) and total.is_finite() else total
    if not is_number(given) or abs(given) > LARGEST:
        raise BadValue(
            f"{argument('totals')} must have finite numbers of at most {LARGEST:g}, got {total!r} for {unit!r}; leave "
            "a unit out whose total is not known"
        )
    return float(given)
