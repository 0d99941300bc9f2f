"""Random turns: slots, the regression against least squares with full dummies, shares, and what is refused."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from afterglow import Agent, World, simulate
from afterglow.errors import TOO_SHORT, BadValue
from afterglow.policies import random_turns
from afterglow.policies.random_turns import configure, learn, next_hold, policy, reach
from afterglow.policies.turns import fit, rows
from afterglow.policies.turns.fit import error
from afterglow.policies.turns.rows import GAIN
from afterglow.policies.turns.state import KINDS, MEMORY, Settings, State, slot_end, start
from afterglow.worlds.baseline import Baseline, Seasonal

DRAWS = np.random.default_rng(5).random(10_000)


def play(
    settings: Settings, slots: int, total: Callable[[int, int], float]
) -> tuple[State, list[tuple[int, int, float]]]:
    """The state after so many holds, and (arm, step, mean total) of each; `total` is given arm and step."""
    state, told = start(settings), []
    for number in range(slots):
        arm, steps, split = next_hold(settings, state, [DRAWS[number]])
        begin = state.clock
        sums = sum(total(arm, begin + step) for step in range(steps))
        told.append((arm, begin, sums / steps))
        learn(settings, state, arm, steps, split, 0.0, sums)
    return state, told


def test_slots_tile_the_season_and_turns_last_a_window_and_a_half() -> None:
    week = configure(3, 24, season=168)
    assert (week.slots, week.turn, week.season, week.back) == (42, 9, 168, 7)
    odd = configure(3, 18, season=7)
    assert (odd.slots, odd.turn) == (2, 8)
    assert [slot_end(odd, step) for step in range(8)] == [4, 4, 4, 4, 7, 7, 7, 11]
    longer = configure(2, 180, season=24)  # a sixth of a window is more than a season: slots of two
    assert (longer.season, longer.slots, longer.turn) == (48, 1, 6)
    assert configure(2, 1, season=10_000).slots == 10_000 // 60


def test_a_slot_fills_the_lags_of_a_window_with_the_arms_of_the_slots_before() -> None:
    for window, slot in ((24, 4), (24, 12), (6, 1), (10, 30)):
        half, back = -(-window // 2), 1 + -(-(window - 1) // slot)
        shares = reach(half, slot, 2, back)
        count = np.zeros((2, back))
        for step in range(slot):
            for lag in range(2 * half):
                count[lag // half, 0 if lag <= step else 1 + (lag - step - 1) // slot] += 1
        assert np.array(shares).reshape(2, back) == pytest.approx(count / (half * slot))
    assert reach(1, 1, 1, 1) == [1.0]


def test_the_order_of_turns_is_random_and_every_arm_has_its_turn() -> None:
    settings = configure(4, 6, season=24)
    _, told = play(settings, 9 * 4 * 5, lambda arm, step: 1.0)
    rounds = np.array([arm for arm, _, _ in told])[::9].reshape(5, 4)
    assert (np.sort(rounds, axis=1) == np.arange(4)).all()
    assert len({tuple(row) for row in rounds}) > 1


def rests(settings: Settings, told: list[tuple[int, int, float]], kind: int) -> np.ndarray:
    """Rows less level and season, of slots met before: initial level, every arm in both bins, total."""
    K, back = settings.arms, settings.back
    shares = np.array(settings.reach).reshape(2, back)
    level, means = np.zeros(2 * K + 2), np.zeros((settings.slots, 2 * K + 2))
    level[0], level[-1] = -1.0, told[back - 1][2]
    counts, made = [0] * settings.slots, []
    for place in range(back - 1, len(told)):
        row = np.zeros(2 * K + 2)
        for ago in range(back):
            for side in range(2):
                row[1 + side * K + told[place - ago][0]] += shares[side, ago]
        row[-1] = told[place][2]
        slot = told[place][1] % settings.season * settings.slots // settings.season
        off = row - level - means[slot]
        level = level + (1 - MEMORY[kind]) * (row - level)
        if counts[slot]:
            made.append(off * math.sqrt(min(counts[slot] / (counts[slot] + 1), 1 - GAIN / 2)))
        counts[slot] += 1
        means[slot] += off * max(1 / counts[slot], GAIN)
    return np.array(made)


def least_squares(settings: Settings, rows: np.ndarray) -> tuple[list[float], np.ndarray, float]:
    """Effects, their covariances but for the noise, and the squares left."""
    K = settings.arms
    arms = [1 + side * K + arm for side in range(2) for arm in range(1, K)]
    design = rows[:, [0, *arms]]
    found, _, _, _ = np.linalg.lstsq(design, rows[:, -1], rcond=None)
    left = rows[:, -1] - design @ found
    inverse = np.linalg.pinv(design.T @ design)
    add = np.zeros((K - 1, design.shape[1]))
    for arm in range(K - 1):
        add[arm, [1 + arm, K + arm]] = 1.0
    return [0.0, *(add @ found)], add @ inverse @ add.T, float(left @ left)


@pytest.fixture
def plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows count alike, whatever they are."""
    monkeypatch.setattr(rows, "FAR", 1e9)
    monkeypatch.setattr(rows, "FLOOR", 1.0)
    monkeypatch.setattr(rows, "PRIOR", 1e15)
    monkeypatch.setattr(rows, "SCALED", 0.0)
    monkeypatch.setattr(fit, "excess", lambda settings, state, kind: 1.0)


