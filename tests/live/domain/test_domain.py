"""The state of an experiment, without a disk: it can be written down at any time, and its estimates hold."""

import json
import warnings
from random import Random
from typing import Any

import pytest

from afterglow.errors import OutOfTurn
from afterglow.live.domain import commands
from afterglow.live.domain.commands import Event, Reported
from afterglow.live.domain.spec import Spec, read_spec, specify
from afterglow.live.domain.state import ExperimentState, Phase, Role, initial, restored
from afterglow.live.domain.status import explanation, status
from afterglow.live.domain.transitions import apply
from afterglow.live.domain.verdict import estimates
from afterglow.policies.registry import named, names
from support.worlds.pooled import SPREADS, PooledWorld

PLAYABLE = [name for name in names() if not named(name).privileged]


def make(**settings: Any) -> tuple[Spec, ExperimentState]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spec = specify("pure", ["A", "B", "C"], **settings)
    state = initial(spec)
    happen(spec, state, commands.start(spec, state, 0))
    return spec, state


def happen(spec: Spec, state: ExperimentState, events: list[Event]) -> None:
    for kind, body in events:
        apply(spec, state, kind, body)


def close(spec: Spec, state: ExperimentState, total: float | None) -> None:
    happen(spec, state, [commands.close(spec, state, total, Reported(0, 0))])


@pytest.mark.parametrize("policy", PLAYABLE)
@pytest.mark.parametrize("season", [1, 3])
def test_an_experiment_goes_on_from_what_was_written_down(policy: str, season: int) -> None:
    if season > 1 and named(policy).every_step:
        season = 1
    settings = {name: 1.0 for name in named(policy).needs() if name not in ("window", "horizon")}
    spec, state = make(window=4, horizon=400, policy=policy, seed=2, season=season, **settings)
    other, random = restored(spec, state.text()), Random(1)
    for step in range(400):
        if step % 9 == 4:
            text = other.text()
            other = restored(read_spec(spec.text()), text)
            assert other.text() == text
            json.loads(text)
        if step == 150:
            happen(spec, state, commands.disable(spec, state, "B", "a test"))
            happen(spec, other, commands.disable(spec, other, "B", "a test"))
        total = random.random()
        close(spec, state, total)
        close(spec, other, total)
        assert (other.served, other.role, other.step) == (state.served, state.role, state.step)
    assert other.text() == state.text()
    assert state.phase is Phase.OVER


def random_order(spec: Spec, state: ExperimentState, random: Random, totals: list[float]) -> list[Event]:
    """What operators do, some of it for the wrong reasons: steps with low totals are voided."""
    what = random.random()
    variant = random.choice(spec.variants)
    try:
        if what < 0.02:
            return commands.pin(spec, state, variant, "a test")
        if what < 0.05:
            return commands.unpin(spec, state, "a test")
        if what < 0.06:
            return commands.pause(spec, state, "a test")
        if what < 0.12:
            return commands.resume(spec, state, "a test")
        if what < 0.125:
            return commands.disable(spec, state, variant, "a test")
        if what < 0.13:
            return commands.enable(spec, state, variant, "a test")
        if totals[-1] < 0.2 and what < 0.4 and commands.in_current_hold(state, range(state.step - 1, state.step)):
            return commands.void(spec, state, state.step - 1, "too low for my liking")
    except OutOfTurn:
        pass
    return []


def close_wrong(spec: Spec, state: ExperimentState, random: Random, total: float) -> bool:
    """Close a step with a wrong total and void it, if its hold lets that be."""
    hold = state.plan.hold
    if state.role is not Role.PLAN or hold is None or len(hold.totals) + 1 >= hold.steps:
        return False
    close(spec, state, random.choice([0.0, min(4.0, 2 * total), 3.0]))
    happen(spec, state, commands.void(spec, state, state.step - 1, "the till was broken"))
    return True


