"""Run a policy step by step: the current hold and the two sums that the policy learns from.

Without clock or files; the only randomness is the stream whose key is given.
Hold number h of an experiment reads the uniforms h * draws, h * draws + 1, ... of that stream, as in a
simulation, so the same totals lead to the same decisions everywhere.
"""

from dataclasses import dataclass
from typing import Any

from afterglow.errors import BadValue, OutOfTurn
from afterglow.policies.index import Index
from afterglow.policies.policy import Policy
from afterglow.rng import uniform


@dataclass(slots=True)
class Hold:
    """`steps` steps on one arm, of which `done` are played."""

    arm: int
    steps: int
    split: int  # totals of the first `split` steps are summed in head, the rest in body
    done: int = 0
    head: float = 0.0
    body: float = 0.0


@dataclass(slots=True)
class PolicyRunner:
    """A policy with its state: `current` is the hold, `take` the total of each of its steps."""

    policy: Policy[Any, Any]
    settings: Any
    state: Any
    arms: int
    stream: int  # key of the policy's uniforms
    opened: int = 0  # holds begun so far
    hold: Hold | None = None  # None between two holds

    def current(self, left: int | None = None) -> Hold:
        """The current hold; between holds, the policy's next one, cut to the `left` steps that remain."""
        if self.hold is None:
            arm, steps, split = self.checked(self.policy.next_hold(self.settings, self.state, self.draws(self.opened)))
            if left is not None:
                steps = min(steps, left)
            self.hold = Hold(arm, steps, min(split, steps))
            self.opened += 1
        return self.hold

    def draws(self, hold: int) -> list[float]:
        """The uniforms that hold number `hold` reads."""
        reads = self.policy.reads(self.arms)
        return [uniform(self.stream, hold * reads + j) for j in range(reads)]

    def index(self) -> Index | None:
        """The numbers behind the latest hold, if the policy declares them."""
        if self.policy.index is None:
            return None
        return self.policy.index(self.settings, self.state, self.draws(max(0, self.opened - 1)))

    def checked(self, asked: tuple[int, int, int]) -> tuple[int, int, int]:
        """Check the hold that a policy asks for."""
        arm, steps, split = asked
        whole = all(isinstance(part, int) for part in asked)
        if not whole or not 0 <= arm < self.arms or not 0 <= split <= steps or steps < 1:
            raise BadValue(
                f"next_hold of {self.policy.name} must return whole numbers (arm below {self.arms}, "
                f"steps of at least 1, split from 0 to steps), got ({arm!r}, {steps!r}, {split!r})",
                kind="bad-hold",
                field="policy",
            )
        return arm, steps, split

    def take(self, total: float) -> None:
        """Count the total of one step; the policy learns after the hold's last."""
        hold = self.hold
        if hold is None:
            raise OutOfTurn("a total belongs to a hold and none is open; ask for the current one first")
        if hold.done < hold.split:
            hold.head += total
        else:
            hold.body += total
        hold.done += 1
        if hold.done == hold.steps:
            self.close()

    def close(self) -> None:
        """End the current hold: the policy learns from the steps played, if any."""
        hold, self.hold = self.hold, None
        if hold is not None and hold.done > 0:
            split = min(hold.split, hold.done)
            self.policy.learn(self.settings, self.state, hold.arm, hold.done, split, hold.head, hold.body)
