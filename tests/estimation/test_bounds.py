"""What pooled totals prove about each arm."""

import math
from random import Random

import pytest

from afterglow.estimation.bounds import Bounds, Tally
from afterglow.policies.terms import kl
from support.worlds.pooled import SPREADS, PooledWorld

MEANS = [0.8, 0.5, 0.1]
LENGTHS = {"steps": (1, 1), "shorter than the window": (1, 7), "mixed": (1, 40), "long": (60, 120)}


def arms_at_random(lengths: tuple[int, int], steps: int, seed: int) -> list[int]:
    """Which arm is played in each step: runs of random arms and lengths."""
    random = Random(seed)
    plan: list[int] = []
    while len(plan) < steps:
        plan += [random.randrange(len(MEANS))] * random.randint(*lengths)
    return plan[:steps]


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
@pytest.mark.parametrize("window", [1, 2, 8])
def test_the_claims_hold_on_every_path(spread: str, lengths: tuple[int, int], window: int) -> None:
    world = PooledWorld(MEANS, window, spread, seed=window)
    ledger = Bounds(len(MEANS), window, 0.95)
    rewards: list[list[float]] = [[] for _ in MEANS]
    for arm in arms_at_random(lengths, 400, seed=window):
        ledger.record(arm, world.pull(arm))
        rewards[arm].append(world.rewards[-1][1])
        for other, brought in enumerate(rewards):
            history, run = ledger.claims(other)
            assert history[0] == len(brought)
            for pulls, least, settled, most, _ in (history, run):
                of_claim = brought[len(brought) - pulls :]
                assert sum(of_claim) >= least - 1e-9
                assert sum(of_claim[: max(settled, 0)]) <= most + 1e-9


def test_the_claims_are_tight() -> None:
    """Each of the two can be reached: what entered and what left is really taken into account."""
    window, ledger = 4, Bounds(2, 4, 0.95)
    for arm, total in [(0, 0.0)] * 6 + [(1, 1.0)] * 3 + [(1, 0.0)] * 5:  # arm 0 paid its last 3 pulls late
        ledger.record(arm, total)
    (pulls, _, settled, most, _), _ = ledger.claims(0)
    assert (pulls, settled, most) == (6, 6, window - 1)
    (pulls, least, _, _, _), _ = ledger.claims(1)
    assert (pulls, least) == (8, 0.0)


def test_a_run_is_charged_for_later_steps_until_its_window_has_passed_and_no_longer() -> None:
    ledger = Bounds(2, 4, 0.95)
    for arm, total in [(0, 0.5)] * 10 + [(1, 0.25)] * 10:
        ledger.record(arm, total)
    assert ledger.tallies[0].tail == 0.75
    assert ledger.tallies[0].gap == 3
    assert ledger.owing == []


def test_an_arm_that_returns_early_is_not_charged_twice() -> None:
    ledger = Bounds(2, 4, 0.95)
    for arm, total in [(0, 0.5)] * 10 + [(1, 0.25)] + [(0, 0.5)] * 10:
        ledger.record(arm, total)
    (pulls, _, _, most, _), _ = ledger.claims(0)
    assert (pulls, most) == (20, 20 * 0.5 + 0.25)


def test_the_radius_holds_for_all_lengths_at_once_for_any_reward_in_the_unit_interval() -> None:
    """The mixture is at least exp(n kl) / (n + 1) for whole and broken sums alike: checked by integration."""
    points = [(i + 0.5) / 20_000 for i in range(20_000)]
    for n in (1, 2, 7, 40):
        for total in (0.0, 0.3, n / 3, n - 0.01, float(n)):
            mixture = sum(q**total * (1 - q) ** (n - total) for q in points) / len(points)
            mu = 0.37
            exact = mixture / (mu**total * (1 - mu) ** (n - total))
            assert exact >= math.exp(n * kl(total / n, mu)) / (n + 1) * (1 - 1e-6)


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
def test_intervals_contain_the_means_and_never_contradict_each_other_in_a_right_window(
    spread: str, lengths: tuple[int, int]
) -> None:
    for seed in range(4):
        world = PooledWorld(MEANS, 6, spread, seed)
        ledger = Bounds(len(MEANS), 6, 0.95)
        for step, arm in enumerate(arms_at_random(lengths, 1_000, seed)):
            ledger.record(arm, world.pull(arm))
            if step % 20 == 0:
                for other, mean in enumerate(MEANS):
                    low, high = ledger.interval(other)
                    assert low <= mean <= high


