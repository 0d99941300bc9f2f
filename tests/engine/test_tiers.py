"""Three tiers, one law."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from afterglow.engine.outcome import Outcome
from afterglow.engine.simulate import log_marks, simulate
from afterglow.errors import BadValue
from afterglow.policies.policy import Policy
from afterglow.worlds.world import World
from support.worlds.everything import DYADIC, LAWS, SPREADS, WHOLE_DELAYS, called, every_policy, needed

pytestmark = pytest.mark.filterwarnings("ignore::afterglow.errors.AfterglowWarning")
HOLD_POLICIES = [policy for policy in every_policy() if not policy.every_step]
Numbers = np.ndarray[Any, np.dtype[np.float64]]
BERNOULLI = [0.5, 0.75, 0.6]


def same(one: Outcome, other: Outcome) -> bool:
    """Bit for bit the same runs."""
    names = ("regrets", "seen", "pending", "generated", "holds", "switches", "pulls", "curves", "shares")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


@pytest.mark.parametrize("policy", HOLD_POLICIES, ids=called)
@pytest.mark.parametrize("window", [1, 8, 16])
def test_hold_equals_step_bit_for_bit_on_dyadic_kernels_and_whole_delays(policy: Policy[Any, Any], window: int) -> None:
    for spread in DYADIC:
        if spread.startswith("kernel") and window < 3:
            continue
        world = World.of(BERNOULLI, window, spread)
        one, other = (
            simulate(policy, world, 6_000, 4, 11, needed(policy, window), tier, checkpoints=[10, 999, 6_000])
            for tier in ("step", "hold")
        )
        assert same(one, other), spread


def two_thirds_late(reward: float, arm: int, best: int, age: int, draws: Any, parts: Any) -> None:
    """A user's spread: some at once, the rest at one late lag that depends on the arm and the age of the run."""
    parts[0] = reward / 3
    parts[1 + (arm + age) % (len(parts) - 1)] = 2 * reward / 3


def in_law(one: Numbers, other: Numbers) -> float:
    """The chance of a difference this large if both have one law; equal atoms are told apart from rounding."""
    one, other = one.round(9), other.round(9)
    if set(one) | set(other) == set(one[:1]):
        return 1.0
    return float(stats.ks_2samp(one, other, method="asymp").pvalue)


# Sums of rewards are drawn alike for every policy: each law is tried with short, growing and learned holds.
EACH_LAW = ("phased-elimination", "thrift-ucb", "washout-ucb")


@pytest.mark.parametrize(
    ("law", "policy"),
    [(law, policy) for law in LAWS for policy in every_policy() if law == "bernoulli" or policy.name in EACH_LAW],
    ids=called,
)
def test_skip_has_the_law_of_step(law: str, policy: Policy[Any, Any]) -> None:
    runs = 200 if policy.every_step else 500
    spreads: list[Any] = [*SPREADS, two_thirds_late]
    for spread in spreads:
        world = World.of(LAWS[law], 5, spread)
        step = simulate(policy, world, 600, runs, 1, needed(policy, 5), "step")
        skip = simulate(policy, world, 600, runs, 2, needed(policy, 5), "skip")
        for column in ("regrets", "seen", "pending"):
            assert in_law(getattr(step, column), getattr(skip, column)) > 1e-7, (spread, column)


@pytest.mark.parametrize("tier", ["step", "hold", "skip"])
@pytest.mark.parametrize("spread", SPREADS)
def test_what_was_generated_is_seen_or_pending(tier: str, spread: str) -> None:
    for policy in every_policy():
        outcome = simulate(policy, World.of(BERNOULLI, 8, spread), 3_000, 5, 3, needed(policy, 8), tier)
        gap = np.abs(outcome.seen + outcome.pending - outcome.generated).max()
        assert gap == 0 if spread in WHOLE_DELAYS or policy.privileged else gap < 1e-8, policy.name
        assert (outcome.pending >= 0).all()
        assert (outcome.pending <= 7 + 1e-9).all()


def test_results_do_not_depend_on_the_number_of_threads_or_on_how_runs_are_shared() -> None:
    world = World.of(BERNOULLI, 10, "dirichlet")
    one = simulate("trim-ucb", world, 20_000, 37, 5, threads=1)
    assert same(one, simulate("trim-ucb", world, 20_000, 37, 5, threads=3))
    tail = simulate("trim-ucb", world, 20_000, 7, 5, first=30)
    assert np.array_equal(one.regrets[30:], tail.regrets)


@pytest.mark.parametrize("tier", ["step", "hold"])
def test_every_policy_of_a_seed_meets_the_same_rewards(tier: str) -> None:
    world = World.of([0.5, 0.5], 4, "uniform")
    runs = [simulate(policy, world, 700, 3, 9, needed(policy, 4), tier).generated for policy in every_policy()]
    assert all(np.array_equal(generated, runs[0]) for generated in runs)


def test_regret_curves_end_at_the_final_regret_and_interpolate_inside_a_hold() -> None:
    world = World.of([0.9, 0.4], 1, "immediate")
    outcome = simulate("phased-ucb", world, 1_000, 3, 1, {"hold": 400}, "step", checkpoints=[100, 400, 500, 1_000])
    assert outcome.curves[:, -1].tolist() == outcome.regrets.tolist()
    assert outcome.curves[0, :3].tolist() == [0.0, 0.0, 50.0]
    assert outcome.shares[0, :3].tolist() == [1.0, 1.0, 0.8]


def test_auto_takes_the_fastest_tier_that_fits() -> None:
    world = World.of(BERNOULLI, 4, "uniform")
    assert simulate("trim-ucb", world, 500, 1).engine == "skip"
    assert simulate("ucb1", world, 500, 1).engine == "step"


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"engine": "fast"}, "no engine named 'fast'; it is one of auto, step, hold, skip"),
        ({"runs": 0}, "runs must be a whole number of at least 1, got 0"),
        ({"horizon": 1e16}, "horizon must be at most 1e+15, got 1e+16"),
        ({"checkpoints": [5, 3]}, "checkpoints must increase and lie within the horizon of 500, got [5, 3]"),
        ({"threads": 0}, "threads must be a whole number of at least 1, got 0"),
    ],
)
def test_a_wrong_call_is_refused_with_a_sentence(wrong: dict[str, Any], sentence: str) -> None:
    call: dict[str, Any] = {
        "policy": "trim-ucb",
        "world": World.of([0.5, 0.6], 3, "uniform"),
        "horizon": 500,
        "runs": 2,
    } | wrong
    with pytest.raises(BadValue) as refusal:
        simulate(**call)
    assert sentence in str(refusal.value)


def test_long_horizons_and_phased_elimination_cost_no_more_holds() -> None:
    world = World.of([0.9, 0.8, 0.7], 10, "uniform")
    holds = [simulate("phased-elimination", world, horizon, 5).holds.max() for horizon in (1e6, 1e9, 1e12)]
    assert max(holds) < 100


def test_checkpoints_may_be_a_number_and_an_outcome_prints_one_line() -> None:
    world = World.of([0.9, 0.5], 4)
    found = simulate("ucb1", world, 1000, 5, checkpoints=4)
    assert found.checkpoints.tolist() == log_marks(1000, 4)
    assert repr(found).startswith("<Outcome: ucb1, 1,000 steps, 5 runs, regret ")
    with pytest.raises(BadValue, match="checkpoints must be at most 100,000"):
        simulate("ucb1", world, 1000, 5, checkpoints=10**17)
