"""Run a round policy step by step: the current round, and what every unit's totals come to in it.

Like `policy_runner`, for several units: without clock or files. `draw_order` draws what is random in the settings.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from afterglow.errors import BadValue, OutOfTurn
from afterglow.policies.rounds import RoundPolicy
from afterglow.rng import uniform


def permutation(stream: int, size: int, first: int) -> list[int]:
    """A random order of 0 … size - 1, from the uniforms first, first + 1, … of a stream."""
    order = list(range(size))
    for place in range(size - 1, 0, -1):
        other = int(uniform(stream, first + place) * (place + 1))
        order[place], order[other] = order[other], order[place]
    return order


def draw_order(stream: int, units: int, arms: int) -> tuple[list[int], list[int]]:
    """Random orders of the units and of the arms."""
    return permutation(stream, units, 0), permutation(stream, arms, units)


@dataclass(slots=True)
class Round:
    """`steps` steps with an arm for every unit, of which `done` are played."""

    arms: list[int]
    steps: int
    split: int
    done: int
    heads: list[float]
    bodies: list[float]
    lost: list[int]  # 1 for a unit that is not counted in this round


@dataclass(slots=True)
class RoundRunner:
    """A round policy with its state: `current` is the round, `take` the totals of each of its steps."""

    policy: RoundPolicy[Any, Any]
    settings: Any
    state: Any
    arms: int
    units: int
    window: int
    regular: list[int] = field(default_factory=list)  # steps since each unit last left the plan
    round: Round | None = None  # None between two rounds

    def __post_init__(self) -> None:
        if not self.regular:
            self.regular = [self.window] * self.units

    def current(self, left: int) -> Round:
        """The current round; between rounds the policy's next one, cut to the `left` steps that remain."""
        if self.round is None:
            steps, split = self.checked(self.policy.next_round(self.settings, self.state))
            steps = min(steps, left)
            lost = [int(since < self.window - 1) for since in self.regular]
            zeros = [0.0] * self.units
            self.round = Round(list(self.state.arms), steps, min(split, steps), 0, zeros, list(zeros), lost)
        return self.round

    def checked(self, asked: tuple[int, int]) -> tuple[int, int]:
        """Check the round that a policy asks for."""
        steps, split = asked
        arms: list[object] = list(self.state.arms)
        named = len(arms) == self.units and all(isinstance(arm, int) and 0 <= arm < self.arms for arm in arms)
        whole = all(isinstance(part, int) for part in asked)
        if not named or not whole or not 0 <= split <= steps or steps < 1:
            raise BadValue(
                f"next_round of {self.policy.name} must return whole numbers (steps of at least 1, split from 0 to "
                f"steps) and put one arm below {self.arms} for each of {self.units} units into state.arms, got "
                f"({steps!r}, {split!r}) and {arms!r}",
                kind="bad-hold",
                field="policy",
            )
        return steps, split

    def take(self, totals: Sequence[float | None], outside: Sequence[int] = ()) -> Round | None:
        """Count a step: each unit's total, None if it is not known. `outside` are units that did not play their arm.

        The policy learns after the last step of a round, which is then returned.
        """
        now = self.round
        if now is None:
            raise OutOfTurn("totals belong to a round and none is open; ask for the current one first")
        for unit, total in enumerate(totals):
            self.regular[unit] = 0 if unit in outside else min(self.regular[unit] + 1, self.window)
            if total is None or unit in outside:
                now.lost[unit] = 1
            elif now.done < now.split:
                now.heads[unit] += total
            else:
                now.bodies[unit] += total
        now.done += 1
        if now.done < now.steps:
            return None
        self.round = None
        self.learn(now)
        return now

    def learn(self, played: Round) -> None:
        """Have the policy learn from a round that was played to its end."""
        body = played.steps - played.split
        known = [0 if lost else body for lost in played.lost]
        self.policy.learn(
            self.settings, self.state, played.steps, played.split, known, played.heads, played.bodies
        )  # fmt: skip
