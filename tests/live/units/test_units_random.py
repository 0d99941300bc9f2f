"""Random lives of experiments with units, beside a model that computes every plan anew from the whole history."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

import afterglow
from support.oracles.live_units import Played, UnitsModel
from testbed.quick_disk import quick_folder

UNITS = ["north", "south", "east", "west", "far"]
LEVELS = [1200.0, 800.0, 400.0, 950.0, 100.0]
VARIANTS = ["A", "B", "C"]
WINDOW, HORIZON, MOMENTS = 3, 140, 110


class Life:
    """One experiment, its model, and what was commanded for the next step."""

    def __init__(self, seed: int, file: Path) -> None:
        self.random, self.file = Random(seed), file
        self.experiments = afterglow.live.open(file)
        levels = dict(zip(UNITS, LEVELS, strict=True))
        self.real = self.experiments.create(
            "regions", VARIANTS, WINDOW, HORIZON, units=UNITS, levels=levels, seed=seed + 1,
            guards={"complaints": {"at_most": "+900000%"}},  # which nothing exceeds
        )  # fmt: skip
        experiment = self.real
        self.model = UnitsModel(len(UNITS), len(VARIANTS), WINDOW, HORIZON, experiment.spec.seed, LEVELS)
        self.model.arms = list(range(len(VARIANTS)))
        self.pins = [-1] * len(UNITS)
        self.paused = False
        self.off: int | None = None  # the disabled variant
        self.complaints = list[list[int]]()
        self.broken = set[tuple[int, int]]()  # steps and units whose variant was replaced within the step
        self.open()

    def open(self) -> None:
        """A step begins: compare what is planned and served."""
        planned, control = self.model.planned(), 0 if self.off != 0 else 1
        base = [control if self.paused else arm for arm in planned]
        self.served = [pin if pin >= 0 else arm for pin, arm in zip(self.pins, base, strict=True)]
        self.away = [self.paused or one != plan for one, plan in zip(self.served, planned, strict=True)]
        self.spoiled = [False] * len(UNITS)
        found = [self.real.decision(unit) for unit in UNITS]
        assert [VARIANTS.index(one.planned) for one in found] == planned
        self.check_served()
        assert [one.role == "outside" for one in found] == self.away

    def check_served(self) -> None:
        assert [VARIANTS.index(self.real.current(unit)) for unit in UNITS] == self.served

    # What happens

    def close(self) -> None:
        totals = [round(level * self.random.gauss(1, 0.2), 2) for level in LEVELS]
        silent = self.random.randrange(len(UNITS)) if self.random.random() < 0.3 else -1
        told = {unit: total for number, (unit, total) in enumerate(zip(UNITS, totals, strict=True)) if number != silent}
        if self.random.random() < 0.3:  # rewards instead of totals, for one unit in two parts
            told.pop("west", None)
            totals[3] = 500.5
            self.real.rewards([("a" + str(self.step()), 300.25, None, None, "west")])
            self.real.reward(200.25, "b" + str(self.step()), unit="west")
            silent = -1 if silent == 3 else silent
        self.complaints.append([self.random.randrange(9) for _ in UNITS])
        complaints: dict[str, float | None] = dict(zip(UNITS, self.complaints[-1], strict=True))
        if self.random.random() < 0.3:
            self.real.reward(complaints.pop("south") or 0, metric="complaints", unit="south")
        self.real.close_step(told, metrics={"complaints": complaints})
        self.broken |= {(self.step(), unit) for unit, spoiled in enumerate(self.spoiled) if spoiled}
        void = [number == silent or spoiled for number, spoiled in enumerate(self.spoiled)]
        totals = [0.0 if number == silent else total for number, total in enumerate(totals)]
        away = [away or spoiled for away, spoiled in zip(self.away, self.spoiled, strict=True)]
        self.model.played.append(Played(self.served, away, totals, void))
        self.open()

    def step(self) -> int:
        return len(self.model.played)

    def unit(self) -> tuple[str | None, range]:
        """One of the units, or all."""
        place = self.random.randrange(-1, len(UNITS))
        return (None, range(len(UNITS))) if place < 0 else (UNITS[place], range(place, place + 1))

    def pin(self) -> None:
        unit, places = self.unit()
        arm = self.random.choice([arm for arm in range(len(VARIANTS)) if arm != self.off])
        self.real.pin(VARIANTS[arm], "random", unit=unit)
        for place in places:
            self.pins[place] = arm

    def unpin(self) -> None:
        unit, places = self.unit()
        self.real.unpin("random", unit=unit)
        for place in places:
            self.pins[place] = -1

    def pause(self) -> None:
        self.paused = not self.paused
        (self.real.pause if self.paused else self.real.resume)("random")

    def void(self) -> None:
        if not self.model.played:
            return
        unit, places = self.unit()
        first = self.random.randrange(self.step())
        last = min(self.step() - 1, first + self.random.choice([0, 0, 1, 5]))
        self.real.void(first, "random", last, unit=unit)
        for step in range(first, last + 1):
            for place in places:
                self.model.played[step].void[place] = True
        # the current step keeps its variants: whether they are as planned is now another question
        planned = self.model.planned() if self.model.begins <= self.step() else None
        if planned is not None:
            self.away = [a or one != plan for a, one, plan in zip(self.away, self.served, planned, strict=True)]

    def disable(self) -> None:
        if self.step() > HORIZON - 20:
            return
        if self.off is not None:
            self.real.enable(VARIANTS[self.off], "random")
            self.off = None
        else:
            free = [arm for arm in range(len(VARIANTS)) if arm not in self.pins]
            if not free:
                return
            self.off = self.random.choice(free)
            self.real.disable(VARIANTS[self.off], "random")
        self.restart()

    def emergency(self) -> None:
        if self.off is not None or self.step() > HORIZON - 20:
            return
        self.off = self.random.randrange(len(VARIANTS))
        self.real.emergency(VARIANTS[self.off], "random")
        control = 0 if self.off != 0 else 1
        self.pins = [-1 if pin == self.off else pin for pin in self.pins]
        self.spoiled = [old or one == self.off for old, one in zip(self.spoiled, self.served, strict=True)]
        self.served = [control if one == self.off else one for one in self.served]
        self.check_served()
        self.restart()

    def reopen(self) -> None:
        """The process ends, and another one goes on with a copy of the database."""
        again = self.file.with_suffix(f".{self.random.random()}.db")
        self.experiments.backup(again)
        self.experiments.close()
        self.file, self.experiments = again, afterglow.live.open(again)
        self.real = self.experiments["regions"]
        self.check_served()

    def restart(self) -> None:
        self.model.restart([arm for arm in range(len(VARIANTS)) if arm != self.off])
        self.away = [True] * len(UNITS)

    def run(self) -> None:
        actions: list[Callable[[], None]] = [self.close] * 12 + [self.pin, self.unpin, self.pause] + [self.void] * 2
        actions += [self.disable, self.emergency, self.reopen]
        for _ in range(MOMENTS):
            self.random.choice(actions)()
        self.check()
        self.experiments.close()

    def check(self) -> None:
        shown = self.real.steps(0, self.step())
        for number, one in enumerate(shown):
            step, unit = self.model.played[number // len(UNITS)], number % len(UNITS)
            assert (one.step, one.unit) == (number // len(UNITS), UNITS[unit])
            assert (one.variant, one.total, one.void) == (
                VARIANTS[step.served[unit]], step.totals[unit], step.void[unit],
            )  # fmt: skip
            assert one.metrics == {"complaints": self.complaints[one.step][unit]}
        self.check_guarded()
        assert self.real.verify().ok
        if self.model.begins <= self.step() and self.real.status().recommended is not None:
            team = self.model.team()
            assert self.real.recommend() == VARIANTS[self.model.arms[int(team.recommend())]]
            mine, its = (
                [(one.difference, one.low, one.unit_steps) for one in found]
                for found in (self.real.differences(), team.estimates())
            )
            assert repr(mine) == repr(its)  # to the bit; nan is nan

    def check_guarded(self) -> None:
        """Guards count the steps of the plan that are not void, from the last of a window on one variant on."""
        expected = dict[tuple[int, int], list[int]]()
        rows = self.real.steps(0, self.step())
        for number, row in enumerate(rows):
            unit, last = number % len(UNITS), rows[number % len(UNITS) : number + 1 : len(UNITS)][-WINDOW:]
            alike = len(last) == WINDOW and {one.variant for one in last} == {row.variant}
            whole = not any((one.step, unit) in self.broken for one in last)
            if row.role == "plan" and not row.void and alike and whole:
                found = expected.setdefault((unit, VARIANTS.index(row.variant)), [0, 0])
                found[0] += 1
                found[1] += self.complaints[row.step][unit] * 10**6
        record = self.real._cache.copy.state.guarded
        record.fold(self.step())
        counted = dict[tuple[int, int], list[int]]()
        for block in record.blocks:
            for unit, arm in enumerate(block.arms):
                if arm >= 0:
                    found = counted.setdefault((unit, arm), [0, 0])
                    found[0] += block.steps[unit]
                    found[1] += block.totals[0][unit]
        assert counted == expected


@pytest.mark.parametrize("seed", range(16))
def test_an_experiment_with_units_plans_as_its_whole_history_says(seed: int) -> None:
    with quick_folder() as folder:
        Life(seed, Path(folder) / "e.db").run()
