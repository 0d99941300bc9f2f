r"""Switchback: every arm once in each block, in random order, so that an exact test can be made at the end.

Model: none for the test; for the estimate, a pull pays within its window of $d$ steps, its own included, and the law of
what it pays $s$ steps later depends on the arm and $s$ alone. A *turn* is a washout of $w = d - 1$ steps and $c$
counted ones; a *block* is one turn of each arm. With $K$ arms there are

$$B = \lfloor \text{until} / (K (w + c)) \rfloor$$

blocks, and then the arm of largest mean is kept. All turns are alike, also when an arm stays. $c$ is `hold`, or $d$,
rounded up to whole seasons; `until` is the horizon. With more than 500 blocks an unset `hold` is lengthened.

Why: the order of each block is drawn independently of all else, so if no variant changes any total, every order was as
probable as the one played. The share of orders whose statistic is at least as large is then an exact p-value, whatever
noise, season, drift and spread are, and also if the window is wrong. The least possible one is $2/2^B$ for two arms and
$1/(K!)^{B-1}$ for more. A trend within the experiment favours no arm. docs/theory/switchback.md has the proofs.

A turn that was cut short breaks its block: the block is left out of the test and of the means. Its other turns are
played all the same, so that the schedule stays as it was drawn.

Bojinov, Simchi-Levi & Zhao (2023) have the exact test and the washout of $d - 1$ steps; Hu & Wager (2022) the burn-in.
Different here: blocks in place of coins, means in place of inverse probabilities, whose error grows with the level.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from afterglow.checks import whole
from afterglow.errors import TOO_SHORT, AfterglowWarning, BadValue, Sentence, argument
from afterglow.policies.block_means import BlockMeans
from afterglow.policies.index import SCHEDULE, Index
from afterglow.policies.policy import Policy

MOST_BLOCKS = 500  # with a hold by formula
LIMIT = 10_000  # blocks at most
LEAST_P = 0.01  # a test that can't reach this is warned of


@dataclass(frozen=True)
class Settings:
    arms: int  # K
    horizon: int  # T
    washout: int  # w
    counted: int  # c, steps of a turn that count
    blocks: int  # B


@dataclass
class State:
    means: list[float]  # of block k and arm a at k K + a
    counts: list[int]  # steps counted there; a block with another number than c is left out
    places: list[int]  # turn within the block, from 1
    block: int  # in play
    turn: int  # turns of it that are over
    clock: int  # steps played


def configure(
    arms: int, window: int, horizon: int, hold: int | None = None, until: int | None = None, season: int = 1
) -> Settings:
    """`hold` is the number of counted steps of a turn, `until` the step by which the schedule ends."""
    arms = whole("arms", arms, 2)
    window = whole("window", window, 1, "1 = paid at once")
    horizon = whole("horizon", horizon, 1)
    season = whole("season", season, 1, "1 = none")
    last = horizon if until is None else whole("until", until, 1)
    if last > horizon:
        raise BadValue(f"{argument('until')} must be at most the horizon, {horizon:,}, got {last:,}")
    washout = window - 1
    if hold is None:
        counted = max(window, -(-last // (arms * MOST_BLOCKS)) - washout)
    else:
        counted = whole("hold", hold, 1)
    counted = season * -(-counted // season)
    blocks = last // (arms * (washout + counted))
    refuse(arms, washout, counted, last, blocks)
    return Settings(arms, horizon, washout, counted, blocks)


def refuse(arms: int, washout: int, counted: int, last: int, blocks: int) -> None:
    """Refuse schedules of too few or too many blocks, warn of those whose test can reject hardly anything."""
    block = arms * (washout + counted)
    turns = f"{arms:,} turns of {washout:,} + {counted:,} steps"
    if blocks < 2:
        raise BadValue(
            f"switchback needs 2 blocks of {turns} = {2 * block:,}, there are {last:,}; lengthen the horizon, shorten "
            f"{argument('hold')}, or take fewer arms",
            kind=TOO_SHORT,
            field="horizon",
        )
    if blocks > LIMIT:
        raise BadValue(f"{argument('hold')} must leave at most {LIMIT:,} blocks, got {blocks:,}; lengthen it")
    least = least_p(arms, blocks)
    if least > LEAST_P:
        need = next(many for many in range(blocks, 99) if least_p(arms, many) <= LEAST_P)
        warnings.warn(
            Sentence(
                f"{blocks:,} blocks of {turns} can't give a p-value below {100 * least:.2g} %; {need} blocks, "
                f"{need * block:,} steps, reach {100 * LEAST_P:g} %"
            ),
            AfterglowWarning,
            stacklevel=4,
        )


def least_p(arms: int, blocks: int) -> float:
    """The smallest p-value that the test of all arms can have.

    >>> least_p(2, 6), least_p(2, 8), least_p(3, 3)
    (0.03125, 0.0078125, 0.027777777777777776)
    """
    return float(math.factorial(arms)) ** (1 - blocks) if blocks * math.lgamma(arms + 1) < 700 else 0.0


def start(settings: Settings) -> State:
    cells = settings.blocks * settings.arms
    return State([0.0] * cells, [0] * cells, [0] * cells, 0, 0, 0)


def next_hold(settings: Settings, state: State, draws: Sequence[float]) -> tuple[int, int, int]:
    if state.block >= settings.blocks:
        return best(settings, state), max(1, settings.horizon - state.clock), 0
    skip = int(draws[0] * (settings.arms - state.turn))
    arm = -1
    while skip >= 0:
        arm += 1
        if state.places[state.block * settings.arms + arm] == 0:
            skip -= 1
    return arm, settings.washout + settings.counted, settings.washout


def learn(settings: Settings, state: State, arm: int, steps: int, split: int, head: float, body: float) -> None:
    state.clock += steps
    if state.block >= settings.blocks:
        return
    cell = state.block * settings.arms + arm
    counted = steps - split
    state.turn += 1
    state.counts[cell] = counted
    state.places[cell] = state.turn
    state.means[cell] = body / max(counted, 1)
    if state.turn == settings.arms:
        state.block += 1
        state.turn = 0


def is_whole(settings: Settings, state: State, block: int) -> bool:
    """Whether every arm had its turn in a block."""
    turns = 0
    for arm in range(settings.arms):
        if state.counts[block * settings.arms + arm] >= settings.counted:
            turns += 1
    return turns == settings.arms


def best(settings: Settings, state: State) -> int:
    """The arm of largest mean over whole blocks; before there is one, over its turns. A tie goes to the lowest."""
    arms = settings.arms
    blocks = min(settings.blocks, state.block + 1)  # that have begun
    done = 0
    whole = [False] * blocks
    for block in range(blocks):
        whole[block] = is_whole(settings, state, block)
        done += 1 if whole[block] else 0
    chosen = 0
    top = -math.inf
    for arm in range(arms):
        total = 0.0
        turns = 0
        for block in range(blocks):
            if whole[block] if done > 0 else state.counts[block * arms + arm] > 0:
                total += state.means[block * arms + arm]
                turns += 1
        if turns > 0 and total / turns > top:
            top = total / turns
            chosen = arm
    return chosen


def mean_of(settings: Settings, state: State, arm: int) -> float:
    """What `best` compares: an arm's mean over whole blocks; before there is one, over its turns."""
    blocks = range(settings.blocks)
    whole = [block for block in blocks if is_whole(settings, state, block)]
    cells = [block * settings.arms + arm for block in whole or blocks]
    total, count = 0.0, 0
    for cell in cells:
        if state.counts[cell] > 0:
            total += state.means[cell]
            count += 1
    return total / count if count else -math.inf


