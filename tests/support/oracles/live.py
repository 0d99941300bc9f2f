"""A running experiment as its guide describes it, written to be plain: everything is worked out from lists."""

import warnings
from dataclasses import dataclass, field
from typing import Any

from afterglow.errors import AfterglowWarning, BadValue
from afterglow.policies.registry import named
from afterglow.rng import POLICY, key, uniform


@dataclass
class Closed:
    """A step that is over."""

    served: int
    planned: int
    role: str
    total: int
    void: bool
    counts: bool = False  # for the policy, unless it is void
    aside: bool = False  # another variant is planned for it since earlier steps were taken back


@dataclass
class Life:
    """A plan, from its first step on."""

    since: int
    number: int
    choice: list[int]
    best: int
    shadow: bool
    begun: dict[int, int] = field(default_factory=dict)  # holds so far when steps were taken back, by the step in hand


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
    profile: tuple[float, ...] = ()
    typical: float | None = None
    trust: float = 1.0
    phase: int = 0  # of the profile at step 0
    expected: dict[int, int] = field(default_factory=dict)  # micro-units, of all steps that something was told of
    closed: list[Closed] = field(default_factory=list)
    disabled: set[int] = field(default_factory=set)
    pinned: int | None = None
    paused: bool = False
    over: bool = False
    kept: int = 0
    plans: int = 0
    spoilt: bool = False  # the step in hand belongs to a plan that is gone
    astray: bool = False  # another variant is planned for the step in hand since earlier steps were taken back
    lives: list[Life] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.new_plan(0, self.control)
        self.open()

    # The plan

    def new_plan(self, step: int, best: int) -> None:
        choice = [arm for arm in range(self.arms) if arm not in self.disabled]
        self.lives.append(Life(step, self.plans, choice, best, self.shadow))
        self.begin(self.lives[-1])

    def begin(self, life: Life) -> None:
        self.life = life
        self.choice, self.best = life.choice, life.best
        self.hold: tuple[int, int, int] | None = None
        self.counted = dict[int, int]()  # step: total, of the hold in hand
        self.frozen = set[int]()  # steps of it that are final
        self.lost = set[int]()  # void steps of it that keep their place
        self.heard = life.since  # the first step that the policy was not told of, if it follows a season
        self.begun = self.learned = 0
        self.stream = key(self.seed, life.number, POLICY)
        self.playing = False
        if len(self.choice) > 1:
            try:
                left = None if self.horizon is None else self.horizon - life.since
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", AfterglowWarning)
                    self.settings = named(self.policy).settings(len(self.choice), self.window, left, self.options)
                self.state = named(self.policy).start(self.settings)
                self.playing = True
            except BadValue:
                pass

    def planned_now(self) -> int:
        step = len(self.closed)
        if not self.playing:
            return self.best
        if self.hold is None:
            self.pass_over(step, -1)
            arm, steps, split = self.asked(self.begun)
            if self.horizon is not None:
                steps = min(steps, self.horizon - step)
            self.hold = arm, steps, min(split, steps)
            self.begun += 1
        return self.choice[self.hold[0]]

    def asked(self, number: int) -> tuple[int, int, int]:
        """The hold of that number."""
        policy = named(self.policy)
        reads = policy.reads(len(self.choice))
        draws = [uniform(self.stream, number * reads + j) for j in range(reads)]
        return policy.next_hold(self.settings, self.state, draws)

    @property
    def timed(self) -> bool:
        return named(self.policy).skip is not None

    def pass_over(self, step: int, arm: int) -> None:
        """Tell a policy that follows a season of the steps before this one."""
        skip = named(self.policy).skip
        if skip is not None and self.playing and step > self.heard:
            skip(self.settings, self.state, arm, step - self.heard)
            self.heard = step

    def learn(self) -> None:
        if self.hold is None:
            return
        arm, _, split = self.hold
        self.pass_over(self.heard + len(self.lost), arm)
        self.heard += len(self.counted)
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
        self.lost.clear()

    # Steps

    def safe(self) -> int:
        return min(
            (arm for arm in range(self.arms) if arm not in self.disabled), key=lambda arm: (arm != self.control, arm)
        )

    def washing(self) -> bool:
        """Whether fewer than window - 1 steps were played since the last one outside the plan."""
        outside = [step for step, one in enumerate(self.closed) if one.role in ("outside", "missed") or one.aside]
        return bool(outside) and len(self.closed) - outside[-1] - 1 < self.window - 1

    def open(self) -> None:
        self.planned = self.planned_now()
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
        role = self.role_now()
        self.closed.append(
            Closed(self.served, self.planned, role, total, void, role in ("plan", "shadow"), self.astray)
        )
        self.spoilt = self.astray = False
        self.tell(self.closed[-1])
        if len(self.closed) == self.horizon:
            self.end(None)
        else:
            self.open()

    def role_now(self) -> str:
        """Of the step in hand."""
        return "outside" if self.spoilt else "washout" if self.astray else self.role

    def tell(self, one: Closed) -> None:
        """Tell the plan of the step that was closed last."""
        step = len(self.closed) - 1
        if one.role in ("outside", "missed") or one.aside:
            self.interrupt()
        elif one.counts and self.hold is not None:
            if self.timed and not self.counted and not self.lost and step > self.heard:
                self.pass_over(step - (self.window - 1), -1)
                self.pass_over(step, self.hold[0])  # the wash-out
                self.hold = self.hold[0], self.asked(self.begun - 1)[1], 0
            if not one.void:
                self.counted[step] = one.total - self.surplus(step)
            elif self.timed:
                self.lost.add(step)
            if len(self.counted) + len(self.lost) == self.hold[1]:
                self.learn()

    def interrupt(self) -> None:
        """The rest of the hold follows later, or never if the policy follows a season."""
        self.frozen |= set(self.counted)
        if self.timed and (self.counted or self.lost):
            self.learn()

    def told(self, step: int) -> int | None:
        """What was expected of a step, in micro-units."""
        if self.profile:
            return round(self.profile[(self.phase + step) % len(self.profile)] * 1_000_000)
        return self.expected.get(step)

    def surplus(self, step: int) -> int:
        """What the policy doesn't see of the total of a step."""
        told = self.told(step)
        usual = sum(self.profile) / len(self.profile) if self.profile else self.typical or 0.0
        return 0 if told is None else round(self.trust * (told - round(usual * 1_000_000)))

    def miss(self, steps: int) -> None:
        """Nobody was there."""
        self.interrupt()
        self.spoilt = self.astray = False
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
            return self.best
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
        if self.timed:
            self.lost.add(step)

    def replan(self, best: int) -> None:
        self.plans += 1
        self.spoilt = True
        self.new_plan(len(self.closed) + 1, best)

    # Steps that are taken back after they were learned

    def late_void(self, first: int, last: int) -> None:
        """Every plan plays its steps again, with the variants that were served and without what is void."""
        for one in self.closed[first : last + 1]:
            one.void = True
        played, before = self.closed, self.begun
        self.closed = []
        for life, until in zip(self.lives, [*(life.since for life in self.lives[1:]), len(played)], strict=True):
            self.begin(life)
            for one in played[life.since : until]:
                self.play_again(one)
        if self.over:
            self.learn()
            if len(played) == self.horizon and self.pinned is None:
                self.served = self.planned = self.recommended()
            return
        if not self.spoilt:
            planned = self.planned_now()
            self.begun = self.life.begun[len(played)] = max(self.begun, before)
            if self.role != "outside":
                self.astray = not self.life.shadow and self.served != planned
                if self.astray:
                    self.interrupt()
                self.role = "washout" if self.washing() else "shadow" if self.life.shadow else "plan"

    def play_again(self, one: Closed) -> None:
        planned = self.planned_now()
        self.begun = max(self.begun, self.life.begun.get(len(self.closed), 0))
        left = one.role in ("outside", "missed")
        one.aside = not left and not self.life.shadow and one.served != planned
        one.counts = not left and not one.aside and not self.washing()
        self.closed.append(one)
        self.tell(one)