@pytest.mark.usefixtures("plainly")
@pytest.mark.parametrize("moving", [False, True])
def test_the_estimates_are_those_of_least_squares(moving: bool) -> None:
    settings, noise = configure(3, 8, season=24), np.random.default_rng(2)
    walk = np.cumsum(noise.normal(size=700)) * 0.3 * moving

    def total(arm: int, step: int) -> float:
        return 5 + math.sin(step / 4) + 0.3 * arm + noise.normal() + float(walk[step])

    state, told = play(settings, 300, total)
    fits = [least_squares(settings, rests(settings, told, kind)[1:]) for kind in range(KINDS)]  # the first has no scale
    best = min(range(len(fits)), key=lambda kind: fits[kind][2])
    effects, covariance, left = fits[best]
    assert state.kind == best
    assert state.freedom == 300 - settings.back + 1 - settings.slots - 1 - 4
    assert state.effects == pytest.approx(effects, rel=1e-6)
    wanted = math.sqrt(left / state.freedom * covariance[0, 0])
    assert error(settings, state, 1, 0) == pytest.approx(wanted, rel=1e-6)
    contrast = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    assert error(settings, state, 1, 2) == pytest.approx(math.sqrt(left / state.freedom * contrast), rel=1e-6)


def spread_of_errors(total: Callable[[np.random.Generator, int], float], runs: int = 12) -> float:
    """Root mean square of the difference of two equal arms, over runs."""
    settings, found = configure(2, 6, season=24), []
    for run in range(runs):
        noise = np.random.default_rng(run)
        state, _ = play(settings, 240, lambda arm, step, noise=noise: total(noise, step))  # type: ignore[misc]
        found.append(state.effects[1])
    return float(np.sqrt(np.mean(np.square(found))))


def test_quiet_hours_count_more_and_outliers_less(monkeypatch: pytest.MonkeyPatch) -> None:
    def uneven(noise: np.random.Generator, step: int) -> float:
        return 100 + (20.0 if step % 24 < 12 else 1.0) * noise.normal()

    def spiked(noise: np.random.Generator, step: int) -> float:
        return 100 + noise.normal() + (500.0 if noise.random() < 0.01 else 0.0)

    weighted, pulled_in = spread_of_errors(uneven), spread_of_errors(spiked)
    monkeypatch.setattr(rows, "FLOOR", 1.0)
    monkeypatch.setattr(rows, "PRIOR", 1e15)
    assert weighted < 0.8 * spread_of_errors(uneven)
    monkeypatch.setattr(rows, "FAR", 1e9)
    assert pulled_in < 0.5 * spread_of_errors(spiked)


def test_the_effect_of_an_arm_is_no_outlier() -> None:
    settings, noise = configure(2, 6, season=24), np.random.default_rng(6)
    state, _ = play(settings, 400, lambda arm, step: 100 + 100 * arm + noise.normal())
    assert state.effects[1] == pytest.approx(100, rel=0.15)
    assert state.pulls[1] > 0.8 * state.clock


def test_noise_that_outlasts_a_row_widens_the_errors() -> None:
    def widened(correlation: float) -> float:
        settings, noise, rest = configure(2, 12, season=24), np.random.default_rng(7), [0.0]

        def total(arm: int, step: int) -> float:
            rest[0] = correlation * rest[0] + math.sqrt(1 - correlation**2) * noise.normal()
            return 10 + rest[0] + 0.3 * noise.normal()

        state, _ = play(settings, 900, total)
        return fit.excess(settings, state, state.kind)

    assert widened(0.0) < 1.25
    assert widened(0.9) > 1.4