@pytest.mark.parametrize("spread", SPREADS)
def test_intervals_close_in_on_the_mean(spread: str) -> None:
    world = PooledWorld(MEANS, 6, spread, seed=1)
    ledger = Bounds(len(MEANS), 6, 0.95)
    for arm in [arm for run in (300, 3_000) for arm in range(len(MEANS)) for _ in range(run)]:
        ledger.record(arm, world.pull(arm))
    for arm, mean in enumerate(MEANS):
        low, high = ledger.interval(arm)
        assert low < mean < high < low + 0.14
        assert abs(ledger.mean(arm) - mean) < 0.05


@pytest.mark.parametrize("run", [100, 400])
@pytest.mark.parametrize("means", [[0.9, 0.1], [0.6, 0.4], [0.5, 0.5]], ids=str)
def test_a_window_much_too_short_is_found_out(run: int, means: list[float]) -> None:
    world = PooledWorld(means, 24, "last", seed=5)
    ledger = Bounds(2, 3, 0.95)
    torn = False
    for step in range(2_000):
        arm = step // run % 2
        ledger.record(arm, world.pull(arm))
    for arm in range(2):
        low, high = ledger.interval(arm)
        torn = torn or low > high
    assert torn


def test_an_arm_never_played_may_be_anything() -> None:
    ledger = Bounds(2, 4, 0.95)
    assert ledger.interval(1) == (0.0, 1.0)
    assert math.isnan(ledger.mean(1))


def test_the_mean_of_runs_within_the_window_is_that_of_all_totals() -> None:
    ledger = Bounds(2, 10, 0.95)
    for arm, total in [(0, 0.2), (1, 0.9), (0, 0.4)]:
        ledger.record(arm, total)
    assert ledger.mean(0) == pytest.approx(0.3)


def test_higher_confidence_gives_wider_intervals() -> None:
    ends = []
    for confidence in (0.5, 0.9, 0.999):
        ledger = Bounds(2, 2, confidence)
        for step in range(200):
            ledger.record(0, float(step % 2))
        low, high = ledger.interval(0)
        ends += [high - low]
    assert ends == sorted(ends)
    assert ends[0] < ends[-1]


def test_memory_does_not_grow_and_a_resumed_ledger_goes_on_alike() -> None:
    plan = arms_at_random((1, 12), 300, seed=3)
    world = PooledWorld(MEANS, 12, "delay", seed=3)
    totals = [world.pull(arm) for arm in plan]
    straight = Bounds(len(MEANS), 12, 0.95)
    chain = Bounds(len(MEANS), 12, 0.95)
    for arm, total in zip(plan, totals, strict=True):
        straight.record(arm, total)
        copies = [Tally(**{name: getattr(tally, name) for name in Tally.__slots__}) for tally in chain.tallies]
        resumed = Bounds(len(MEANS), 12, 0.95)
        resumed.resume(copies, chain.current, chain.look)
        resumed.record(arm, total)
        chain = resumed
        assert chain.tallies == straight.tallies
        assert chain.owing == straight.owing
        assert len(straight.owing) < len(MEANS)


@pytest.mark.parametrize("window", [1, 2, 8])
@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
def test_steps_that_are_recorded_together_are_those_recorded_one_by_one_to_the_bit(
    lengths: tuple[int, int], window: int
) -> None:
    random, one_by_one, together = Random(window), Bounds(3, window, 0.95), Bounds(3, window, 0.95)
    plan = arms_at_random(lengths, 400, seed=window)
    step = 0
    while step < len(plan):
        same = next((end for end in range(step, len(plan)) if plan[end] != plan[step]), len(plan))
        end = random.randint(step + 1, same)
        totals = [random.random() * window for _ in range(step, end)]
        adjusted = [total - 0.1 for total in totals]
        for total, other in zip(totals, adjusted, strict=True):
            one_by_one.record(plan[step], total, other)
        together.record_all(plan[step], totals, adjusted)
        assert together.tallies == one_by_one.tallies
        assert (together.look, together.owing) == (one_by_one.look, one_by_one.owing)
        assert together.batches.values() == one_by_one.batches.values()
        assert [together.interval(arm) for arm in range(3)] == [one_by_one.interval(arm) for arm in range(3)]
        step = end


def test_an_interval_is_computed_again_after_every_change_that_it_depends_on() -> None:
    kept, plan = Bounds(3, 3, 0.95), arms_at_random((1, 40), 300, seed=5)
    for step, arm in enumerate(plan):
        kept.record(arm, 0.5 * (step % 3))
        fresh = Bounds(3, 3, 0.95)
        fresh.resume(kept.tallies, kept.current, kept.look)
        assert [kept.interval(other) for other in range(3)] == [fresh.interval(other) for other in range(3)]
