"""What a randomised schedule has measured: the mean of each arm in each block, as a randomisation test reads it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BlockMeans:
    """Blocks in which every arm was played once, in random order.

    `rows` has a row for each block that counts and a mean of each arm. `left_out` blocks were interrupted or are not
    whole. `ended` says that the schedule has been played to its end, `ends` after how many steps that is.
    """

    rows: tuple[tuple[float, ...], ...]
    planned: int
    left_out: int
    ended: bool
    ends: int
