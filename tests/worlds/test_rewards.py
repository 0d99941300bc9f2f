import math
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from afterglow.errors import BadValue, MissingExtra, UnknownName
from afterglow.worlds.cells import Cells, atoms, beta_cells
from afterglow.worlds.rewards import (
    FORMS,
    Bernoulli,
    Beta,
    Discrete,
    Empirical,
    Reward,
    TruncatedNormal,
    Uniform,
    parse_reward,
)
from afterglow.worlds.spreads import Spread
from afterglow.worlds.world import World

SHAPES = [(2, 3), (1, 1), (0.5, 0.5), (0.1, 0.2), (5, 0.3), (30, 2), (1000, 1000), (1e6, 1e6), (1, 0.001), (0.01, 100)]
BELLS = [(0.5, 0.1, 0, 1), (-3, 0.1, 0, 1), (0.2, 1, 0.1, 0.6), (0.5, 1e-4, 0, 1), (2, 0.5, 0.2, 0.9), (9, 1e3, 0, 1)]
SMOOTH: list[Reward] = [Beta(*shape) for shape in SHAPES] + [TruncatedNormal(*bell) for bell in BELLS]
PLAIN: list[Reward] = [
    Bernoulli(0.9), Bernoulli(0), Bernoulli(1), Uniform(), Uniform(0.2, 0.8), Discrete([0, 0.5, 1], [0.5, 0.3, 0.2]),
    Discrete([0.5, 0.1, 0.5], [0.25, 0.5, 0.25]), Empirical([0.3, 0.1, 0.3, 1]), Empirical([0.7]),
]  # fmt: skip
LAWS = PLAIN + SMOOTH
ALL = pytest.mark.parametrize("law", LAWS, ids=lambda law: law.text)


def exact_cdf(law: Reward, x: np.ndarray) -> np.ndarray:
    if isinstance(law, Beta):
        return np.asarray(stats.beta.cdf(x, law.a, law.b))
    assert isinstance(law, TruncatedNormal)
    low, high = ((end - law.centre) / law.deviation for end in (law.low, law.high))
    return np.asarray(stats.truncnorm.cdf(x, low, high, law.centre, law.deviation))


def ends(cells: Cells) -> np.ndarray:
    return cells.low + cells.width


@ALL
def test_cells_lie_in_order_inside_the_unit_interval(law: Reward) -> None:
    cells = law.cells()
    assert cells.low[0] >= 0
    assert ends(cells)[-1] <= 1
    assert (cells.low[1:] >= ends(cells)[:-1] - 1e-15).all()
    assert (cells.width >= 0).all()
    assert (cells.probability > 0).all()
    assert cells.probability.sum() == pytest.approx(1, abs=1e-12)


@ALL
def test_cells_keep_the_mean_exactly(law: Reward) -> None:
    assert law.cells().mean == pytest.approx(law.mean, abs=1e-12)


@pytest.mark.parametrize("law", PLAIN, ids=lambda law: law.text)
def test_cells_of_simple_laws_keep_the_variance_exactly(law: Reward) -> None:
    assert law.cells().variance == pytest.approx(law.variance, abs=1e-15)


@pytest.mark.parametrize("law", SMOOTH, ids=lambda law: law.text)
def test_cells_of_smooth_laws_nearly_keep_the_variance(law: Reward) -> None:
    """A law that is far from smooth, with nearly all its mass in one point, loses most: less than 1e-4."""
    short = 1 - law.cells().variance / law.variance
    lopsided = isinstance(law, Beta) and min(law.a, law.b) < 0.1
    assert -1e-9 < short < (1e-4 if lopsided else 2e-6)


@pytest.mark.parametrize("law", SMOOTH, ids=lambda law: law.text)
def test_cells_of_smooth_laws_follow_the_distribution_function(law: Reward) -> None:
    """To 1/256, and 5e-4 for laws of bounded density, looked at with a resolution of 1e-9."""
    cells = law.cells()
    x = np.unique(np.concatenate([np.linspace(0, 1, 2001), cells.low, cells.low + cells.width / 3, ends(cells)]))
    steep = isinstance(law, Beta) and min(law.a, law.b) < 1
    off = 1 / 256 if steep else 5e-4
    assert (cells.cdf(x) <= exact_cdf(law, x + 1e-9) + off).all()
    assert (cells.cdf(x) >= exact_cdf(law, x - 1e-9) - off).all()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_beta_moments_are_the_textbook_ones(shape: tuple[float, float]) -> None:
    law = Beta(*shape)
    assert law.mean == pytest.approx(stats.beta.mean(*shape), rel=1e-12)
    assert law.variance == pytest.approx(stats.beta.var(*shape), rel=1e-9)


