"""The exact test of a schedule that ran elsewhere: turns of equal length whose arms were drawn at random.

`blocks`: each arm once in every K turns, in random order. The test and the intervals are those of the policy
`switchback`: the first window - 1 steps of a turn are left out, the rest are averaged. `coin`: the arm of each turn was
drawn alone, all arms with the same probability; `afterglow.lab.fit.coins` has its statistic.

A table that can't come from the design is refused, with the first turn at fault. Totals may be adjusted first, by
expected totals or by the mean of each phase of a season. Neither depends on the arms, so it is the same for every order
that is drawn, and the test stays exact.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterglow.checks import choice, whole
from afterglow.errors import BadValue, argument
from afterglow.estimation.randomisation import Test, randomisation_test
from afterglow.lab.fit.coins import coin_test
from afterglow.lab.fit.recorded import Array, Recorded
from afterglow.policies.block_means import BlockMeans
from afterglow.rng import TEST, key

DESIGNS = ("blocks", "coin")
SEED = 1  # of the orders that are drawn


@dataclass(frozen=True)
class DesignTest:
    """The test of a design, and how much of the table it used."""

    design: str
    turn_steps: int
    turns: int  # that were tested
    turns_left_out: int  # not whole, or without totals
    steps_without_total: int  # within the turns that were tested
    adjusted: str  # for what totals were adjusted, in words; empty for nothing
    test: Test

    @property
    def sentence(self) -> str:
        """The answer."""
        test = self.test
        for arm in test.means:
            p = test.better(arm)
            if p is not None:
                others = " and ".join(str(other) for other in test.means if other != arm)
                return f"{arm} is better than {others}: p = {p:.2g}, by re-drawing the schedule"
        shown = "the arms are not all alike" if test.p <= 1 - test.confidence else "no difference between arms is shown"
        return f"{shown}: p = {test.p:.2g}, by re-drawing the schedule"

    @property
    def basis(self) -> str:
        """How many turns and orders it rests on."""
        orders = "all orders" if self.test.every_order else "the order played and 9,999 drawn ones"
        blocks = f"{self.test.blocks:,} blocks, " if self.design == "blocks" else ""
        parts = [f"{blocks}{self.turns:,} turns of {self.turn_steps:,} steps, {orders}"]
        if self.turns_left_out:
            parts.append(f"{self.turns_left_out:,} turns that are not whole or have no totals are left out")
        if self.steps_without_total:
            parts.append(f"{self.steps_without_total:,} steps have no total")
        if self.adjusted:
            parts.append(f"adjusted for {self.adjusted}")
        return "exact if the schedule was drawn at random and followed; " + "; ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self) | {"sentence": self.sentence, "test": self.test.to_dict()}


def design_test(
    recorded: Recorded, window: int, turns: int, design: str, confidence: float = 0.95, expected: Array | None = None
) -> DesignTest:
    """Test recorded steps; `turns` is the number of steps of a turn, `expected` what was expected of each step."""
    choice("design", design, DESIGNS)
    length = whole("turns", turns, 1, "steps of a turn")
    arms = turn_arms(recorded, length)
    totals, adjusted = adjusted_totals(recorded, expected)
    used = len(arms) * length
    table = totals[:used].reshape(len(arms), length)
    stream = key(SEED, 0, TEST)
    if design == "coin":
        test = coin_test(arms, table, window - 1, recorded.names, stream, confidence)
        lost = int(np.isnan(table).sum())
        return DesignTest(design, length, len(arms), (len(recorded) > used) + 0, lost, adjusted, test)
    whole_blocks = block_arms(recorded, arms, length)
    if length < window:
        raise BadValue(
            f"{argument('turns')} must be at least the window, {window:,}, so that something of a turn is left after "
            f"its first {window - 1:,} steps, got {length:,}"
        )
    rows, kept = block_means(whole_blocks, table[:, window - 1 :], len(recorded.names))
    planned = len(whole_blocks)
    found = randomisation_test(
        BlockMeans(rows, planned, planned - len(rows), True, used), recorded.names, stream, confidence
    )
    if found is None:
        raise BadValue("no block has a total of every arm after its washout; nothing can be tested", field="source")
    every = -(-len(recorded) // length)
    lost = int(np.isnan(table[kept]).sum())
    return DesignTest(design, length, len(kept), every - len(kept), lost, adjusted, found)


def turn_arms(recorded: Recorded, length: int) -> NDArray[np.int64]:
    """The arm of each whole turn; a turn with two arms, or without any, is refused."""
    whole_turns = len(recorded) // length
    found = np.full(whole_turns, -1)
    for turn in range(whole_turns):
        steps = recorded.arm[turn * length : (turn + 1) * length]
        known = np.flatnonzero(steps >= 0)
        if not len(known):
            raise refused(recorded, turn, length, "has no rows, so its arm isn't known")
        first = steps[known[0]]
        other = known[steps[known] != first]
        if len(other):
            names, at = recorded.names, recorded.first + turn * length + int(other[0])
            change = f"begins with {names[first]} and has {names[steps[other[0]]]} from step {at:,} on"
            raise refused(recorded, turn, length, change)
        found[turn] = first
    if whole_turns < 2:
        raise BadValue(
            f"{argument('turns')} must leave at least two whole turns, the table has {len(recorded):,} steps, got "
            f"{length:,}",
            kind="too-few-steps",
        )
    return found


def block_arms(recorded: Recorded, arms: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    """The arms of whole blocks, a row for each; a block that has an arm twice is refused."""
    count = len(recorded.names)
    for turn, arm in enumerate(arms):
        before = arms[turn - turn % count : turn]
        if arm in before:
            earlier = turn - turn % count + int(np.flatnonzero(before == arm)[0])
            says = f"has {recorded.names[arm]}, as turn {earlier + 1:,} of the same block of {count} turns has"
            raise refused(recorded, turn, length, says)
    blocks = len(arms) // count
    if blocks < 1:
        raise BadValue(
            f"{argument('turns')} must leave a whole block of {count} turns, the table has {len(arms):,}, got "
            f"{length:,}",
            kind="too-few-steps",
        )
    return arms[: blocks * count].reshape(blocks, count)


def refused(recorded: Recorded, turn: int, length: int, says: str) -> BadValue:
    """The error for a turn that the design can't have."""
    first = recorded.first + turn * length
    return BadValue(
        f"turn {turn + 1:,}, steps {first:,} to {first + length - 1:,}, {says}; check {argument('turns')} and "
        f"{argument('design')}, begin the table with the first turn, and leave out what was played after the schedule",
        kind="not-the-design",
        field="design",
    )


