"""A study: the grid of what its fields list, and mistakes named by file, key and value."""

from pathlib import Path
from typing import Any

import pytest

from afterglow.errors import BadValue
from afterglow.lab.study.identity import differences, identity
from afterglow.lab.study.mean_delay import lag_moments
from afterglow.lab.study.study import Study
from afterglow.policies import named
from afterglow.worlds.world import World

TEXT = """
name = "delay"
horizon = [1e3, 2_000]
runs = 10
told_window = ["x1/2", "world", 7]

[[policies]]
policy = ["trim-ucb", "leak-ucb"]

[[policies]]
policy = "phased-ucb"
constants = ["paper", "corrected"]
runs = 4

[[worlds]]
rewards = [0.9, "beta:2,3"]
arms = [2, 4]
window = [4, 16]
spread = ["uniform", "hoard"]
"""


def study_in(folder: Path, text: str = TEXT) -> Study:
    file = folder / "delay.toml"
    file.write_text(text, encoding="utf-8")
    return Study.read(file)


def small(**fields: Any) -> Study:
    usual: dict[str, Any] = {
        "policies": ["trim-ucb"],
        "worlds": [{"rewards": [0.9, 0.8], "window": 4}],
        "horizon": 1_000,
        "runs": 2,
    }
    return Study(**usual | fields)


# The grid


def test_a_study_has_a_cell_for_every_combination(tmp_path: Path) -> None:
    cells = study_in(tmp_path).cells
    assert len(cells) == 4 * 8 * 2 * 3
    seen = {(c.label, c.world.arms, c.world.window, c.world.spread.text, c.horizon, c.told_window) for c in cells}
    assert len(seen) == len(cells)
    assert [cell.index for cell in cells] == list(range(len(cells)))


def test_a_multiple_tells_a_part_of_the_window_and_a_number_tells_itself(tmp_path: Path) -> None:
    told = {(cell.world.window, cell.told_window) for cell in study_in(tmp_path).cells}
    assert told == {(4, 2), (4, 4), (4, 7), (16, 8), (16, 16), (16, 7)}


def test_multiples_that_come_to_the_same_window_are_one_cell() -> None:
    told = [cell.told_window for cell in small(told_window=["x1/8", "x1/4", "x1/2", "world", 4, "x2"]).cells]
    assert told == [1, 2, 4, 8]


def test_labels_name_the_settings_and_a_policy_may_have_its_own_number_of_runs(tmp_path: Path) -> None:
    runs = {cell.label: cell.runs for cell in study_in(tmp_path).cells}
    paper, corrected = "phased-ucb constants=paper", "phased-ucb constants=corrected"
    assert runs == {"trim-ucb": 10, "leak-ucb": 10, paper: 4, corrected: 4}


def test_the_last_reward_is_that_of_all_further_arms() -> None:
    study = small(worlds=[{"rewards": [0.9, 0.8], "arms": [2, 5], "window": 4}])
    assert [cell.world.means for cell in study.cells] == [[0.9, 0.8], [0.9, 0.8, 0.8, 0.8, 0.8]]


def test_the_file_and_python_describe_the_same_study(tmp_path: Path) -> None:
    here = Study(
        policies=[
            {"policy": ["trim-ucb", "leak-ucb"]},
            {"policy": "phased-ucb", "constants": ["paper", "corrected"], "runs": 4},
        ],
        worlds=[
            {"rewards": [0.9, "beta:2,3"], "arms": [2, 4], "window": [4, 16], "spread": ["uniform", "hoard"]},
        ],
        horizon=[1000, 2e3], runs=10, told_window=["x1/2", "world", 7], name="delay",
    )  # fmt: skip
    assert identity(here) == identity(study_in(tmp_path))


def test_checkpoints_are_a_number_of_points_or_the_steps_themselves() -> None:
    assert small(checkpoints=[10, 500, 5_000]).cells[0].marks == (10, 500, 1_000)
    marks = small(checkpoints=7).cells[0].marks
    assert (len(marks), marks[0], marks[-1]) == (7, 10, 1_000)
    assert small(checkpoints=1).cells[0].marks == (1_000,)


