"""Raw bytes of the generator on stdout, for batteries of statistical tests.

    python bench/engine/generator_bytes.py stream | dieharder -a -g 200

`stream` is one stream read in order, the others are the ways in which the engine puts streams side by side:
`runs` takes the same place of 256 runs in turn, `purposes` that of four of a run's streams, `children` the first
four words of one child after the other, `seeds` the first word of seeds 0, 1, 2, …
"""

import sys
from typing import Any

import numpy as np

from afterglow.engine.compiling import jitted
from afterglow.engine.random import child, key_of
from afterglow.rng import BLOCK, REWARD

WORDS = 1 << 20  # in one piece
SEED = 2019


def stream(first: int, out: Any) -> None:
    key = key_of(SEED, 0, REWARD)
    for i in range(out.size):
        out[i] = child(key, first + i)


def runs(first: int, out: Any) -> None:
    for i in range(out.size):
        out[i] = child(key_of(SEED, (first + i) % 256, REWARD), (first + i) // 256)


def purposes(first: int, out: Any) -> None:
    for i in range(out.size):
        out[i] = child(key_of(SEED, 0, REWARD + (first + i) % BLOCK), (first + i) // BLOCK)


def children(first: int, out: Any) -> None:
    key = key_of(SEED, 0, BLOCK)
    for i in range(out.size):
        out[i] = child(child(key, (first + i) // 4), (first + i) % 4)


def seeds(first: int, out: Any) -> None:
    for i in range(out.size):
        out[i] = child(key_of(first + i, 0, REWARD), 0)


LAYOUTS = {layout.__name__: layout for layout in (stream, runs, purposes, children, seeds)}


def main(name: str) -> None:
    write = jitted(LAYOUTS[name], {}, checked=False)
    words = np.empty(WORDS, np.uint64)
    first = 0
    try:
        while True:
            write(first, words)
            sys.stdout.buffer.write(words.tobytes())
            first += WORDS
    except BrokenPipeError:
        sys.stderr.close()


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in LAYOUTS:
        sys.exit(f"usage: generator_bytes.py {'|'.join(LAYOUTS)}")
    main(sys.argv[1])
