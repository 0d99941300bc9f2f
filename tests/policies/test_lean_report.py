"""The intervals of lean-ucb: by hand, and how often they cover in stationary worlds."""

import math

import pytest

from afterglow.errors import BadValue
from afterglow.policies.lean.report import ENOUGH, report
from afterglow.policies.lean.state import BLOCK, Settings, State, degrees
from afterglow.policies.lean_ucb import policy
from support.worlds.stationary import World, play


def uniform(window: int) -> list[float]:
    return [1 / window] * window


def crafted() -> tuple[Settings, State]:
    """Two arms of 100 and 50 kept steps, means 0.5 and 0.4; blocks of 10 steps: 0.4, 0.5, 0.6 and 0.3, 0.5."""
    settings = policy.settings(2, 10, 1000)
    state = policy.start(settings)
    state.kept[:], state.sums[:] = [100, 50], [50.0, 20.0]
    state.batches[4:], state.batch_sums[4:], state.batch_squares[4:] = [3, 2], [1.5, 0.8], [0.77, 0.34]
    return settings, state


COVERED = [([0.5, 0.45], 8, 600, -1.0), ([0.5, 0.5, 0.5], 3, 400, -1.0), ([0.5, 0.47], 24, 1000, 0.1)]


@pytest.mark.parametrize(("means", "window", "horizon", "noise"), COVERED)
def test_fixed_intervals_cover_at_a_fixed_end(means: list[float], window: int, horizon: int, noise: float) -> None:
    """Claimed is 95 %; below 89 % of 600 lies one chance in a million."""
    hits = []
    for seed in range(600 // len(means)):
        settings = policy.settings(len(means), window, horizon)
        run = play(policy, settings, World(means, uniform(window), horizon, seed, noise), horizon)
        for mean, estimate in zip(means, report(settings, run.state), strict=True):
            assert estimate.fixed is not None
            hits.append(estimate.fixed[0] <= mean <= estimate.fixed[1])
    assert sum(hits) > 0.89 * len(hits)


@pytest.mark.parametrize(("means", "window", "horizon", "noise"), COVERED)
def test_anytime_intervals_cover_at_every_moment(means: list[float], window: int, horizon: int, noise: float) -> None:
    """Read after every piece: of all readings about 0.3 % miss, of the arms up to 7 % ever do."""
    readings, misses, ever = 0, 0, 0
    for seed in range(60):
        settings = policy.settings(len(means), window, horizon)
        missed = anytime_misses(settings, World(means, uniform(window), horizon, seed, noise))
        readings += sum(map(len, missed))
        misses += sum(map(sum, missed))
        ever += sum(map(any, missed))
    assert misses < 0.02 * readings
    assert ever < 0.2 * 60 * len(means)


def anytime_misses(settings: Settings, world: World) -> list[list[bool]]:
    """For each arm, whether its interval missed, after each piece that left one."""
    state = policy.start(settings)
    missed: list[list[bool]] = [[] for _ in world.means]
    while world.clock < settings.horizon:
        arm, steps, split = policy.next_hold(settings, state, [])
        steps = min(steps, settings.horizon - world.clock)
        totals = world.hold(arm, steps)
        policy.learn(settings, state, arm, steps, min(split, steps), sum(totals[:split]), sum(totals[split:]))
        for mean, estimate, misses in zip(world.means, report(settings, state), missed, strict=True):
            if estimate.anytime is not None:
                misses.append(not estimate.anytime[0] <= mean <= estimate.anytime[1])
    return missed


def test_report_by_hand() -> None:
    settings, state = crafted()
    first, second = report(settings, state)
    vr = 1.5 * 10 * (0.02 + 0.02) / 3
    radius = 3.182446305284263 * math.sqrt(vr / 100)  # t of 3 degrees
    assert first.fixed == pytest.approx((0.5 - radius, 0.5 + radius), rel=1e-12)
    assert (second.kept, second.mean) == (50, 0.4)
    factor = 3.182446305284263 / 1.959963984540054
    always = factor * math.sqrt(vr * (1 + 50 / 50) * (math.log(1 + 50 / 50) + 2 * math.log(20)) / 50)
    assert second.anytime == pytest.approx((0.4 - always, 0.4 + always), rel=1e-12)


def test_a_report_needs_enough_blocks_and_a_kept_step() -> None:
    settings, state = crafted()
    state.batches[4:] = [3, 1]
    assert degrees(settings, state, BLOCK) < ENOUGH
    assert [(e.kept, e.mean, e.fixed, e.anytime) for e in report(settings, state)] == [
        (100, 0.5, None, None), (50, 0.4, None, None),
    ]  # fmt: skip
    state.batches[4:], state.batch_sums[4:], state.batch_squares[4:] = [5, 0], [1.5, 0.0], [0.77, 0.0]
    state.kept[1], state.sums[1] = 0, 0.0
    known, unknown = report(settings, state)
    assert known.fixed is not None
    assert (unknown.kept, unknown.mean, unknown.fixed, unknown.anytime) == (0, None, None, None)
    with pytest.raises(BadValue, match="alpha must be a number above 0 and below 1, got 1"):
        report(settings, state, alpha=1)
