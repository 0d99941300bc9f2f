"""The default study, and where its results go."""

from pathlib import Path

import pytest

from afterglow.lab.study import identity
from afterglow.lab.study.compare import FULL, QUICK, SPREADS, Size, comparison, folder_for
from afterglow.lab.study.study import Study
from afterglow.lab.study.toml_text import toml_of
from afterglow.policies.registry import named, names
from afterglow.worlds.spreads import ADVERSARIAL, NAMES


def test_every_policy_takes_part_and_phased_ucb_with_both_constants() -> None:
    cells = comparison().cells
    assert {cell.policy.name for cell in cells} == set(names())
    constants = {cell.label: cell.options["constants"] for cell in cells if cell.policy.name == "phased-ucb"}
    assert constants == {"phased-ucb paper": "paper", "phased-ucb corrected": "corrected"}


@pytest.mark.parametrize("size", [FULL, QUICK])
def test_every_policy_is_played_under_benign_and_adversarial_spreads(size: Size) -> None:
    study = comparison(size=size)
    assert set(ADVERSARIAL) < set(SPREADS) <= {name.partition(":")[0] for name in NAMES}
    assert study.left_out == []
    assert len(study.cells) == (len(names()) + 1) * len(SPREADS)
    assert {cell.horizon for cell in study.cells} == {size.horizon}
    assert QUICK.horizon < FULL.horizon


@pytest.mark.parametrize("size", [FULL, QUICK])
def test_policies_that_take_long_have_fewer_runs(size: Size) -> None:
    runs = {cell.policy.name: cell.runs for cell in comparison(size=size).cells}
    assert runs["trim-ucb"] == size.runs
    assert runs["attributed-ucb"] == runs["ucb1"] == size.stepwise_runs // 2
    assert min(runs.values()) >= 5
    assert runs["lag-ridge-ucb"] == size.stepwise_runs // 4
    assert all(count <= size.stepwise_runs for name, count in runs.items() if named(name).every_step)


@pytest.mark.parametrize(
    ("spread", "told"),
    [("immediate", (0, 0)), ("uniform", (4.5, 8.25)), ("last", (9, 0)), ("chameleon", (9, 20.25))],
)
def test_the_delay_told_is_the_spreads_own_or_the_largest(spread: str, told: tuple[float, float]) -> None:
    (cell,) = (
        cell for cell in comparison().cells if (cell.label, cell.world.spread.text) == ("odaaf-variance", spread)
    )
    assert (cell.options["mean_delay"], cell.options["delay_variance"]) == pytest.approx(told)


def test_it_can_be_written_as_a_file_and_is_the_same_study(tmp_path: Path) -> None:
    (tmp_path / "compare.toml").write_text(toml_of(comparison(7).to_dict()), encoding="utf-8")
    again, study = Study.read(tmp_path / "compare.toml"), comparison(7)
    assert (again.name, again.question) == (study.name, study.question)
    assert [(cell.title, cell.options, cell.runs, cell.seed, cell.marks) for cell in again.cells] == [
        (cell.title, cell.options, cell.runs, cell.seed, cell.marks) for cell in study.cells
    ]


def test_seeds_sizes_and_versions_have_folders_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = folder_for(comparison(1, QUICK), tmp_path)
    assert first == folder_for(comparison(1, QUICK), tmp_path)
    assert first.parent == tmp_path / "results"
    assert first.name.startswith("compare-quick-seed-1-")
    others = [folder_for(comparison(2, QUICK), tmp_path), folder_for(comparison(1, FULL), tmp_path)]
    monkeypatch.setattr(identity, "versions", lambda: {"afterglow": "another"})
    others.append(folder_for(comparison(1, QUICK), tmp_path))
    assert len({first, *others}) == 4
