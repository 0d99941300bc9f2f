"""A running experiment that follows a randomised schedule: voids, gaps, pins, pauses, and the test at its end."""

from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from afterglow import Agent, live
from afterglow.cli.app import call
from afterglow.lab.schedule import schedule
from afterglow.live.domain import commands
from afterglow.live.domain.commands import Event
from afterglow.live.domain.log import read_body
from afterglow.live.domain.replay import Replay, StepSet
from afterglow.live.domain.schedule_test import schedule_test
from afterglow.live.domain.spec import Spec, specify
from afterglow.live.domain.state import Phase, Role, restored
from afterglow.live.domain.status import status
from afterglow.live.domain.transitions import apply
from support.live import Live

NAMES = ["A", "B", "C"]
pytestmark = pytest.mark.filterwarnings("ignore::afterglow.errors.AfterglowWarning")


def spec_of(horizon: int, window: int = 3, variants: int = 2, **settings: object) -> Spec:
    return specify("tested", NAMES[:variants], window, horizon, policy="switchback", seed=5, **settings)


def run(live: Live, steps: int, total: float = 0.5) -> None:
    for _ in range(steps):
        live.close(total + 0.1 * live.state.served)


def blocks_of(live: Live) -> tuple[int, int]:
    """Blocks that count, and void steps."""
    test = schedule_test(live.spec, live.state)
    assert test is not None
    return test.blocks, test.void_steps


def test_it_serves_and_tests_as_an_agent_does() -> None:
    live = Live(spec_of(160, 3, 3, until=130, reward_max=2.0))
    agent = Agent(NAMES, 3, 160, "switchback", seed=5, until=130, reward_max=2.0)
    random = Random(3)
    while not agent.finished:
        assert schedule_test(live.spec, live.state) is None or agent.step >= 120
        variant = agent.select()
        assert live.spec.variants[live.state.served] == variant
        total = round(0.7 + random.random() + (variant == "B"), 6)
        live.close(total)
        agent.update(total)
    found = schedule_test(live.spec, live.state)
    assert found is not None
    assert found.p == agent.test().p
    assert found.pairs[0].difference == pytest.approx(agent.test().pairs[0].difference)
    assert found.better("B") is not None


def test_a_void_step_lengthens_its_turn_and_is_counted() -> None:
    live = Live(spec_of(110))
    run(live, 4)
    live.void(3, 3)
    run(live, 110 - 4)
    assert blocks_of(live) == (10, 1)
    assert restored(live.spec, live.state.text()).text() == live.state.text()


def test_steps_that_nobody_asked_for_lengthen_a_turn() -> None:
    live = Live(spec_of(110))
    run(live, 4)
    live.happen([Event("missed", {"first": 4, "count": 2})])
    run(live, 104)
    assert blocks_of(live)[0] == 10  # the turn went on after a wash-out


@pytest.mark.parametrize("command", ["pin", "pause"])
def test_a_pin_or_a_pause_within_a_turn_leaves_its_block_out(command: str) -> None:
    live = Live(spec_of(125))
    run(live, 13)  # the third step of the second block
    other = NAMES[1 - live.state.served]
    if command == "pin":
        live.happen(commands.pin(live.spec, live.state, other, "a test"))
    else:
        live.happen(commands.pause(live.spec, live.state, "a test"))
    run(live, 3)
    if command == "pin":
        live.happen(commands.unpin(live.spec, live.state, "a test"))
    else:
        live.happen(commands.resume(live.spec, live.state, "a test"))
    while live.state.phase is not Phase.OVER:
        run(live, 1)
    test = schedule_test(live.spec, live.state)
    assert test is not None
    assert test.left_out >= 1
    holding = live.state.plan.holding
    assert holding is not None
    assert min(holding.state.counts[2:4]) < 3
    assert all(count == 3 for count in holding.state.counts[4:20])


