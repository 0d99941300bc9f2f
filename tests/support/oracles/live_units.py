"""What an experiment with units must plan and show, computed anew from all that happened by `afterglow.Units`."""

from dataclasses import dataclass, field

from afterglow import Units


@dataclass
class Played:
    """A step that has ended: per unit what was served, whether it left the plan, its total, whether it is void."""

    served: list[int]
    away: list[bool]
    totals: list[float]
    void: list[bool]


@dataclass
class UnitsModel:
    """Every question replays the whole history since the policy began."""

    units: int
    variants: int
    window: int
    horizon: int
    seed: int
    levels: list[float]
    played: list[Played] = field(default_factory=list)
    begins: int = 0  # step from which the policy of now decides
    arms: list[int] = field(default_factory=list)
    restarts: int = 0

    def team(self) -> Units:
        made = Units(
            arms=len(self.arms), units=self.units, window=self.window, horizon=self.horizon - self.begins,
            levels=dict(enumerate(self.levels)), seed=self.seed, run=self.restarts,
        )  # fmt: skip
        if self.restarts:
            made._runner.regular = [0] * self.units
        for step in self.played[self.begins :]:
            planned = [self.arms[int(arm)] for arm in made.select().values()]
            outside = [unit for unit in range(self.units) if step.away[unit] or step.served[unit] != planned[unit]]
            known = {unit: step.totals[unit] for unit in range(self.units) if not step.void[unit]}
            made.update(known, outside)
        return made

    def planned(self) -> list[int]:
        """The variant of every unit in the current step."""
        return [self.arms[int(arm)] for arm in self.team().select().values()]

    def restart(self, arms: list[int]) -> None:
        """A command was given that starts the policy afresh, with the next step."""
        self.arms, self.begins, self.restarts = arms, len(self.played) + 1, self.restarts + 1
