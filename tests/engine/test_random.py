import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from afterglow import rng
from afterglow.engine.random import child, key_of, mix, uniform
from bench.engine.generator_bytes import LAYOUTS
from support.worlds.draws import CHANCE, compiled, fit

Words = NDArray[np.uint64]
EDGES = [0, 1, 2, 2**31, 2**32 - 1, 2**53, 2**63 - 1, 2**63, 2**64 - 1]
LENGTH = 1 << 20


POURED: dict[str, Words] = {}


@pytest.fixture(params=list(LAYOUTS))
def words(request: pytest.FixtureRequest) -> Words:
    """A million words of one layout of the engine's streams."""
    if request.param not in POURED:
        out = np.empty(LENGTH, np.uint64)
        compiled(LAYOUTS[request.param])(0, out)
        POURED[request.param] = out
    return POURED[request.param]


def some_words(count: int, seed: int) -> list[int]:
    drawn = np.random.default_rng(seed).integers(0, 2**64, count, np.uint64)
    return EDGES + [int(word) for word in drawn]


def test_mixing_is_the_same_in_plain_python_and_compiled() -> None:
    for word in some_words(1000, 1):
        assert compiled(mix)(np.uint64(word)) == rng.mix(word)


def test_keys_are_the_same_in_plain_python_and_compiled() -> None:
    for seed in some_words(20, 2):
        for run in (0, 1, 255, 10**6, 2**40):
            for stream in (rng.REWARD, rng.SPREAD, rng.POLICY, rng.BLOCK):
                assert compiled(key_of)(np.uint64(seed), run, stream) == rng.key(seed, run, stream)


def test_uniforms_are_the_same_to_the_bit_in_plain_python_and_compiled() -> None:
    for key in some_words(50, 3):
        for t in (0, 1, 2, 1000, 2**32, 10**12, 2**62):
            assert compiled(uniform)(np.uint64(key), t) == rng.uniform(key, t)
            assert compiled(child)(np.uint64(key), t) == rng.mix(key ^ (t * rng.GOLDEN & rng.WORD))


def test_uniforms_are_multiples_of_2_to_the_minus_53_below_one() -> None:
    drawn = [rng.uniform(key, t) for key in some_words(20, 4) for t in range(100)]
    assert min(drawn) >= 0.0
    assert max(drawn) < 1.0
    assert all((u * 2**53).is_integer() for u in drawn)
    assert (2**64 - 1 >> 11) * rng.UNIT < 1.0


def test_no_word_is_met_twice_so_no_stream_is_a_shift_of_another(words: Words) -> None:
    """Along one stream this is certain: mixing is a bijection, and t * GOLDEN takes every value before it repeats."""
    assert np.unique(words).size == words.size


def test_ones_are_as_frequent_as_zeros_in_every_bit(words: Words) -> None:
    ones = np.array([int(np.count_nonzero(words >> np.uint64(bit) & np.uint64(1))) for bit in range(64)])
    z = (ones - LENGTH / 2) / math.sqrt(LENGTH / 4)
    assert np.abs(z).max() < stats.norm.isf(CHANCE / 128)
    assert abs(z.sum() / 8) < stats.norm.isf(CHANCE / 2)
    assert CHANCE < stats.chi2.sf((z**2).sum(), 64) < 1 - CHANCE


def test_bits_change_as_often_as_they_stay(words: Words) -> None:
    bits = np.unpackbits(words.view(np.uint8))
    changes = int(np.count_nonzero(bits[1:] != bits[:-1]))
    assert abs(changes - (bits.size - 1) / 2) < stats.norm.isf(CHANCE / 2) * math.sqrt(bits.size - 1) / 2


