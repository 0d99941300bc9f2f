r"""Exact tests of a randomised schedule: the share of orders that would have shown as much.

A schedule plays every arm once in each of $B$ blocks, in an order drawn at random. If no arm changes any total, each of
the $(K!)^B$ orders was as probable as the one played, and only labels would differ. So

$$p = \frac{\#\{\text{orders whose statistic is at least as large}\}}{(K!)^B}$$

is exact: it is at most $\alpha$ with probability at most $\alpha$, whatever noise, season, drift and spread are. All
orders are counted if there are at most 20,000 of them, else 9,999 draws and the order played, which is exact too.

- All arms: the statistic is $\sum_a (\text{mean over blocks of } x_{ka} - \bar x_k)^2$; for two arms it orders like
  $|\text{mean of } x_{k1} - x_{k2}|$.
- Two of several arms: their labels are swapped within blocks, the others stay. Exact for "these two are alike". All
  pairs together are corrected by Holm's method (1979).
- The interval of a difference holds every $\delta$ that the pair's test doesn't reject after $\delta$ is taken from the
  first arm. With $m_+$ and $m_-$ the means of the differences that a swap keeps and turns, that swap reaches the
  statistic if and only if $\delta$ lies between them; so the ends are order statistics of $\max(m_+, m_-)$ and
  $\min(m_+, m_-)$, and no search is needed. It is exact if the effect is the same in each block.
- Beside it, Student's interval of the block differences with $B - 1$ degrees of freedom.

docs/theory/switchback.md has the proofs. Standard library only; the draws are those of the stream whose key is given.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import combinations, permutations, product
from typing import Any

from afterglow.addition import added
from afterglow.checks import Name
from afterglow.policies.block_means import BlockMeans
from afterglow.rng import GOLDEN, WORD, mix
from afterglow.student_t import student_quantile

MOST_ORDERS = 20_000  # that are all counted
DRAWS = 9_999
TABLE_ARMS = 6  # up to which all orders of a block are kept in a table
DUST = 1e-12  # relative amount by which equal sums may differ

Row = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class PairTest:
    """One arm against another. `low` and `high` are None where the interval is unbounded: too few blocks."""

    arm: Name
    other: Name
    difference: float  # of a step, mean over blocks
    p: float
    holm: float  # p corrected for all pairs
    low: float | None  # exact interval
    high: float | None
    t_low: float | None  # Student's interval
    t_high: float | None


@dataclass(frozen=True, slots=True)
class Test:
    """What the schedule shows: `p` for "all arms are alike", every pair, and what it rests on."""

    __test__ = False  # it is not a case for pytest

    p: float
    pairs: tuple[PairTest, ...]
    means: dict[Name, float]  # of a step, over blocks
    blocks: int  # that count
    left_out: int  # of those planned
    orders: int  # that were compared
    every_order: bool  # whether these are all
    confidence: float  # of the intervals, each for itself
    void_steps: int = 0  # by which turns were lengthened

    def pair(self, arm: Name, other: Name) -> PairTest:
        """One arm against another, whichever comes first."""
        for one in self.pairs:
            if (one.arm, one.other) == (arm, other):
                return one
            if (one.arm, one.other) == (other, arm):
                return turned(one)
        raise LookupError(f"no pair of {arm!r} and {other!r}")

    def better(self, arm: Name) -> float | None:
        """The p-value of "this arm is better than every other", corrected; None if it isn't at most 1 - confidence."""
        pairs = [self.pair(arm, other) for other in self.means if other != arm]
        p = max(one.holm for one in pairs)
        sure = p <= 1 - self.confidence + DUST and all(one.difference > 0 for one in pairs)
        return p if sure else None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self) | {"means": {str(arm): mean for arm, mean in self.means.items()}}


def turned(pair: PairTest) -> PairTest:
    """The same pair seen from the other arm."""
    return replace(
        pair, arm=pair.other, other=pair.arm, difference=-pair.difference, low=negated(pair.high),
        high=negated(pair.low), t_low=negated(pair.t_high), t_high=negated(pair.t_low),
    )  # fmt: skip


