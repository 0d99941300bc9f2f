"""Panel elimination: as specified, blind to what units share, and careful with what is missing."""

from typing import Any

import numpy as np
import pytest

from afterglow.errors import BadValue
from afterglow.policies.panel import policy
from afterglow.policies.panel.variance import fitted
from support.oracles.panel import Panel

CASES = {
    "told": {"arms": 3, "units": 8, "window": 24, "horizon": 1_000, "levels": [1.0, 2, 3, 9, 1, 1, 2, 0.1]},
    "not told": {"arms": 4, "units": 6, "window": 5, "horizon": 700, "levels": []},
    "more arms than units": {"arms": 5, "units": 3, "window": 10, "horizon": 2_000, "levels": []},
    "two of two": {"arms": 2, "units": 2, "window": 1, "horizon": 300, "levels": [1.0, 1.0]},
}


def permutation(rng: np.random.Generator, size: int) -> list[int]:
    return [int(one) for one in rng.permutation(size)]


def played(
    case: dict[str, Any], seed: int, missing: float = 0.0, shared: float = 0.0, gap: float = 0.05, season: int = 1
) -> tuple[Any, Any, Panel, list[list[int]]]:
    """The policy and the oracle on the same totals: settings, state, oracle, and the arms of each round."""
    rng = np.random.default_rng(seed)
    arms, units = case["arms"], case["units"]
    order, labels = permutation(rng, units), permutation(rng, arms)
    settings = policy.settings(**case, order=order, labels=labels, options={"season": season})
    state, oracle, rounds = policy.start(settings), Panel(**case, order=order, labels=labels, season=season), []
    size = np.array(case["levels"] or [1.0] * units) * rng.lognormal(0, 0.05, units)
    while state.clock < settings.horizon:
        steps = min(policy.next_round(settings, state)[0], settings.horizon - state.clock)
        assert state.arms == oracle.arm
        rounds.append(list(state.arms))
        means = 1 - gap * np.array(state.arms) + rng.normal(0, 0.03, units)
        common = shared * rng.normal(0, 5) * np.array(case["levels"] or [1.0] * units)
        bodies = (steps * (size * means + common)).tolist()
        known = [steps * int(rng.random() >= missing) for _ in range(units)]
        policy.learn(settings, state, steps, 0, known, [0.0] * units, bodies)
        oracle.learn(steps, known, bodies)
    return settings, state, oracle, rounds


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_decides_as_the_specification_written_with_matrices(case: dict[str, Any], missing: float) -> None:
    for seed in range(4):
        settings, state, oracle, _ = played(case, seed, missing, gap=0.02)
        effects, inverse, variance = fitted(settings, state)
        differences, errors = oracle.differences()
        for one in range(settings.arms):
            for other in range(one):
                if state.arm_cells[one] and state.arm_cells[other]:
                    found = policy.difference(settings, state, one, other, 0.95)
                    assert found.mean == pytest.approx(differences[one, other], abs=1e-6)
                    q = inverse[one * settings.arms + one] + inverse[other * settings.arms + other]
                    q -= 2 * inverse[one * settings.arms + other]
                    assert (variance * q) ** 0.5 == pytest.approx(errors[one, other], rel=1e-5)
        assert effects[policy.recommend(settings, state)] == max(effects[arm] for arm in state.alive[: state.arms_left])


def test_both_ways_of_keeping_sets_of_units_are_used_by_the_test_above() -> None:
    assert played(CASES["told"], 0)[1].dense_slots == 0
    assert played(CASES["told"], 0, missing=0.2)[1].dense_slots > 10


MANY = {"arms": 6, "units": 48, "window": 8, "horizon": 640, "levels": [1.0 + unit % 7 for unit in range(48)]}


@pytest.mark.parametrize(("missing", "apart", "wider"), [(0.0, 1e-3, 1e-4), (0.02, 0.05, 0.01), (0.2, 0.2, 0.03)])
def test_many_units_are_fitted_as_specified_up_to_a_part_of_the_error(
    missing: float, apart: float, wider: float
) -> None:
    """`played` asserts that the arms of every round are those of the oracle."""
    settings, state, oracle, _ = played(MANY, 3, missing, gap=0.01)
    effects, inverse, variance = fitted(settings, state)
    differences, errors = oracle.differences()
    for one in range(6):
        for other in range(one):
            q = inverse[one * 6 + one] + inverse[other * 6 + other] - 2 * inverse[one * 6 + other]
            assert (variance * q) ** 0.5 == pytest.approx(errors[one, other], rel=wider)
            assert abs(effects[one] - effects[other] - differences[one, other]) < apart * errors[one, other]
    assert len(state.dense) == 0
    assert state.sets <= len(state.set_sums) == 18
    assert 2 * state.sets < state.slots
    assert (state.sets > 6) == (missing > 0)


def test_a_set_of_units_unlike_the_others_has_a_row_of_its_own() -> None:
    settings = policy.settings(20, 60, 1, 900, [1.0] * 60, range(60), range(20), {"commit": 800})
    state, rng = policy.start(settings), np.random.default_rng(2)
    for slot in range(60):
        known = (rng.random(60) >= 0.03) & ((slot < 30) | (np.arange(60) < 25))
        bodies = rng.normal(1, 0.1, 60).tolist()
        policy.learn(settings, state, 1, 0, [int(one) for one in known], bodies, bodies)
    rows = np.array(state.set_weights).reshape(4, 60)
    assert state.sets >= 3
    assert rows.sum() == pytest.approx(state.cells)
    assert state.set_sums[: state.sets] == pytest.approx((1 / rows.sum(axis=1)[: state.sets]).tolist())
    assert [bool(row[25:].sum()) for row in rows[: state.sets]] == [True, True] + [False] * (state.sets - 2)