def test_lists_of_seeds_engines_and_runs_spread_out_too() -> None:
    cells = small(seed=[1, 2], engine=["step", "skip"], told_horizon=[True, False]).cells
    assert {(cell.seed, cell.engine, cell.told_horizon) for cell in cells} == {
        (seed, engine, knows) for seed in (1, 2) for engine in ("step", "skip") for knows in (True, False)
    }


def test_policies_and_worlds_may_be_objects() -> None:
    study = small(policies=[named("trim-ucb")], worlds=[World.of([0.9, 0.8], 4, "last")])
    assert study.cells[0].title == "trim-ucb, last, window 4, 1,000 steps"
    assert study.to_dict()["worlds"] == [{"rewards": ["bernoulli:0.9", "bernoulli:0.8"], "window": 4, "spread": "last"}]


def test_a_cell_that_its_policy_refuses_stops_the_study_or_is_left_out_as_asked() -> None:
    both: dict[str, Any] = {"policies": ["trim-ucb", "composite-tsallis", "odaaf"], "told_horizon": False}
    with pytest.raises(BadValue, match=r'odaaf, uniform.*odaaf needs horizon.*refused = "leave out"'):
        small(**both)
    study = small(**both, refused="leave out")
    assert [cell.label for cell in study.cells] == ["trim-ucb", "composite-tsallis"]
    assert [text.split(",")[0] for text in study.left_out] == ["odaaf"]


def test_what_policies_warn_of_is_kept_with_the_cell_and_does_not_interrupt(tmp_path: Path) -> None:
    study = small(policies=["phased-ucb", "trim-ucb"], worlds=[{"rewards": [0.9, 0.8], "window": 200}])
    assert len(study.cells) == 2
    (sentence,) = study.warned
    assert sentence.startswith("phased-ucb, uniform, window 200, 1,000 steps: phased-ucb needs 2 arms x")
    assert study.run(tmp_path).complete  # warnings are errors in these tests


# The mean delay


@pytest.mark.parametrize(
    ("spread", "mean", "variance"),
    [
        ("immediate", 0, 0), ("last", 4, 0), ("uniform", 2, 2), ("dirichlet", 2, 2), ("delay:uniform", 2, 2),
        ("kernel:0.5,0,0.5", 1, 1), ("hoard", 4, 4), ("handicap", 4, 4), ("chameleon", 4, 4),
    ],
)  # fmt: skip
def test_the_delay_of_every_spread_is_known(spread: str, mean: float, variance: float) -> None:
    assert lag_moments(World.of([0.9, 0.8], 5, spread)) == pytest.approx((mean, variance))


def test_a_policy_that_needs_the_mean_delay_is_told_that_of_the_spread() -> None:
    world = {"rewards": [0.9, 0.8], "window": 5, "spread": ["uniform", "last"]}
    for policy in ("odaaf", {"policy": "odaaf", "mean_delay": "auto"}):
        study = small(policies=[policy], worlds=[world])
        assert [cell.options["mean_delay"] for cell in study.cells] == [2.0, 4.0]
    given = small(policies=[{"policy": "odaaf", "mean_delay": 3}], worlds=[world])
    assert [cell.options["mean_delay"] for cell in given.cells] == [3, 3]