def negated(value: float | None) -> float | None:
    return None if value is None else -value


def randomisation_test(
    blocks: BlockMeans, arms: Sequence[Name], stream: int, confidence: float, scale: float = 1.0, void_steps: int = 0
) -> Test | None:
    """The test of a schedule; None if no block counts. `stream` is the key of its draws, `scale` the unit of means."""
    rows = blocks.rows
    if not rows:
        return None
    p, orders, every, pairs = compare_orders(rows, stream, confidence)
    places = list(combinations(range(len(arms)), 2))
    corrected = holm([found[1] for found in pairs])
    shown = []
    for (one, other), (difference, value, *ends), adjusted in zip(places, pairs, corrected, strict=True):
        low, high, t_low, t_high = (None if end is None else scale * end for end in ends)
        shown.append(PairTest(arms[one], arms[other], scale * difference, value, adjusted, low, high, t_low, t_high))
    means = {arm: scale * math.fsum(row[place] for row in rows) / len(rows) for place, arm in enumerate(arms)}
    left_out = blocks.planned - len(rows)
    return Test(p, tuple(shown), means, len(rows), left_out, orders, every, confidence, void_steps)


Found = tuple[float, float, float | None, float | None, float | None, float | None]  # difference, p, four ends


@lru_cache(maxsize=64)
def compare_orders(rows: tuple[Row, ...], stream: int, confidence: float) -> tuple[float, int, bool, tuple[Found, ...]]:
    """p of all arms, how many orders were compared, whether these are all; then every pair."""
    arms, blocks = len(rows[0]), len(rows)
    swaps = all_swaps(blocks) if 2**blocks <= MOST_ORDERS else drawn_swaps(blocks, mix(stream))
    pairs = []
    for one, other in combinations(range(arms), 2):
        differences = [row[one] - row[other] for row in rows]
        size = math.fsum(abs(row[one]) + abs(row[other]) for row in rows)
        pairs.append(pair_found(differences, swaps, confidence, DUST * size))
    if arms == 2:
        every = 2**blocks <= MOST_ORDERS
        return pairs[0][1], 2**blocks if every else DRAWS + 1, every, tuple(pairs)
    orders = math.factorial(arms) ** blocks
    if orders <= MOST_ORDERS:
        return share_of_all(rows), orders, True, tuple(pairs)
    return share_of_draws(rows, stream), DRAWS + 1, False, tuple(pairs)


def pair_found(differences: Sequence[float], swaps: Sequence[Sequence[int]], confidence: float, dust: float) -> Found:
    """Difference, p, exact interval and Student's interval of a pair."""
    blocks = len(differences)
    total = math.fsum(differences)
    mean = total / blocks
    kept = kept_sums(differences, swaps)
    least = abs(total) - dust
    p = sum(1 for plus, _ in kept if abs(2 * plus - total) >= least) / len(kept)
    low, high = ends(kept, total, blocks, confidence)
    half = None
    if blocks > 1:
        spread = math.sqrt(math.fsum((each - mean) ** 2 for each in differences) / (blocks - 1) / blocks)
        half = student_quantile(confidence, blocks - 1) * spread
    return mean, p, low, high, None if half is None else mean - half, None if half is None else mean + half


def all_swaps(blocks: int) -> list[list[int]]:
    """Every choice of blocks whose labels stay, the last block always: a swap of all blocks changes no statistic."""
    return [[(number | 1 << (blocks - 1)) >> place & 255 for place in range(0, blocks, 8)]
            for number in range(1 << (blocks - 1))]  # fmt: skip


