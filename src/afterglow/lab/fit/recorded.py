"""Recorded steps as arrays, with the shares of arms at the lags of each step."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from afterglow.errors import BadValue, argument
from afterglow.lab.reading.tables import Steps

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
MOST_STEPS = 10_000_000
MOST_ARMS = 200
LARGEST_TOTAL = 1e100  # squares of more are no floats
MOST_NUMBERS = 60_000_000  # arms times steps: about 0.5 GB for each table of them


@dataclass
class Recorded:
    """Arms and totals by step; arm -1 and total NaN where there is no row."""

    names: tuple[str, ...]
    arm: NDArray[np.int64]
    total: Array
    first: int  # number of the first step
    season: int = 1  # steps of a cycle; 1 = none
    expected: Array | None = None  # what was expected of each step beforehand, nan where unknown
    played: NDArray[np.int64] = field(init=False)  # times an arm was played before each step, a row for each arm

    def __post_init__(self) -> None:
        marks = np.array([self.arm == place for place in range(-1, len(self.names))], dtype=np.int64)
        self.played = np.hstack([np.zeros((len(marks), 1), dtype=np.int64), marks.cumsum(axis=1)])

    @classmethod
    def of(cls, steps: Steps, season: int = 1) -> "Recorded":
        """Rows of a table, by step."""
        names = tuple(sorted(set(steps.arm), key=natural))
        if len(names) < 2:
            sentence = f"a fit needs at least two arms, the table has {', '.join(map(repr, names)) or 'none'}"
            raise BadValue(sentence, kind="too-few-arms", field="source")
        if len(names) > MOST_ARMS:
            way_out = f"is another column the arm? name it with {argument('arm_column')}"
            sentence = f"a fit takes at most {MOST_ARMS} arms, the table has {len(names):,}; {way_out}"
            raise BadValue(sentence, kind="too-many-arms", field="source")
        largest = max((abs(value) for value in steps.total if value == value), default=0.0)
        if largest > LARGEST_TOTAL:
            sentence = (
                f"totals of a fit must be at most {LARGEST_TOTAL:g}, the largest is {largest:g}; choose a larger unit"
            )
            raise BadValue(sentence, kind="too-large-totals", field="source")
        line = np.array(steps.step) - min(steps.step)
        if int(line.max()) >= MOST_STEPS:
            sentence = f"a fit takes at most {MOST_STEPS:,} steps, the table has {int(line.max()) + 1:,}"
            raise BadValue(sentence, kind="too-many-steps", field="source")
        if (int(line.max()) + 1) * len(names) > MOST_NUMBERS:
            most = MOST_NUMBERS // len(names)
            sentence = f"a fit of {len(names)} arms takes at most {most:,} steps, the table has {int(line.max()) + 1:,}"
            raise BadValue(sentence, kind="too-many-steps", field="source")
        arm = np.full(int(line.max()) + 1, -1)
        total = np.full(len(arm), np.nan)
        places = {name: place for place, name in enumerate(names)}
        arm[line] = [places[name] for name in steps.arm]
        total[line] = steps.total
        expected = None
        if steps.expected is not None:
            expected = np.full(len(arm), np.nan)
            expected[line] = steps.expected
        return cls(names, arm, total, min(steps.step), season, expected)

    def last(self, steps: int) -> "Recorded":
        """The last so many steps; all of them if there are not more."""
        cut = len(self) - steps
        if cut <= 0:
            return self
        expected = None if self.expected is None else self.expected[cut:]
        return Recorded(self.names, self.arm[cut:], self.total[cut:], self.first + cut, self.season, expected)

    @property
    def surplus(self) -> Array:
        """What was expected beyond the usual, 0 where it isn't known."""
        assert self.expected is not None
        known = np.isfinite(self.expected)
        return np.asarray(np.where(known, self.expected - np.mean(self.expected[known]), 0.0))

    def __len__(self) -> int:
        return len(self.arm)

    @property
    def changes(self) -> int:
        """How often the arm changed."""
        known = self.arm[self.arm >= 0]
        return int((known[1:] != known[:-1]).sum())

    def filled(self, first: int, end: int) -> Array:
        """Share of the lags from `first` to `end` - 1 that each arm fills: a row for each step, nan if not known."""
        steps = len(self)
        counts = np.full((steps, len(self.names) + 1), np.nan)
        whole = np.arange(end - 1, steps)  # steps with all these lags behind them
        counts[whole] = (self.played[:, whole - first + 1] - self.played[:, whole - end + 1]).T
        counts[counts[:, 0] > 0] = np.nan
        return counts[:, 1:] / (end - first)


def natural(name: str) -> tuple[bool, float, str]:
    """Numbers by size, then texts by letters."""
    try:
        return False, float(name), name
    except ValueError:
        return True, 0.0, name.casefold()


def contrasts(shares: Array) -> Array:
    """Shares of arms as columns that add up to zero over the arms: each arm's less the last one's."""
    return np.asarray(shares[:, :-1] - shares[:, -1:])
