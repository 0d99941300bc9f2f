"""The default study."""

import pytest

from afterglow.engine.simulate import simulate
from afterglow.lab.compare import ADVERSARIAL, BENIGN, ENTRIES, QUICK, Study, compare, delay_of
from afterglow.policies.registry import named, names
from afterglow.worlds.spreads import NAMES
from afterglow.worlds.world import World
from small_study import LABELS, SMALL, small


def test_every_policy_takes_part_and_phased_ucb_with_both_constants() -> None:
    assert {entry.policy for entry in ENTRIES} == set(names())
    constants = [entry.options["constants"] for entry in ENTRIES if entry.policy == "phased-ucb"]
    assert constants == ["paper", "corrected"]
    assert len({entry.label for entry in ENTRIES}) == len(ENTRIES)


def test_benign_and_adversarial_spreads_are_played() -> None:
    known = {name.partition(":")[0] for name in NAMES}
    assert set(Study().spreads) == {*BENIGN, *ADVERSARIAL} <= known
    assert QUICK.spreads == Study().spreads
    assert QUICK.horizon < Study().horizon


@pytest.mark.parametrize("study", [Study(), QUICK])
def test_every_policy_can_be_configured_for_every_spread(study: Study) -> None:
    for entry in study.entries:
        for spread in study.spreads:
            assert named(entry.policy).settings(5, study.window, study.horizon, study.options(entry, spread))
        assert study.runs // entry.costs > 1
        assert study.stepwise_runs // entry.costs > 1


@pytest.mark.parametrize(
    ("spread", "told"),
    [("immediate", (0, 0)), ("uniform", (4.5, 8.25)), ("last", (9, 0)), ("chameleon", (9, 20.25))],
)
def test_the_delay_told_is_the_spreads_own_or_the_largest(spread: str, told: tuple[float, float]) -> None:
    assert delay_of(spread, 10) == told


def test_a_cell_is_what_simulate_gives() -> None:
    cell = small().cell("odaaf-variance", "uniform")
    told = {"mean_delay": 1.5, "delay_variance": 1.25}
    outcome = simulate("odaaf-variance", World.of(SMALL.means, 4, "uniform"), 2_000, 12, 3, told)
    assert (cell.regret, cell.options, cell.engine) == (outcome.regret, told, outcome.engine)
    assert cell.curve[-1] == cell.regret
    assert cell.t[-1] == 2_000


def test_policies_that_decide_at_every_step_have_fewer_runs() -> None:
    assert {cell.runs for cell in small().row("attributed-ucb")} == {8}
    assert {cell.runs for cell in small().row("trim-ucb")} == {12}


def test_the_ranking_is_by_the_worst_spread() -> None:
    ranking = small().ranking()
    assert {standing.entry.label for standing in ranking} == set(LABELS)
    worst = [standing.worst.regret.mean for standing in ranking]
    assert worst == sorted(worst)
    for standing in ranking:
        regrets = [cell.regret.mean for cell in small().row(standing.entry.label)]
        assert standing.worst.regret.mean == max(regrets)
        assert standing.average == pytest.approx(sum(regrets) / len(regrets))


def test_the_reference_is_never_the_best_of_a_spread() -> None:
    for spread in SMALL.spreads:
        least = small().cell(small().best(spread), spread).regret.mean
        others = [cell for cell in small().cells if cell.spread == spread and cell.label != "attributed-ucb"]
        assert least == min(cell.regret.mean for cell in others)


def test_policies_with_a_theorem_have_its_bound() -> None:
    bounds = {entry.label: small().bound(entry) for entry in SMALL.entries}
    assert all(bounds[label] for label in ("phased-ucb paper", "phased-elimination", "trim-ucb"))
    assert bounds["odaaf-variance"] is None


def test_intervals_are_students() -> None:
    cell = small().cell("phased-elimination", "last")
    assert cell.half_width == pytest.approx(2.20099 * cell.regret.se, rel=1e-5)


def test_progress_is_told_from_nothing_to_all() -> None:
    told: list[float] = []
    one = Study(horizon=50, window=2, entries=SMALL.entries[:1], spreads=("last", "hoard"), runs=2, points=3)
    compare(one, tell=lambda share, what: told.append(share))
    assert told == [0.0, 0.5, 1.0]
