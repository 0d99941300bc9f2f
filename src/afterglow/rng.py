"""A counter-based random generator: number t of a stream is a pure function of (seed, run, stream, t).

So a step's reward is the same for every policy, and results don't depend on threads, order or machine.
`mix` is the 64-bit finaliser of Steele, Lea & Flood's SplitMix (2014) with Stafford's constants; a stream
is `mix(key ^ t * GOLDEN)`, so two streams are never shifts of each other. This is the generator in plain
Python, for agents that run live; `engine.random` is the same in machine code, and a test compares them.
"""

WORD = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
FIRST = 0xBF58476D1CE4E5B9
SECOND = 0x94D049BB133111EB
UNIT = 2.0**-53

REWARD, SPREAD, POLICY, BLOCK, BASELINE = 1, 2, 3, 4, 5  # streams
TEST = 6  # orders of a schedule that are drawn for a test
ROUNDS, REPLAY, UNITS, COMMON = 11, 12, 13, 14  # streams of experiments over units


def mix(z: int) -> int:
    """A bijection of 64-bit words with good mixing."""
    z = ((z ^ (z >> 30)) * FIRST) & WORD
    z = ((z ^ (z >> 27)) * SECOND) & WORD
    return z ^ (z >> 31)


def key(seed: int, run: int, stream: int) -> int:
    """The key of a stream."""
    z = mix((seed + GOLDEN) & WORD)
    z = mix((z + run * GOLDEN) & WORD)
    return mix((z + stream * GOLDEN) & WORD)


def uniform(stream_key: int, t: int) -> float:
    """Number t of a stream, in [0, 1), a multiple of 2**-53."""
    return (mix(stream_key ^ ((t * GOLDEN) & WORD)) >> 11) * UNIT