def check_claims(state: ExperimentState, counted: list[list[float]]) -> None:
    """What the bounds say of an arm's pulls is true of the rewards that they brought."""
    for arm, rewards in enumerate(counted):
        pulls, least, settled, most, _ = state.bounds.claims(arm)[0]
        assert pulls == len(rewards)
        assert least - 1e-9 <= sum(rewards)
        assert sum(rewards[: max(0, settled)]) <= most + 1e-9


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("shadow", [False, True])
def test_the_means_lie_within_the_estimates_whatever_operators_do(spread: str, shadow: bool) -> None:
    """On every path the bounds are true; the means lie outside the bounds once in ten million cases."""
    spec, state = make(window=4, policy="leak-ucb", confidence=1 - 1e-7, heartbeat=True, shadow=shadow)
    world, random, totals = PooledWorld([0.7, 0.4, 0.55], 4, spread, 5), Random(spread), [1.0]
    counted: list[list[float]] = [[], [], []]  # rewards of the pulls that the bounds know of
    for step in range(1500):
        happen(spec, state, random_order(spec, state, random, totals))
        if shadow and step == 700:
            happen(spec, state, commands.go_live(spec, state, "a test"))
        if random.random() < 0.01:
            for _ in range(3):
                world.pull(random.randrange(3))
            happen(spec, state, [Event("missed", {"first": state.step, "count": 3})])
            continue
        totals.append(world.pull(state.served))
        if state.role is not Role.OUTSIDE:
            counted[state.served].append(world.rewards[-1][1])
        if random.random() > 0.04 or not close_wrong(spec, state, random, totals[-1]):
            close(spec, state, None if random.random() < 0.03 else totals[-1])
        check_claims(state, counted)
        if step % 10 == 0:
            for one, mean in zip(estimates(spec, state), world.means, strict=True):
                assert one.low <= mean <= one.high, f"step {step}: {one}"
    assert state.excluded > 100
    assert state.learned > 300


def test_a_step_alone_says_nothing_and_explains_itself() -> None:
    spec, state = make(window=4)
    shown = explanation(spec, state)
    assert (shown.variant, shown.role, shown.hold) == ("A", "plan", (0, 7))
    assert status(spec, state).status == "exploring"
    assert status(spec, state).leader is None


def test_a_policy_that_can_say_what_a_decision_rests_on_does_so_in_explanations() -> None:
    spec, state = make(window=4, horizon=150, policy="thrift-ucb")
    found = []
    while state.phase is not Phase.OVER:
        found.append(explanation(spec, state).why)
        close(spec, state, (0.4, 0.6, 0.2)[state.served])
    assert found[0] == "as planned; the plan rests on proved bounds"
    assert found[-1] == "as planned; the plan rests on ordinary statistics"


def test_what_is_over_and_not_proved_says_how_far_the_recommended_variant_is_ahead() -> None:
    spec, state = make(window=4, horizon=600, policy="lean-ucb", reward_max=100.0)
    random, world = Random(3), {"A": 20.0, "B": 26.0, "C": 20.0}
    assert status(spec, state).recommended is None
    assert status(spec, state).verdict.to_runner_up is None
    while state.phase is not Phase.OVER:
        close(spec, state, world[spec.variants[state.served]] + random.gauss(0, 4))
    end = status(spec, state)
    assert end.recommended == "B"
    row = end.verdict.to_runner_up
    assert row is not None
    assert row.arm == "B"
    assert (row.low or 0.0) < 6 < (row.high or 0.0)
    assert row.valid == "one look at the fixed end"


def test_a_disabled_variant_is_not_the_runner_up() -> None:
    spec, state = make(window=2, horizon=400, policy="lean-ucb")
    random, world = Random(3), {"A": 0.5, "B": 0.4, "C": 0.1}
    for step in range(400):
        if step == 300:
            happen(spec, state, commands.disable(spec, state, "B", "a test"))
        close(spec, state, world[spec.variants[state.served]] + random.uniform(0, 0.1))
    end = status(spec, state)
    assert end.recommended == "A"
    assert end.verdict.to_runner_up is not None
    assert end.verdict.to_runner_up.other == "C"
    assert "B" not in end.verdict.chances