def test_a_pin_to_the_variant_in_play_breaks_nothing() -> None:
    live = Live(spec_of(100))
    run(live, 2)
    live.happen(commands.pin(live.spec, live.state, NAMES[live.state.served], "a test"))
    run(live, 2)
    live.happen(commands.unpin(live.spec, live.state, "a test"))
    run(live, 96)
    assert blocks_of(live) == (10, 0)


def test_a_step_that_is_voided_after_its_turn_leaves_the_schedule_as_it_was() -> None:
    live = Live(spec_of(100))
    run(live, 40)
    served = [turn.variant for turn in schedule(["A", "B"], 3, 100, seed=5)]
    live.void(13, 13)  # counted, in the second block
    live.void(20, 21)  # the washout of a turn in the third
    while live.state.phase is not Phase.OVER:
        assert live.spec.variants[live.state.served] == served[live.state.step // 5]
        run(live, 1)
    assert blocks_of(live) == (9, 3)


def test_stopping_early_and_a_shadow_have_no_test() -> None:
    live = Live(spec_of(100))
    run(live, 60)
    live.happen(commands.stop(live.spec, live.state, commands.Reported(0, 0), "enough"))
    assert schedule_test(live.spec, live.state) is None
    shadow = Live(spec_of(100, shadow=True))
    run(shadow, 100)
    assert schedule_test(shadow.spec, shadow.state) is None


def test_to_disable_a_variant_starts_a_new_schedule_with_the_steps_left() -> None:
    live = Live(spec_of(400, variants=3, until=300))
    run(live, 31)
    live.happen(commands.disable(live.spec, live.state, "B", "a test"))
    run(live, 1)
    assert live.state.plan.arms == [0, 2]
    holding = live.state.plan.holding
    assert holding is not None
    assert holding.settings.blocks == (300 - 32) // 10
    while live.state.phase is not Phase.OVER:
        run(live, 1)
    test = schedule_test(live.spec, live.state)
    assert test is not None
    assert set(test.means) == {"A", "C"}
    assert (test.blocks, test.left_out) == (26, 0)


@dataclass
class Turn:
    """A turn of the plain model: steps that keep their place, and those of them that don't count."""

    steps: list[int] = field(default_factory=list)
    gone: set[int] = field(default_factory=set)
    broken: bool = False


class Model:
    """The schedule by its rules: turns in order, longer by voids and gaps, broken by other variants."""

    def __init__(self, turns: int, length: int, washout: int) -> None:
        self.turns = [Turn() for _ in range(turns)]
        self.length, self.washout, self.wait, self.now = length, washout, 0, 0
        self.totals: dict[int, float] = {}

    def close(self, step: int, total: float, role: Role) -> None:
        if role is Role.OUTSIDE:
            self.leave(other=True)
        elif self.wait:
            self.wait -= 1
        elif self.now < len(self.turns):
            self.totals[step] = total
            self.turns[self.now].steps.append(step)
            self.now += len(self.turns[self.now].steps) == self.length

    def leave(self, other: bool) -> None:
        self.wait = self.washout
        if other and self.now < len(self.turns) and self.turns[self.now].steps:
            self.turns[self.now].broken = True
            self.now += 1

    def void(self, step: int, early: bool) -> None:
        for turn in self.turns:
            if step in turn.steps:
                if early:
                    turn.steps.remove(step)
                else:
                    turn.gone.add(step)

    def mean(self, turn: Turn) -> float | None:
        counted = [step for step in turn.steps[self.washout :] if step not in turn.gone]
        if turn.broken or len(counted) < self.length - self.washout:
            return None
        return sum(self.totals[step] for step in counted) / len(counted)


@pytest.mark.parametrize("seed", range(12))
def test_random_operations_follow_the_rules_and_the_log_says_so(seed: int) -> None:
    random = Random(seed)
    variants, window = random.choice([2, 3]), random.choice([1, 3, 4])
    spec = spec_of(160, window, variants)
    live = Live(spec)
    names = NAMES[:variants]
    turns = schedule(names, window, 160, seed=5)
    model = Model(len(turns), turns[0].steps, window - 1)
    while live.state.phase is not Phase.OVER:
        step, what = live.state.step, random.random()
        if what < 0.03:
            live.happen(commands.pin(spec, live.state, random.choice(names), "a test"))
        elif what < 0.08:
            live.happen(commands.unpin(spec, live.state, "a test"))
        elif what < 0.09:
            model.leave(other=live.state.role is Role.OUTSIDE)
            live.happen([Event("missed", {"first": step, "count": 1})])
        elif what < 0.13 and step > 3:
            first = random.randint(max(0, step - 30), step - 1)
            known = any(first in turn.steps and first not in turn.gone for turn in model.turns)
            if known:
                early = commands.in_current_hold(live.state, range(first, first + 1))
                live.void(first, first)
                model.void(first, early)
        else:
            total = round(random.random(), 6)
            if model.now < len(turns):
                assert names[live.state.planned] == turns[model.now].variant
            model.close(step, total, live.state.role)
            live.close(total)
    test = schedule_test(spec, live.state)
    means = [model.mean(turn) for turn in model.turns]
    rows = []
    for block in range(len(turns) // variants):
        place = range(block * variants, (block + 1) * variants)
        row = {turns[turn].variant: means[turn] for turn in place}
        if all(mean is not None for mean in row.values()):
            rows.append([row[name] for name in names])
    holding = live.state.plan.holding
    assert holding is not None
    assert holding.policy.test is not None
    found = holding.policy.test(holding.settings, holding.state)
    assert [list(row) for row in found.rows] == [pytest.approx(row) for row in rows]
    assert (test is None) == (not rows)
    replayed = Live(spec)
    for kind, body in live.events[len(replayed.events) :]:
        apply(spec, replayed.state, kind, read_body(body))
    assert replayed.state.text() == live.state.text() == restored(spec, live.state.text()).text()
    again = Replay(spec, StepSet(live.gone), StepSet(live.early))
    for kind, body in live.events:
        again.take(kind, read_body(body))
    assert again.plan.values()["state"] == live.state.plan.values()["state"]


def test_status_and_verdict_carry_the_test() -> None:
    live = Live(spec_of(100))
    run(live, 95)
    assert status(live.spec, live.state).test is None
    assert status(live.spec, live.state).verdict.p is None
    run(live, 5)
    now = status(live.spec, live.state)
    assert now.test is not None
    assert now.test.p == 2 / 2**10
    assert (now.status, now.leader, now.verdict.p) == ("tested", "B", 2 / 2**10)
    assert now.verdict.sentence == "B is better than A: p = 0.002, by re-drawing the schedule."


def test_a_file_with_voids_pins_and_late_voids_is_verified_and_its_copy_says_the_same(tmp_path: Path) -> None:
    path, copy = str(tmp_path / "one.db"), str(tmp_path / "copy.db")
    with live.open(path) as experiments:
        one = experiments.create("shop", ["A", "B"], window=3, horizon=120, policy="switchback", seed=4)
        for step in range(120):
            one.close_step(0.4 + 0.1 * (one.decision().variant == "B") + 0.01 * (step % 3))
            if step == 12:
                one.void(12, reason="an outage")
            if step == 31:
                one.pin("A" if one.decision().variant == "B" else "B", reason="a sale")
            if step == 34:
                one.unpin(reason="a sale")
            if step == 70:
                one.void(44, last=46, reason="found later")
        found = one.status().test
        assert found is not None
        assert (found.blocks, found.left_out, found.void_steps) == (9, 3, 4)
        assert one.status().status == "tested"
    assert call(["verify", path]) == 0
    assert call(["backup", path, copy]) == 0
    with live.open(copy) as experiments:
        assert experiments.get("shop").status().test == found
