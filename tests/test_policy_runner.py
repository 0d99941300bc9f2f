"""A policy played step by step."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from afterglow import rng
from afterglow.errors import BadValue, OutOfTurn
from afterglow.policies.policy import Policy
from afterglow.policy_runner import Hold, PolicyRunner

STREAM = rng.key(7, 0, rng.POLICY)


@dataclass(frozen=True)
class Settings:
    arm: int = 1
    steps: int = 5
    split: int = 2


@dataclass
class State:
    told: list[tuple[int, int, int, float, float]] = field(default_factory=list)
    drawn: list[list[float]] = field(default_factory=list)


def next_hold(settings: Settings, state: State, draws: Sequence[float]) -> tuple[int, int, int]:
    state.drawn.append(list(draws))
    return settings.arm, settings.steps, settings.split


def learn(settings: Settings, state: State, arm: int, steps: int, split: int, head: float, body: float) -> None:
    state.told.append((arm, steps, split, head, body))


def play(settings: Settings | None = None, draws: int = 0) -> PolicyRunner:
    policy = Policy("recorder", Settings, State, lambda settings: State(), next_hold, learn, draws=draws)
    settings = settings or Settings()
    return PolicyRunner(policy, settings, policy.start(settings), arms=2, stream=STREAM)


def test_the_policy_learns_head_and_body_after_the_last_step_and_not_before() -> None:
    holding = play()
    for total in (1.0, 2.0, 4.0, 8.0):
        holding.current()
        holding.take(total)
    assert holding.state.told == []
    holding.take(16.0)
    assert holding.state.told == [(1, 5, 2, 3.0, 28.0)]
    assert holding.hold is None


def test_asking_again_gives_the_same_hold() -> None:
    holding = play(draws=1)
    assert holding.current() is holding.current()
    assert len(holding.state.drawn) == holding.opened == 1


@pytest.mark.parametrize(("left", "hold"), [(9, Hold(1, 5, 2)), (3, Hold(1, 3, 2)), (1, Hold(1, 1, 1))])
def test_a_hold_is_cut_to_the_steps_left_and_its_split_with_it(left: int, hold: Hold) -> None:
    assert play().current(left) == hold


def test_a_closed_hold_is_learned_as_far_as_it_was_played() -> None:
    holding = play()
    holding.current()
    holding.take(0.5)
    holding.close()
    assert holding.state.told == [(1, 1, 1, 0.5, 0.0)]


def test_closing_an_unplayed_hold_teaches_nothing() -> None:
    holding = play()
    holding.close()
    holding.current()
    holding.close()
    assert holding.state.told == []
    assert holding.hold is None


def test_hold_h_reads_its_own_stretch_of_the_policy_stream() -> None:
    holding = play(Settings(steps=1, split=0), draws=3)
    for _ in range(4):
        holding.current()
        holding.take(0.0)
    flat = [u for draws in holding.state.drawn for u in draws]
    assert flat == [rng.uniform(STREAM, t) for t in range(12)]


def test_a_total_without_a_hold_is_refused() -> None:
    with pytest.raises(OutOfTurn, match="none is open"):
        play().take(1.0)


@pytest.mark.parametrize("asked", [(2, 5, 0), (-1, 5, 0), (0, 0, 0), (0, 5, 6), (0, 5, -1), (0, 2.5, 0), (0.0, 5, 0)])
def test_a_hold_that_cannot_be_played_is_refused_with_its_numbers(asked: tuple[int, int, int]) -> None:
    holding = play(Settings(*asked))
    with pytest.raises(BadValue, match="next_hold of recorder must return whole numbers") as refusal:
        holding.current()
    assert str(asked) in str(refusal.value)
    assert holding.hold is None