@pytest.mark.parametrize("bell", BELLS, ids=str)
def test_the_mean_and_variance_of_a_truncated_normal_are_those_of_what_is_left(bell: tuple[float, ...]) -> None:
    centre, deviation, low, high = bell
    top = min(max(centre, low), high)
    marks = [mark for mark in (top + z * deviation for z in (-20, -1, 0, 1, 20)) if low < mark < high]

    def moment(power: int, around: float) -> float:
        def weighted(x: float) -> float:
            return (x - around) ** power * math.exp(((top - centre) ** 2 - (x - centre) ** 2) / (2 * deviation**2))

        return float(integrate.quad(weighted, low, high, points=marks or None, epsabs=0, epsrel=1e-12, limit=500)[0])

    law, whole = TruncatedNormal(centre, deviation, low, high), moment(0, 0)
    assert law.mean == pytest.approx(moment(1, 0) / whole, rel=1e-10)
    assert law.variance == pytest.approx(moment(2, law.mean) / whole, rel=1e-9)


def test_a_truncated_normal_is_right_however_far_out_it_is_cut() -> None:
    """Far out a normal law falls off like an exponential one with rate distance / variance."""
    law = TruncatedNormal(-1e5, 10)
    assert law.mean == pytest.approx(1e-3, rel=1e-4)
    assert law.variance == pytest.approx(1e-6, rel=1e-4)


def test_equal_values_are_merged_and_impossible_ones_left_out() -> None:
    cells = Discrete([0.5, 0.1, 0.5, 0.9], [0.25, 0.5, 0.25, 0.0]).cells()
    assert cells.low.tolist() == [0.1, 0.5]
    assert cells.probability.tolist() == [0.5, 0.5]
    assert Empirical([0.3, 0.1, 0.3, 1]).cells().probability.tolist() == [0.25, 0.5, 0.25]


def test_simple_moments() -> None:
    for law, mean, variance in (
        (Bernoulli(0.9), 0.9, 0.09),
        (Uniform(0.2, 0.8), 0.5, 0.03),
        (Discrete([0, 0.5, 1], [0.5, 0.3, 0.2]), 0.35, 0.1525),
        (Empirical([0, 1]), 0.5, 0.25),
    ):
        assert [law.mean, law.variance] == pytest.approx([mean, variance])


@ALL
def test_a_law_reads_back_from_its_text(law: Reward) -> None:
    again = parse_reward(law.text)
    assert again == law
    assert again.text == law.text


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.001, 1000), st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_any_law_reads_back_from_its_text(p: float, other: float, shape: float, sample: list[float]) -> None:
    laws: list[Reward] = [Bernoulli(p), Beta(shape, 1 / shape), Discrete([p, other], [p, 1 - p]), Empirical(sample)]
    if p != other:
        laws.append(Uniform(min(p, other), max(p, other)))
    for law in laws:
        assert parse_reward(law.text) == law


def test_laws_of_equal_numbers_are_equal_and_can_be_keys() -> None:
    assert Discrete([0, 1], [0.5, 0.5]) == Discrete((0.0, 1.0), (0.5, 0.5))
    assert len({Bernoulli(1), Bernoulli(1.0), Empirical((0.5,)), Empirical([0.5])}) == 2