def blocks_of(settings: Settings, state: State) -> BlockMeans:
    """The blocks that a randomisation test reads."""
    arms, played = settings.arms, range(min(state.block + 1, settings.blocks))
    rows = [
        tuple(state.means[block * arms : (block + 1) * arms]) for block in played if is_whole(settings, state, block)
    ]
    ends = settings.blocks * arms * (settings.washout + settings.counted)
    ended = state.block >= settings.blocks
    return BlockMeans(tuple(rows), settings.blocks, settings.blocks - len(rows), ended, ends)


def evidence(settings: Settings, state: State) -> str:
    """What the last decision rests on."""
    if state.block >= settings.blocks:
        return "the means of the schedule, which has ended"
    return f"the draw of turn {state.turn + 1} in block {state.block + 1} of {settings.blocks:,}"


def index(settings: Settings, state: State, draws: Sequence[float]) -> Index:
    """The order of turns, which nothing that is learned changes; after them the means of the schedule."""
    if state.block < settings.blocks:
        return Index([], SCHEDULE, "every one has one turn in each block, in random order")
    return Index([mean_of(settings, state, arm) for arm in range(settings.arms)], what="mean")


policy = Policy(
    "switchback", Settings, State, start, next_hold, learn, configure, best,
    draws=1,
    adjustable=True,
    unbroken=True,
    test=blocks_of,
    evidence=evidence,
    summary="every arm once in each block, in random order, then the best; an exact test at the end",
    guarantee="an exact p-value for every spread, noise, season and drift; regret linear in the length of the schedule",
    source="ours, after Bojinov, Simchi-Levi & Zhao 2023",
    index=index,
)  # fmt: skip