# Mistakes


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            '"hoard"',
            '"hord"',
            r"delay.toml: worlds\[0\]: spread = 'hord': no spread named 'hord'; did you mean 'hoard'",
        ),
        ('"beta:2,3"', '"beta:2"', r"worlds\[0\]: rewards = \[0.9, 'beta:2'\]: a beta reward is written beta:a,b"),
        ("[4, 16]", "[4, 0]", r"worlds\[0\]: window = 0: window must be a whole number of at least 1"),
        ('"leak-ucb"', '"leek-ucb"', r"policies\[0\]: policy = 'leek-ucb': no policy named 'leek-ucb'; did you mean"),
        (
            "constants",
            "constant",
            r"policies\[1\]: no setting of phased-ucb named 'constant'; did you mean 'constants'",
        ),
        ('"corrected"', '"right"', r"phased-ucb constants=right.*constants"),
        ("runs = 10", "runs = 0", r"delay.toml: runs = 0: runs must be a whole number of at least 1, got 0"),
        ("[1e3, 2_000]", "[]", r"horizon = \[\]: a list needs at least one value"),
        ("[1e3, 2_000]", "[1e3, 1000]", r"horizon = \[1000, 1000\]: a value is in the list twice"),
        ('"x1/2"', '"half"', r"told_window must be steps.*got 'half'"),
        ("runs = 10", "rums = 10", r"delay.toml: no key named 'rums'; did you mean 'runs'"),
        ("rewards =", "reward =", r"worlds\[0\]: no key named 'reward'; did you mean 'rewards'"),
        ("arms = [2, 4]", "arms = [1]", r"worlds\[0\]: arms = 1: arms must be a whole number of at least 2"),
        ('"delay"', '"a/b"', r"name = 'a/b'"),
        ("runs = 10", 'question = ["why"]', r"delay.toml: question = \['why'\]: question must be a text"),
        ("runs = 10", "seed = -1", r"seed = -1: seed must be a whole number of at least 0"),
        ("runs = 10", "checkpoints = [5, 2]", r"checkpoints = \[5, 2\]: checkpoints must increase"),
        ("horizon = [1e3, 2_000]", "", r"delay.toml has no horizon"),
        ("[[worlds]]", "[worlds", r"delay.toml is not TOML"),
    ],
)
def test_a_mistake_is_named_by_file_key_and_value(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    assert old in TEXT
    with pytest.raises(BadValue, match=sentence):
        study_in(tmp_path, TEXT.replace(old, new, 1))


def test_two_policies_of_one_label_are_refused() -> None:
    with pytest.raises(BadValue, match="two are called 'trim-ucb'; give one of them a label"):
        small(policies=["trim-ucb", "trim-ucb"])
    labels = small(policies=["trim-ucb", {"policy": "trim-ucb", "label": "again"}]).cells
    assert [cell.label for cell in labels] == ["trim-ucb", "again"]


# Identity


def test_differences_are_named_by_key_with_both_values() -> None:
    old, new = small(runs=2).to_dict(), small(runs=3, seed=5).to_dict()
    assert list(differences(old, new)) == [("runs", 2, 3), ("seed", 1, 5)]


def test_the_code_of_a_users_policy_is_part_of_the_identity(tmp_path: Path) -> None:
    source = Path(named("ucb1").next_hold.__code__.co_filename).read_text(encoding="utf-8")
    marks = []
    for number, text in enumerate(
        [source, source.replace("return ", "return  "), source.replace("2 * math", "3 * math")]
    ):
        file = tmp_path / f"mine{number}.py"
        file.write_text(text, encoding="utf-8")
        marks.append(identity(small(policies=[{"policy": str(file), "label": "mine"}]))["code"]["mine"])
    assert marks[0] == marks[1] != marks[2]


def test_options_of_a_policy_may_stand_in_a_table_of_their_own() -> None:
    flat = small(policies=[{"policy": "leak-ucb", "C": [0.5, 1]}])
    table = small(policies=[{"policy": "leak-ucb", "options": {"C": [0.5, 1]}}])
    assert [cell.options for cell in table.cells] == [cell.options for cell in flat.cells]
    assert [cell.label for cell in table.cells] == [cell.label for cell in flat.cells]
    with pytest.raises(BadValue, match=r"policies\[0\]: C is given beside options and in it; give it once"):
        small(policies=[{"policy": "leak-ucb", "C": 1, "options": {"C": 1}}])