def test_reported_errors_are_by_the_scatter_of_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    settings, noise = configure(3, 8, season=24), np.random.default_rng(2)
    made: list[tuple[int, int, np.ndarray]] = []  # kind, turn and columns of a row, the last one what is left of it
    early: list[tuple[int, int, list[float]]] = []  # rows and freedom at the first estimate, excess of each kind
    add, estimate = rows.add_squares, fit.estimate

    def watched(settings: Settings, state: State, kind: int, share: float, relative: float) -> None:
        row = np.array(state.work)[:6]
        row[-1] -= row[:-1] @ np.array(state.slopes)[6 * kind : 6 * kind + 5]
        turn = (state.clock - 1) // 2 // settings.turn  # slots of two steps
        made.append((kind, turn, row * math.sqrt(share / relative)))
        add(settings, state, kind, share, relative)

    def estimated(settings: Settings, state: State) -> None:
        estimate(settings, state)
        if state.freedom > 0 and not early:
            early.append((len(made), state.freedom, [fit.excess(settings, state, kind) for kind in range(3)]))

    monkeypatch.setattr(rows, "add_squares", watched)
    monkeypatch.setattr(random_turns, "estimate", estimated)
    state, _ = play(settings, settings.turn * 60, lambda arm, step: 5 + 0.3 * arm + float(noise.normal()))
    ((count, freedom, excess),) = early
    first = np.array([row for kind, _, row in made[:count] if kind == state.kind])
    later = [(turn, row) for kind, turn, row in made[count:] if kind == state.kind]
    turns = sorted({turn for turn, _ in later})
    design = np.array([*first[:, :-1], *(row[:-1] for _, row in later)])
    sums = np.array([sum(row[:-1] * row[-1] for where, row in later if where == turn) for turn in turns])
    left = np.linalg.lstsq(first[:, :-1], first[:, -1], rcond=None)[1][0]
    model = left / freedom * excess[state.kind] * first[:, :-1].T @ first[:, :-1]
    inverse = np.linalg.inv(design.T @ design)
    add_up = np.array([[0, 1, 0, 1, 0], [0, 0, 1, 0, 1]])
    wanted = add_up @ inverse @ (model + sums.T @ sums) @ inverse @ add_up.T
    assert state.turns == len(turns) > 40
    assert np.array(state.robust).reshape(3, 3)[1:, 1:] == pytest.approx(wanted, rel=1e-6)
    found, plain = fit.contrasts(settings, state), np.array(state.errors)[4]
    assert found is not None
    mixed = (fit.SHRUNK * plain + state.turns * wanted[0, 0]) / (fit.SHRUNK + state.turns)
    more = (fit.UNEVEN * state.effects[1]) ** 2
    assert found.covariances[4] == pytest.approx(fit.WIDER**2 * mixed + more)
    assert found.freedom == (fit.SHRUNK + state.turns) // 2


def test_a_turn_without_rows_adds_no_turn() -> None:
    settings, noise = configure(2, 6, season=24), np.random.default_rng(3)
    state, _ = play(settings, 200, lambda arm, step: 5 + float(noise.normal()))
    rows.end_turn(settings, state)
    turns = state.turns
    rows.end_turn(settings, state)
    assert state.turns == turns > 10


def test_a_strong_season_and_a_moving_level_hide_nothing() -> None:
    settings, noise = configure(2, 6, season=24), np.random.default_rng(3)

    def total(arm: int, step: int) -> float:
        return 100 + 60 * math.sin(step * math.pi / 12) + 0.05 * step + (1.0 if arm == 1 else 0.0) + noise.normal()

    state, _ = play(settings, 400, total)
    assert random_turns.leader(settings, state) == 1
    assert state.effects[1] == pytest.approx(1.0, abs=3 * error(settings, state, 1, 0))
    assert error(settings, state, 1, 0) < 0.4
    assert state.pulls[1] > 2 * state.pulls[0]


def test_steps_that_are_no_whole_slot_are_played_but_not_compared() -> None:
    settings = configure(2, 12, season=8)  # slots of two steps, a window reaches into seven
    state, _ = play(settings, 10, lambda arm, step: 1.0)
    rows = state.rows
    learn(settings, state, 1, 1, 0, 0.0, 9.0)
    arm, steps, _ = next_hold(settings, state, [0.5])
    assert (arm, steps) == (1, 1)  # the rest of the slot, on the arm in play
    learn(settings, state, 1, 1, 0, 0.0, 9.0)
    for _ in range(6):
        learn(settings, state, 1, 2, 0, 0.0, 9.0)
    assert (rows, state.rows, state.clock) == (4, 4, 34)
    learn(settings, state, 1, 2, 0, 0.0, 9.0)
    assert state.rows == rows + 1


def test_the_end_of_a_known_horizon_prefers_the_best() -> None:
    def last_shares(horizon: int | None) -> list[float]:
        noise = np.random.default_rng(4)
        settings = configure(2, 6, horizon, season=24)
        state, _ = play(settings, 600, lambda arm, step: 10 + 0.2 * arm + noise.normal())
        return state.shares

    early, late = last_shares(10_000), last_shares(700)
    assert last_shares(None) == early
    assert 0 < min(late) < min(early) < 0.5


def test_a_horizon_too_short_for_a_comparison_is_refused() -> None:
    with pytest.raises(BadValue, match="random-turns needs 528 steps") as caught:
        configure(3, 24, 527, season=168)
    assert (caught.value.kind, caught.value.field) == (TOO_SHORT, "horizon")
    assert configure(3, 24, 528, season=168).horizon == 528


def test_it_finds_the_best_arm_in_a_season_where_means_alone_mislead() -> None:
    season = Baseline((Seasonal(tuple(0.3 + 0.3 * math.sin(math.pi * hour / 12) for hour in range(24))),))
    world = World.of(["normal:0.3,0.05", "normal:0.34,0.05", "normal:0.3,0.05"], 6, baseline=season)
    outcome = simulate(policy, world, 2_000, 40, season=24, recommend=True)
    assert outcome.recommended is not None
    assert np.mean(outcome.recommended == 1) >= 0.95
    assert outcome.best_arm_share > 0.7


def test_an_agent_plays_slots_of_the_week() -> None:
    agent = Agent(["A", "B"], 24, policy="random-turns", season=168)
    assert agent.select() in ("A", "B")
    assert agent.hold is not None
    assert agent.hold.steps == 4