def test_what_all_units_share_changes_no_decision_and_no_estimate() -> None:
    for seed in range(5):
        settings, quiet, _, rounds = played(CASES["told"], seed)
        _, shaken, _, also = played(CASES["told"], seed, shared=1.0)
        assert rounds == also
        for arm in (1, 2):
            was = policy.difference(settings, quiet, 0, arm, 0.95)
            assert policy.difference(settings, shaken, 0, arm, 0.95) == pytest.approx(was, abs=1e-6)


def test_slots_last_whole_seasons_and_stages_one_more_washout() -> None:
    settings = policy.settings(3, 4, 24, 4_000, [], [0, 1, 2, 3], [0, 1, 2], {"season": 24})
    assert (settings.slot, settings.washout) == (24, 1)
    state = policy.start(settings)
    assert (state.arms, state.slots_left) == ([0, 1, 2, 0], 2)
    for _ in range(2):
        policy.learn(settings, state, 24, 0, [24] * 4, [0.0] * 4, [24.0] * 4)
    assert (state.arms, state.slots_left, state.slots) == ([1, 2, 0, 1], 3, 1)


def test_a_unit_that_is_silent_costs_its_own_cells_alone() -> None:
    settings = policy.settings(2, 4, 4, 400, [], [0, 1, 2, 3], [0, 1])
    state = policy.start(settings)
    while state.clock < 400:
        policy.learn(settings, state, 4, 0, [4, 4, 4, 0], [0.0] * 4, [4.0, 3.9, 4.1, 1e9])
    assert state.levels[3] == 0.0
    assert state.cells == 3 * state.slots > 0


def test_a_unit_whose_first_totals_are_0_waits_for_one_that_is_not() -> None:
    settings = policy.settings(2, 3, 1, 40, [], [0, 1, 2], [0, 1])
    state = policy.start(settings)
    policy.learn(settings, state, 1, 0, [1] * 3, [0.0] * 3, [2.0, 0.0, -3.0])
    assert (state.levels, state.cells) == ([2.0, 0.0, 3.0], 2)


def test_commit_keeps_the_best_arm_after_that_many_steps() -> None:
    settings = policy.settings(3, 6, 24, 1_000, [1.0] * 6, range(6), range(3), {"commit": 500})
    state = policy.start(settings)
    while state.clock < 1_000:
        assert (state.arms_left == 1) == (state.clock >= 500)
        bodies = [12 * (1.0 if arm == 1 else 0.5) for arm in state.arms]
        policy.learn(settings, state, 12, 0, [12] * 6, [0.0] * 6, bodies)
    assert policy.recommend(settings, state) == 1


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"units": 1}, "units must be a whole number of at least 2, got 1"),
        ({"units": 201}, "units must be at most 200 where units are compared, got 201"),
        ({"arms": 21}, "arms must be at most 20 where units are compared, got 21"),
        ({"horizon": 35}, "panel-elimination needs 3 slots of 12 steps = 36 to count anything, the horizon is 35"),
    ],
)
def test_what_a_round_can_not_be_is_refused(wrong: dict[str, int], sentence: str) -> None:
    place: dict[str, Any] = {"arms": 3, "units": 4, "window": 24, "horizon": 100} | wrong
    with pytest.raises(BadValue) as refusal:
        policy.settings(**place, levels=[], order=[], labels=[])
    assert sentence in str(refusal.value)


def test_slots_that_nobody_has_seen_are_passed_together_as_one_by_one() -> None:
    for commit, units in ((0, 5), (1_500, 5), (0, 41), (1_500, 41)):
        order = [(3 * unit + 1) % units for unit in range(units)]
        settings = policy.settings(3, units, 12, 3_000, [], order, [2, 0, 1], {"commit": commit})
        rng = np.random.default_rng(3)
        for before, away in ((0, 3), (4, 1), (20, 90), (9, 360)):
            one, other = policy.start(settings), policy.start(settings)
            for _ in range(before):
                bodies = (8 * rng.normal(1, 0.1, units)).tolist()
                for state in (one, other):
                    policy.learn(settings, state, 8, 0, [8] * units, bodies, bodies)
            none, zeros = [0] * units, [0.0] * units
            for _ in range(away):
                policy.learn(settings, one, 8, 0, none, zeros, zeros)
            policy.learn(settings, other, 8 * away, 0, none, zeros, zeros)
            assert one == other


@pytest.mark.parametrize(("left", "raised"), [(0.0, 0), (0.3, 1)])
def test_the_alarm_notices_what_is_left_of_the_arm_before(left: float, raised: int) -> None:
    settings = policy.settings(3, 8, 24, 1_500, [1.0] * 8, range(8), range(3), {"commit": 900})
    state, rng = policy.start(settings), np.random.default_rng(5)
    while state.clock < 1_500:
        first = [state.before[unit] >= 0 and state.age[unit] == settings.washout for unit in range(8)]
        shown = [
            (1 - left) * arm + left * before if new else arm
            for arm, before, new in zip(state.arms, state.before, first, strict=True)
        ]
        bodies = [settings.slot * rng.normal(1 - 0.05 * one, 0.01) for one in shown]
        policy.learn(settings, state, settings.slot, 0, [settings.slot] * 8, bodies, bodies)
    assert policy.alarmed(settings, state) == bool(raised)