@lru_cache(maxsize=4)
def drawn_swaps(blocks: int, stream: int) -> list[list[int]]:
    """The schedule as it was played, and 9,999 choices drawn at random: bytes of bits, one for each block."""
    words = -(-blocks // 64)
    tail = [255] * (blocks // 8) + ([(1 << blocks % 8) - 1] if blocks % 8 else [])
    rows = [tail]
    for draw in range(DRAWS):
        number = 0
        for word in range(words):
            number = number << 64 | mix(stream ^ ((draw * words + word) * GOLDEN & WORD))
        rows.append([byte & mask for byte, mask in zip(number.to_bytes(8 * words, "little"), tail, strict=False)])
    return rows


def kept_sums(differences: Sequence[float], swaps: Sequence[Sequence[int]]) -> list[tuple[float, int]]:
    """For every choice: the sum and the number of differences that stay."""
    tables = []
    for first in range(0, len(differences), 8):
        part = differences[first : first + 8]
        sums = [(0.0, 0)]
        for value in part:
            sums += [(total + value, count + 1) for total, count in sums]
        tables.append(sums)
    if len(tables) == 1:
        return [tables[0][choice[0]] for choice in swaps]
    found = []
    for choice in swaps:
        total, count = 0.0, 0
        for table, byte in zip(tables, choice, strict=True):
            more, number = table[byte]
            total += more
            count += number
        found.append((total, count))
    return found


def ends(
    kept: Sequence[tuple[float, int]], total: float, blocks: int, confidence: float
) -> tuple[float | None, float | None]:
    """The least and the largest difference that is not rejected; None where there is no end."""
    lows, highs = [], []
    for plus, count in kept:
        if 0 < count < blocks:
            one, other = plus / count, (total - plus) / (blocks - count)
            lows.append(min(one, other))
            highs.append(max(one, other))
    unbounded = len(kept) - len(highs)
    rank = math.floor((1 - confidence) * len(kept) + 1e-9) - unbounded
    if rank < 0:
        return None, None
    return sorted(lows)[rank], sorted(highs, reverse=True)[rank]


def share_of_all(rows: Sequence[Row]) -> float:
    """p over all orders; the first block keeps its labels, for a statistic that no common renaming changes."""
    centred, seen, dust = prepared(rows)
    tables = [[(centred[0])]] + [list(permutations(row)) for row in centred[1:]]
    found = [statistic(chosen) >= seen - dust for chosen in product(*tables)]
    return added(found) / len(found)


def share_of_draws(rows: Sequence[Row], stream: int) -> float:
    """p over the order played and 9,999 drawn ones."""
    centred, seen, dust = prepared(rows)
    arms = len(centred[0])
    reached, counter = 1, 0
    tables = [list(permutations(row)) for row in centred] if arms <= TABLE_ARMS else []
    for _ in range(DRAWS):
        chosen: list[Row] = []
        if tables:
            for table in tables:
                chosen.append(table[mix(stream ^ (counter * GOLDEN & WORD)) * len(table) >> 64])
                counter += 1
        else:
            for row in centred:
                values = list(row)
                for last in range(arms - 1, 0, -1):
                    place = mix(stream ^ (counter * GOLDEN & WORD)) * (last + 1) >> 64
                    values[last], values[place] = values[place], values[last]
                    counter += 1
                chosen.append(tuple(values))
        reached += statistic(chosen) >= seen - dust
    return reached / (DRAWS + 1)


def prepared(rows: Sequence[Row]) -> tuple[list[Row], float, float]:
    """Rows less their means, their statistic, and how far equal statistics may differ."""
    centred = [tuple(value - math.fsum(row) / len(row) for value in row) for row in rows]
    seen = statistic(centred)
    slip = DUST * max(abs(value) for row in rows for value in row)
    return centred, seen, 2 * slip * math.sqrt(seen * len(rows[0])) + len(rows[0]) * slip * slip


def statistic(centred: Sequence[Row]) -> float:
    """The sum over arms of squared means over blocks."""
    blocks = len(centred)
    means = [added(column) / blocks for column in zip(*centred, strict=True)]
    return math.fsum(mean * mean for mean in means)


def holm(values: Sequence[float]) -> list[float]:
    """Holm's correction: of n values, the r-th smallest is multiplied by n - r + 1; the order stays.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    found, reached = [0.0] * len(values), 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=lambda place: values[place])):
        reached = max(reached, min(1.0, (len(values) - rank) * values[place]))
        found[place] = reached
    return found
