"""The generator of `afterglow.rng` on 64-bit words, as functions that compile.

Number t of a stream is `mix(key ^ t * GOLDEN)`: a pure function of the key and t, so any part of a stream
can be drawn by any thread in any order. What needs an unknown number of uniforms (a rejection sampler)
takes a key of its own, `child(key, t)`, and reads that stream from 0.
"""

import numpy as np

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)
S30, S27, S31, S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
UNIT = 2.0**-53


def mix(z: np.uint64) -> np.uint64:
    """A bijection of 64-bit words that leaves no visible pattern."""
    z = (z ^ (z >> S30)) * FIRST
    z = (z ^ (z >> S27)) * SECOND
    return z ^ (z >> S31)


def key_of(seed: int, run: int, stream: int) -> np.uint64:
    """The key of a stream; `afterglow.rng.key` is the same."""
    z = mix(np.uint64(seed) + GOLDEN)
    z = mix(z + np.uint64(run) * GOLDEN)
    return mix(z + np.uint64(stream) * GOLDEN)


def child(key: np.uint64, t: int) -> np.uint64:
    """Word t of a stream, which is also the key of a stream of its own."""
    return mix(key ^ (np.uint64(t) * GOLDEN))


def uniform(key: np.uint64, t: int) -> float:
    """Number t of a stream, in [0, 1), a multiple of 2**-53."""
    return np.int64(mix(key ^ (np.uint64(t) * GOLDEN)) >> S11) * UNIT
