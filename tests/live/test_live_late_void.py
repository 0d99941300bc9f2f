"""Steps that are taken back after they were learned: the experiment goes on as if it had never seen their totals."""

from random import Random
from typing import Any

import pytest

from afterglow.live import orders
from afterglow.live.events import apply
from afterglow.live.log import body_of, read_body
from afterglow.live.orders import Event, Reported
from afterglow.live.replay import Replay, Steps
from afterglow.live.spec import Spec, specify
from afterglow.live.state import Phase, State, initial, restored
from live_by_the_text import Reference

POLICIES: dict[str, dict[str, Any]] = {
    "trim-ucb": {}, "leak-ucb": {}, "ucb1": {}, "composite-exp3": {}, "washout-ucb": {}, "phased-ucb": {"hold": 3},
}  # fmt: skip


class Live:
    """An experiment without a disk: its state, and the events that led to it."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.state: State = initial(spec)
        self.events: list[tuple[str, str]] = []  # as they are stored
        self.gone: list[range] = []
        self.happen([Event("create", {}), orders.start(spec, self.state, 0)])

    def happen(self, events: list[Event]) -> None:
        for kind, body in events:
            self.events.append((kind, body_of(body)))
            apply(self.spec, self.state, kind, body)

    def close(self, total: float) -> None:
        self.happen([orders.close(self.spec, self.state, total, Reported(0, 0))])

    def void(self, first: int, last: int) -> None:
        steps = orders.span(self.spec, self.state, first, last)
        self.gone.append(steps)
        if orders.in_hand(self.state, steps):
            self.happen(orders.void(self.spec, self.state, first, "a test"))
            return
        replay = Replay(self.spec, Steps(self.gone))
        for kind, body in self.events:
            replay.take(kind, read_body(body))
        self.happen([orders.revise(steps, "a test", replay.follows())])


class Both:
    """An experiment and the plain model of it, under the same random operations."""

    def __init__(self, policy: str, seed: int) -> None:
        self.random = Random(f"{policy} {seed}")
        window, horizon, shadow = self.random.randint(1, 4), self.random.choice([40, 90]), self.random.random() < 0.1
        control, options = self.random.randrange(3), POLICIES[policy]
        self.live = Live(
            specify(
                "tested", ["A", "B", "C"], window, horizon, policy=policy, seed=seed, control="ABC"[control],
                shadow=shadow, **options,
            )
        )  # fmt: skip
        self.model = Reference(3, window, horizon, 1.0, policy, options, seed, control, shadow, False)

    def go_on(self) -> None:
        what = self.random.random()
        if what < 0.12 and self.model.closed:
            self.void()
        elif self.model.over or what < 0.2:
            self.order()
        elif what < 0.23:
            self.live.happen([Event("missed", {"first": self.live.state.step, "count": 1})])
            self.model.miss(1)
        else:
            total = self.random.choice([0, 0, 200_000, 900_000, 1_000_000])
            self.live.close(total / 1e6)
            self.model.close(total, False)

    def void(self) -> None:
        newest = len(self.model.closed) - 1
        first = self.random.randint(max(0, newest - 25), newest)
        last = min(newest, first + self.random.choice([0, 0, 1, 5]))
        if all(one.void for one in self.model.closed[first : last + 1]):
            return
        self.live.void(first, last)
        if first == last and first in self.model.voidable():
            self.model.void(first)
        else:
            self.model.late_void(first, last)

    def order(self) -> None:
        live, model, arm = self.live, self.model, self.random.randrange(3)
        spec, state, what = live.spec, live.state, self.random.random()
        if model.over or arm in model.disabled:
            return
        if what < 0.3:
            live.happen(orders.pin(spec, state, "ABC"[arm], "a test"))
            model.pinned = arm
        elif what < 0.8:
            live.happen(orders.unpin(spec, state, "a test"))
            model.pinned = None
        elif arm != model.pinned and not model.disabled:
            live.happen(orders.disable(spec, state, "ABC"[arm], "a test"))
            model.disabled.add(arm)
            means = [state.books.mean(one) if state.books.tallies[one].pulls else 0.0 for one in range(3)]
            others = [one for one in range(3) if one != arm]
            known = [tally.pulls > 0 for tally in state.books.tallies]
            model.replan(max(others, key=lambda one: (known[one], means[one], one == model.control)))

    def agree(self) -> None:
        state, model = self.live.state, self.model
        counted = sum(one.counts and not one.void for one in model.closed)
        assert (state.phase is Phase.OVER, state.step) == (model.over, len(model.closed))
        assert (state.served, state.planned) == (model.served, model.planned)
        assert (state.learned, state.excluded) == (counted, len(model.closed) - counted)
        if model.over:
            return
        assert state.role == model.role_now()
        hold, holding = state.plan.hold, state.plan.holding
        assert (holding is None) == (not model.playing)
        if holding is not None:
            assert holding.opened == model.begun
            assert holding.state == model.state
            assert (hold and (hold.arm, hold.steps, hold.split)) == model.hold
            assert sorted(hold.totals if hold else []) == sorted(model.counted.values())


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_every_policy_goes_on_as_the_plain_model_says(policy: str) -> None:
    for seed in range(12):
        both = Both(policy, seed)
        for _ in range(110):
            both.go_on()
            both.agree()
        text = both.live.state.text()
        assert restored(both.live.spec, text).text() == text