@pytest.mark.parametrize(
    ("text", "law"),
    [
        ("0.9", Bernoulli(0.9)), ("1", Bernoulli(1)), (".5", Bernoulli(0.5)), ("1e-3", Bernoulli(0.001)),
        (" beta: 2, 3 ", Beta(2, 3)), ("uniform", Uniform()), ("normal:0.5,0.1", TruncatedNormal(0.5, 0.1)),
        ("normal:0.5,0.1,0.2,0.8", TruncatedNormal(0.5, 0.1, 0.2, 0.8)),
        ("discrete:0@0.5,0.5@0.3,1@0.2", Discrete([0, 0.5, 1], [0.5, 0.3, 0.2])),
        ("empirical:0.1,0.1,0.9", Empirical([0.1, 0.1, 0.9])),
    ],
)  # fmt: skip
def test_texts_that_users_write(text: str, law: Reward) -> None:
    assert parse_reward(text) == law


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("betta:2,3", "no reward named 'betta'; did you mean 'beta'?"),
        ("gamma:1", "no reward named 'gamma'; rewards are bernoulli:p, "),
        ("1.5", "p of a Bernoulli reward must be between 0 and 1, got 1.5"),
        ("-0.1", "p of a Bernoulli reward must be between 0 and 1, got -0.1"),
        ("nan", "p of a Bernoulli reward must be between 0 and 1, got nan"),
        ("0.5x", "reward '0.5x' has a part that is not a number"),
        ("beta:2", "a beta reward is written beta:a,b, got 'beta:2'"),
        ("beta:2,x", "reward 'beta:2,x' has a part that is not a number"),
        ("beta:0,1", "a of a Beta reward must be a number from 0.001 to 1,000,000, got 0.0"),
        ("beta:1,inf", "b of a Beta reward must be a number from 0.001 to 1,000,000, got inf"),
        ("uniform:0.8,0.2", "low of a uniform reward must be below high, got 0.8 and 0.2"),
        ("uniform:0,2", "high of a uniform reward must be between 0 and 1, got 2.0"),
        ("discrete:0.5", "a discrete reward is written discrete:value@probability,"),
        ("discrete:", "a discrete reward is written discrete:value@probability,"),
        ("discrete:0@0.5,1@0.4", "probabilities of a discrete reward must add up to 1, got 0.9"),
        ("discrete:0@0.5,2@0.5", "values of a discrete reward must be between 0 and 1, got 2.0"),
        ("discrete:0@nan,1@0.5", "probabilities of a discrete reward must be between 0 and 1, got nan"),
        ("empirical:", "sample of an empirical reward must be given at least once, got none"),
        ("empirical:0.5,-1", "sample of an empirical reward must be between 0 and 1, got -1.0"),
        ("normal:0.5,0", "deviation of a normal reward must be a number from 1e-9 to 1e9, got 0.0"),
        ("normal:nan,1", "centre of a normal reward must be a finite number, got nan"),
        ("normal:-1e9,1e-6", "a normal reward of centre -1e+09 and deviation 1e-06 is a single point between 0 and 1"),
    ],
)
def test_a_wrong_text_is_refused_with_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(BadValue) as refusal:
        parse_reward(text)
    assert str(refusal.value).startswith(sentence)


@pytest.mark.parametrize("value", [True, "0.5", None, 1j, [0.5]])
def test_what_is_not_a_number_is_refused(value: object) -> None:
    with pytest.raises(BadValue, match="p of a Bernoulli reward must be between 0 and 1, got"):
        Bernoulli(value)  # type: ignore[arg-type]


def test_values_and_probabilities_must_match() -> None:
    with pytest.raises(BadValue, match="one probability for each value, got 2 values and 1 probabilities"):
        Discrete([0, 1], [1.0])
    with pytest.raises(BadValue, match=r"must come in a list, got 0\.5"):
        Empirical(0.5)  # type: ignore[arg-type]


def test_numpy_numbers_are_welcome() -> None:
    assert Bernoulli(np.float32(0.5)).p == 0.5  # type: ignore[arg-type]
    assert type(Bernoulli(np.float64(0.5)).p) is float
    assert Empirical(np.array([0.25, 0.5])).sample == (0.25, 0.5)


def test_an_unknown_name_lists_every_form() -> None:
    with pytest.raises(UnknownName) as refusal:
        parse_reward("lognormal:1")
    assert all(form in str(refusal.value) for form, _, _ in FORMS.values())


def test_beta_rewards_say_what_to_install_when_scipy_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    beta_cells.cache_clear()
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    with pytest.raises(MissingExtra, match=r"a Beta reward needs the 'lab' extra: in a clone"):
        Beta(2, 3).cells()
    assert Beta(2, 3).mean == 0.4


@dataclass(frozen=True)
class OwnLaw:
    """A user's law: 0 or `value`, alike often; `said` is the mean that it says it has."""

    value: float
    said: float

    @property
    def mean(self) -> float:
        return self.said

    @property
    def variance(self) -> float:
        return self.value**2 / 4

    @property
    def text(self) -> str:
        return f"own:{self.value}"

    def cells(self) -> Cells:
        return atoms(np.array([0.0, self.value]), np.array([0.5, 0.5]))


def test_an_own_law_is_played_by_its_cells_and_refused_if_its_mean_contradicts_them() -> None:
    assert World.of([OwnLaw(0.8, 0.4), 0.3], 2).gaps == [0.0, 0.1]
    with pytest.raises(BadValue, match="mean of a reward law must be that of its cells") as refused:
        World.of([OwnLaw(0.8, 0.5), 0.3], 2)
    assert refused.value.field == "rewards"
    with pytest.raises(BadValue, match="rewards must lie between 0 and 1"):
        World.of([OwnLaw(1.6, 0.8), 0.3], 2)


def test_gaps_ask_each_arm_once_for_its_mean() -> None:
    asked = []

    class Counted(Beta):
        @property
        def mean(self) -> float:
            asked.append(1)
            return 0.5

    world = World((Counted(1.0, 1.0),) * 50, Spread("uniform"), 2)
    assert world.gaps == [0.0] * 50
    assert len(asked) == 50