@pytest.mark.parametrize("low", [0, 11, 26, 58], ids=lambda low: f"bits {low} to {low + 5}")
@pytest.mark.parametrize("lag", [1, 2, 4, 256])
def test_pairs_of_words_fill_the_square_evenly(words: Words, low: int, lag: int) -> None:
    piece = (words >> np.uint64(low) & np.uint64(63)).astype(np.int64)
    pairs = np.bincount(64 * piece[:-lag] + piece[lag:], minlength=4096)
    each = (words.size - lag) / 4096
    singles = np.bincount(piece, minlength=64) * ((words.size - lag) / words.size / 64)
    spread = ((pairs - each) ** 2).sum() / each - ((singles - each) ** 2).sum() / each * 2
    assert CHANCE < stats.chi2.sf(spread, 63 * 63) < 1 - CHANCE


@pytest.mark.parametrize("low", [0, 11, 32])
def test_birthdays_are_spaced_as_chance_would(words: Words, low: int) -> None:
    """Marsaglia's birthday spacings: 256 times, 4096 birthdays in a year of 2**32 days repeat about 4 spacings."""
    days = (words.reshape(256, 4096) >> np.uint64(low) & np.uint64(2**32 - 1)).astype(np.int64)
    spacings = np.sort(np.diff(np.sort(days, axis=1), axis=1), axis=1)
    repeats = int(np.count_nonzero(spacings[:, 1:] == spacings[:, :-1]))
    assert abs(repeats - 1024) < stats.norm.isf(CHANCE / 2) * math.sqrt(1024)


@pytest.mark.parametrize("low", [11, 59])
def test_gaps_between_visits_are_geometric(words: Words, low: int) -> None:
    visits = np.flatnonzero((words >> np.uint64(low) & np.uint64(31)) == 7)
    gaps = np.minimum(np.diff(visits) - 1, 300)
    mass = np.append((31 / 32) ** np.arange(300) / 32, (31 / 32) ** 300)
    assert fit(np.bincount(gaps, minlength=301), gaps.size * mass) > CHANCE


def test_streams_of_different_runs_seeds_and_purposes_are_uncorrelated() -> None:
    length = 1 << 12
    keys = [rng.key(7, run, rng.REWARD) for run in range(100)]
    keys += [rng.key(seed, 0, rng.REWARD) for seed in range(100) if seed != 7]
    keys += [rng.key(7, 0, stream) for stream in (rng.SPREAD, rng.POLICY, rng.BLOCK)]
    own = compiled(uniform)
    drawn = np.array([[own(np.uint64(key), t) for t in range(length)] for key in keys])
    z = np.corrcoef(drawn)[np.triu_indices(len(keys), 1)] * math.sqrt(length)
    assert np.abs(z).max() < stats.norm.isf(CHANCE / 2 / z.size)
    assert abs((z**2).mean() - 1) < stats.norm.isf(CHANCE / 2) * math.sqrt(2 / z.size)


def flip_time(word: int, bit: int) -> int:
    return rng.mix(rng.key(1, 2, 3) ^ ((word ^ 1 << bit) * rng.GOLDEN & rng.WORD))


def flip_seed(word: int, bit: int) -> int:
    return rng.key(word ^ 1 << bit, 5, 1)


def flip_run(word: int, bit: int) -> int:
    return rng.key(11, word ^ 1 << bit, 1)


def flip_key(word: int, bit: int) -> int:
    return rng.mix(word ^ 1 << bit)


@pytest.mark.parametrize("flip", [flip_time, flip_seed, flip_run, flip_key])
def test_flipping_one_bit_of_the_place_flips_half_the_bits_of_the_word(flip: Callable[[int, int], int]) -> None:
    """Small places too: 0, 1, 2, … are what the engine uses."""
    for inputs in (range(1000), some_words(1000, 6)):
        flips = np.zeros((64, 64))
        for word in inputs:
            plain = flip(word ^ 1, 0)
            changed = np.array([plain ^ flip(word, bit) for bit in range(64)], np.uint64)
            flips += (changed[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
        z = (flips - len(inputs) / 2) / math.sqrt(len(inputs) / 4)
        assert np.abs(z).max() < stats.norm.isf(CHANCE / 8192)
        assert abs(z.mean()) * 64 < stats.norm.isf(CHANCE / 2)
