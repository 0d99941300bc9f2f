"""What every spread must keep, and what each one does."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterglow.engine.episode import Episode
from afterglow.engine.simulate import simulate
from afterglow.errors import BadValue
from afterglow.worlds.spreads import NAMES, spread
from afterglow.worlds.world import World
from support.worlds.everything import SPREADS


def arrivals(world: World, plays: list[int], seed: int = 1) -> tuple[list[float], list[float]]:
    """(totals seen, rewards generated) step by step."""
    episode, seen, generated = Episode(world, seed), [], []
    for arm in plays:
        before = episode.generated
        seen.append(episode.pull(arm))
        generated.append(episode.generated - before)
    return seen, generated


plays = st.lists(st.integers(0, 2), min_size=1, max_size=60)


@pytest.mark.parametrize("text", SPREADS)
@given(plays=plays, window=st.integers(3, 9), seed=st.integers(0, 10**6))
def test_reward_is_conserved_and_nothing_arrives_early_or_late(
    text: str, plays: list[int], window: int, seed: int
) -> None:
    world = World.of(["uniform", "beta:2,2", "0.5"], window, text)
    seen, generated = arrivals(world, plays + [0] * (window - 1), seed)
    arrived, made = np.cumsum(seen), np.cumsum(generated)
    assert (arrived <= made + 1e-9).all()  # not early
    settled = np.concatenate([np.zeros(window - 1), made])[: made.size]
    assert (arrived >= settled - 1e-9).all()  # not late: pulls of window - 1 steps ago have paid
    assert (np.array(seen) >= 0).all()
    again, _ = arrivals(world, plays + [0] * (window - 1), seed)
    assert again == seen


def ones(text: str, plays: list[int], window: int = 4, best: int = 0) -> list[float]:
    """Totals when arms bring (nearly) 1 at every pull, arm `best` a hair more."""
    rewards = [f"discrete:{1.0 if arm == best else 0.9999999}@1" for arm in range(3)]
    seen, _ = arrivals(World.of(rewards, window, text), plays)
    return [round(total, 5) for total in seen]


def test_each_spread_pays_when_it_says() -> None:
    once = [0, 0, 0, 0, 0]
    assert ones("immediate", once) == [1, 1, 1, 1, 1]
    assert ones("last", once) == [0, 0, 0, 1, 1]
    assert ones("uniform", once) == [0.25, 0.5, 0.75, 1, 1]
    assert ones("geometric:0.5", once) == [0.53333, 0.8, 0.93333, 1, 1]
    assert ones("kernel:1,0,3", once) == [0.25, 0.25, 1, 1, 1]
    assert ones("kernel:1/0,1/0,0,1", [0, 1, 2, 2, 2]) == [1, 0, 1, 0, 1]
    assert ones("handicap", [1, 2, 0, 1, 1, 1]) == [1, 1, 0, 1, 1, 2]


def test_hoard_pays_on_the_first_step_of_the_new_arm_or_at_the_deadline() -> None:
    assert ones("hoard", [0, 0, 1, 1, 1, 1]) == [0, 0, 2, 0, 0, 1]
    assert ones("hoard", [0, 0, 0, 0, 0, 1]) == [0, 0, 0, 1, 1, 3]


def test_chameleon_changes_with_the_age_of_the_run() -> None:
    assert ones("chameleon", [0] * 8) == [1, 1, 1, 0, 0, 0, 1, 1]
    assert ones("chameleon", [1] * 8) == [0, 0, 0, 2, 2, 2, 1, 1]


def test_a_window_of_one_pays_at_once_whatever_the_spread() -> None:
    for text in SPREADS:
        if not text.startswith("kernel"):
            seen, generated = arrivals(World.of([0.5, 0.6], 1, text), [0, 1, 0, 0, 1] * 4)
            assert seen == generated


@pytest.mark.parametrize(
    ("text", "law"),
    [
        ("delay:uniform", [0.25] * 4),
        ("delay:geometric:0.5", [8 / 15, 4 / 15, 2 / 15, 1 / 15]),
        ("delay:poisson:2", [1 / 6.33333, 2 / 6.33333, 2 / 6.33333, 1.33333 / 6.33333]),
    ],
)
def test_random_delays_follow_their_law(text: str, law: list[float]) -> None:
    counts = np.zeros(4)
    for run in range(800):
        episode = Episode(World.of(["discrete:1@1", "0"], 4, text), 7, run)
        seen = [episode.pull(0), *(episode.pull(1) for _ in range(3))]
        counts[np.argmax(seen)] += 1
    expected = 800 * np.array(law)
    assert ((counts - expected) ** 2 / expected).sum() < 31  # chi-square with 3 degrees: once in a million


def test_dirichlet_cuts_have_the_right_mean_and_variance() -> None:
    for alpha, variance in ((1.0, 3 / 80), (0.3, 3 / 16 / 2.2)):
        cuts = []
        for run in range(3_000):
            episode = Episode(World.of(["discrete:1@1", "0"], 4, f"dirichlet:{alpha}"), 3, run)
            cuts.append([episode.pull(0), *(episode.pull(1) for _ in range(3))])
        assert np.abs(np.mean(cuts, 0) - 0.25).max() < 5 * (variance / 3_000) ** 0.5
        assert np.var(cuts, 0) == pytest.approx([variance] * 4, rel=0.25)


def half_now(reward: float, arm: int, best: int, age: int, draws: Any, parts: Any) -> None:
    parts[0] = reward / 2
    parts[int(draws[0] * len(parts))] += reward / 2


def grudge(reward: float, arm: int, best: int, age: int, draws: Any, parts: Any, memory: Any) -> None:
    memory[arm] += 1
    parts[0 if memory[arm] < 5 else len(parts) - 1] = reward


def test_a_users_function_is_a_spread_in_every_tier() -> None:
    world = World.of([0.5, 0.75], 8, spread(half_now, draws=1))
    step, hold = (simulate("leak-ucb", world, 2_000, 5, 2, engine=tier) for tier in ("step", "hold"))
    assert np.array_equal(step.seen, hold.seen)
    assert np.abs(step.seen + step.pending - step.generated).max() < 1e-9


def test_a_spread_with_memory_sees_every_pull() -> None:
    world = World.of(["discrete:1@1", "discrete:0.5@1"], 3, spread(grudge, memory=2))
    assert arrivals(world, [0] * 8)[0] == [1, 1, 1, 1, 0, 0, 1, 1]
    assert simulate("leak-ucb", world, 100, 1).engine == "step"
    with pytest.raises(BadValue, match="engine skip can't run spread grudge: it keeps memory between pulls"):
        simulate("leak-ucb", world, 100, 1, engine="skip")


def loses(reward: float, arm: int, best: int, age: int, draws: Any, parts: Any) -> None:
    parts[0] = reward / 2


def test_a_users_function_that_loses_reward_is_caught() -> None:
    with pytest.raises(BadValue, match="parts must add up to the reward"):
        simulate("leak-ucb", World.of([0.5, 0.75], 3, loses), 100, 1)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("unifrom", "no spread named 'unifrom'; did you mean 'uniform'?"),
        ("uniform:3", "spread uniform takes no value, got 'uniform:3'"),
        ("geometric:0", "the numbers of spread geometric:0 must be above 0, got 0"),
        ("geometric", "spread geometric needs a number where it has ''"),
        ("geometric:x", "spread geometric:x needs a number where it has 'x'"),
        ("delay:gaussian", "no delay named 'gaussian'; delays are uniform, geometric:p, poisson:m"),
        ("delay:geometric:1", "the p of delay:geometric:1 must lie between 0 and 1"),
        ("kernel:0,0", "kernel:0,0 has no weight above 0"),
        ("kernel:1,1,1,1,1", "kernel:1,1,1,1,1 has 5 weights, the window is 4; make the window longer"),
        ("kernel:1/1/1", "kernel:1/1/1 has 3 rows of weights for 2 arms"),
        ("dirichlet:0", "the numbers of spread dirichlet:0 must be at least 0.01, got 0"),
    ],
)
def test_a_wrong_spread_is_refused_with_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(BadValue) as refusal:
        World.of([0.5, 0.6], 4, text)
    assert sentence in str(refusal.value)


def test_every_named_spread_is_tested_here() -> None:
    assert {name.split(":")[0] for name in NAMES} == {text.split(":")[0] for text in SPREADS}
