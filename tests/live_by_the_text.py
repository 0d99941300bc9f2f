"""A running experiment as its guide describes it, written to be plain: everything is worked out from lists."""

import warnings
from dataclasses import dataclass, field
from typing import Any

from afterglow.counter import POLICY, key, uniform
from afterglow.errors import AfterglowWarning, BadValue
from afterglow.policies.registry import named


@dataclass
class Closed:
    """A step that is over."""

    served: int
    planned: int
    role: str
    total: int
    void: bool


@dataclass
class Reference:
    arms: int
    window: int
    horizon: int | None
    reward_max: float
    policy: str
    options: dict[str, Any]
    seed: int
    control: int
    shadow: bool
    heartbeat: bool
    closed: list[Closed] = field(default_factory=list)
    disabled: set[int] = field(default_factory=set)
    pinned: int | None = None
    paused: bool = False
    over: bool = False
    kept: int = 0
    plans: int = 0
    spoilt: bool = False  # the step in hand belongs to a plan that is gone

    def __post_init__(self) -> None:
        self.new_plan(0)
        self.open()

    # The plan

    def new_plan(self, step: int) -> None:
        self.choice = [arm for arm in range(self.arms) if arm not in self.disabled]
        self.hold: tuple[int, int, int] | None = None
        self.counted = dict[int, int]()  # step: total, of the hold in hand
        self.frozen = set[int]()  # steps of it that are final
        self.begun = self.learned = 0
        self.stream = key(self.seed, self.plans, POLICY)
        self.playing = False
        if len(self.choice) > 1:
            try:
                left = None if self.horizon is None else self.horizon - step
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", AfterglowWarning)
                    self.settings = named(self.policy).settings(len(self.choice), self.window, left, self.options)
                self.state = named(self.policy).start(self.settings)
                self.playing = True
            except BadValue:
                pass

    def planned_now(self, best: int) -> int:
        policy, step = named(self.policy), len(self.closed)
        if not self.playing:
            return best
        if self.hold is None:
            draws = [uniform(self.stream, self.begun * policy.draws + j) for j in range(policy.draws)]
            arm, steps, split = policy.next_hold(self.settings, self.state, draws)
            if self.horizon is not None:
                steps = min(steps, self.horizon - step)
            self.hold = arm, steps, min(split, steps)
            self.begun += 1
        return self.choice[self.hold[0]]

    def learn(self) -> None:
        if self.hold is None:
            return
        arm, _, split = self.hold
        totals = [self.counted[step] for step in sorted(self.counted)]
        split = min(split, len(totals))
        if totals:
            unit = self.reward_max * 1_000_000
            head, body = sum(totals[:split]) / unit, sum(totals[split:]) / unit
            named(self.policy).learn(self.settings, self.state, arm, len(totals), split, head, body)
            self.learned += 1
        self.hold = None
        self.counted.clear()
        self.frozen.clear()

    # Steps

    def safe(self) -> int:
        return min(
            (arm for arm in range(self.arms) if arm not in self.disabled), key=lambda arm: (arm != self.control, arm)
        )

    def washing(self) -> bool:
        """Whether fewer than window - 1 steps were played since the last one outside the plan."""
        outside = [step for step, one in enumerate(self.closed) if one.role in ("outside", "missed")]
        return bool(outside) and len(self.closed) - outside[-1] - 1 < self.window - 1

    def open(self) -> None:
        self.planned = self.planned_now(self.best if self.plans else self.control)
        base = self.safe() if self.shadow else self.planned
        if self.pinned is not None:
            self.served = self.pinned
        else:
            self.served = self.safe() if self.paused else base
        if self.paused or self.served != base:
            self.role = "outside"
        else:
            self.role = "washout" if self.washing() else "shadow" if self.shadow else "plan"

    def close(self, total: int, void: bool) -> None:
        step, role = len(self.closed), "outside" if self.spoilt else self.role
        self.closed.append(Closed(self.served, self.planned, role, total, void))
        self.spoilt = False
        if role == "outside":
            self.frozen |= set(self.counted)
        elif role in ("plan", "shadow") and self.hold is not None:
            if not void:
                self.counted[step] = total
            if len(self.counted) == self.hold[1]:
                self.learn()
        if len(self.closed) == self.horizon:
            self.end(None)
        else:
            self.open()

    def miss(self, steps: int) -> None:
        """Nobody was there."""
        self.frozen |= set(self.counted)
        self.spoilt = False
        self.closed += [Closed(self.served, self.planned, "missed", 0, True) for _ in range(steps)]
        if len(self.closed) == self.horizon:
            self.end(None)
        else:
            self.open()

    def end(self, keep: int | None) -> None:
        self.learn()
        self.over = True
        if keep is None:
            keep = self.pinned if self.pinned is not None else self.recommended()
        self.served = self.planned = keep

    def recommended(self) -> int:
        policy = named(self.policy)
        if self.shadow:
            return self.served
        if not self.playing:
            return self.planned if not self.plans else self.best
        if policy.recommend is not None and self.learned:
            return self.choice[policy.recommend(self.settings, self.state)]
        pulls = [
            sum(one.served == arm and one.role not in ("outside", "missed") for one in self.closed)
            for arm in range(self.arms)
        ]
        return max(self.choice, key=lambda arm: (pulls[arm], -arm))

    # Orders

    def voidable(self) -> list[int]:
        return sorted(set(self.counted) - self.frozen)

    def void(self, step: int) -> None:
        del self.counted[step]
        self.closed[step].void = True

    def replan(self, best: int) -> None:
        self.plans += 1
        self.best = best
        self.spoilt = True
        self.new_plan(len(self.closed) + 1)
