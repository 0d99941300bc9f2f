"""A world in a TOML file."""

import re
from pathlib import Path

import pytest

from afterglow.errors import BadValue
from afterglow.worlds.files import read_world
from afterglow.worlds.rewards import Bernoulli, Beta
from afterglow.worlds.world import World

WHOLE = 'window = 10\nspread = "dirichlet:0.5"\n[[arms]]\nreward = "beta:2,3"\n[[arms]]\nreward = 0.8\n'


def saved(folder: Path, text: str) -> Path:
    path = folder / "world.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_gives_arms_window_and_spread(tmp_path: Path) -> None:
    world = read_world(saved(tmp_path, WHOLE))
    assert world == World.of([Beta(2, 3), Bernoulli(0.8)], 10, "dirichlet:0.5")


def test_window_and_spread_may_be_given_beside_it(tmp_path: Path) -> None:
    world = read_world(saved(tmp_path, WHOLE), window=3, spread="last")
    assert (world.window, world.spread.text) == (3, "last")


def test_the_spread_is_uniform_if_none_is_named(tmp_path: Path) -> None:
    assert read_world(saved(tmp_path, WHOLE.replace('spread = "dirichlet:0.5"\n', ""))).spread.text == "uniform"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("window = 10", "window = 0", ": window must be a whole number of at least 1 (1 = paid at once), got 0"),
        ("window = 10", 'window = "10"', ": window must be a whole number of at least 1 (1 = paid at once), got '10'"),
        ("window = 10\n", "", " has no window; add a line such as window = 10"),
        ("window", "windw", ": no key named 'windw'; did you mean 'window'? it has window, spread, baseline, arms"),
        ("dirichlet", "diriclet", ": no spread named 'diriclet'; did you mean 'dirichlet'? spreads are "),
        ('"dirichlet:0.5"', "3", ': spread must be a text such as "uniform", got 3'),
        ('"beta:2,3"', '"bet:2,3"', ": arms[0].reward = 'bet:2,3': no reward named 'bet'; did you mean 'beta'? "),
        ("0.8", "1.8", ": arms[1].reward = 1.8: p of a Bernoulli reward must be between 0 and 1, got 1.8"),
        ("0.8", "true", ': arms[1].reward must be a text such as "beta:2,3" or a mean, got True'),
        ("reward = 0.8", "mean = 0.8", ": no key of arms[1] named 'mean'; it has reward"),
        ("reward = 0.8", "", ': arms[1].reward must be a text such as "beta:2,3" or a mean, got None'),
        ("[[arms]]\nreward = 0.8\n", "", ": a world needs at least 2 arms, got 1; give one reward law for each arm"),
        ("window = 10", "window = = 10", " is not TOML: invalid value"),
    ],
)
def test_what_is_wrong_is_named_by_file_key_and_value(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = saved(tmp_path, WHOLE.replace(old, new))
    with pytest.raises(BadValue, match="^" + re.escape(f"{path}{said}")):
        read_world(path)


def test_arms_are_tables(tmp_path: Path) -> None:
    with pytest.raises(BadValue, match="arms must be tables"):
        read_world(saved(tmp_path, "window = 2\narms = [0.5, 0.6]\n"))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadValue, match=r"none\.toml can't be read: no such file or directory"):
        read_world(tmp_path / "none.toml")