def block_means(
    blocks: NDArray[np.int64], counted: Array, count: int
) -> tuple[tuple[tuple[float, ...], ...], NDArray[np.int64]]:
    """The mean of each arm in each block that has all of them, and the turns of these blocks."""
    rows = []
    kept: list[int] = []
    known = ~np.isnan(counted)
    for block, arms in enumerate(blocks):
        turns = np.arange(block * count, (block + 1) * count)
        if not known[turns].any(axis=1).all():
            continue
        means = np.zeros(count)
        means[arms] = [float(np.nanmean(counted[turn])) for turn in turns]
        rows.append(tuple(float(mean) for mean in means))
        kept.extend(turns)
    return tuple(rows), np.array(kept, dtype=np.int64)


def adjusted_totals(recorded: Recorded, expected: Array | None) -> tuple[Array, str]:
    """Totals less what was expected of them, or less the mean of their phase; and that in words."""
    totals = recorded.total.copy()
    words = []
    if expected is not None:
        given = ~np.isnan(expected) & ~np.isnan(totals)
        totals[given] -= expected[given] - expected[given].mean()
        words.append("expected totals")
    if recorded.season > 1:
        phase = np.arange(len(totals)) % recorded.season
        level = np.nanmean(totals)
        for each in range(recorded.season):
            of_phase = (phase == each) & ~np.isnan(totals)
            if of_phase.any():
                totals[of_phase] -= totals[of_phase].mean() - level
        words.append(f"the season of {recorded.season:,} steps")
    return totals, " and ".join(words)
