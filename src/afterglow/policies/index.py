"""`Index`: the numbers by which a policy chooses an arm, and the sentence that explains a choice with them.

A policy declares them as `index(settings, state, draws)`, for explanations only. `draws` are the uniforms that the
choice has read.

    >>> found = Index([0.402, 0.451, 0.310])
    >>> found.sentence(["x1.0", "x1.2", "x0.8"], chosen=1, scale=100.0, unit="EUR")
    'x1.2 had the highest index, 45.1 EUR against 40.2 EUR for x1.0'
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

LARGEST = "largest"  # the arm of the largest value is chosen
DRAWN = "drawn"  # values are shares: an arm is drawn, or has turns, in proportion
SCHEDULE = "schedule"  # there are no values: the order was drawn at the start, whatever is learned
IN_PLAY = "in play"  # values are means: arms take turns until they are dropped
COMPARED = "compared"  # values are means: the best arm and the closest take turns until they are told apart
LISTED = 4  # arms that a sentence names


class Index(NamedTuple):
    """One value for each arm: infinite for one that was never tried and so comes first, nan for a dropped one."""

    values: list[float]
    how: str = LARGEST
    what: str = "index"  # what a value is called

    @property
    def amounts(self) -> bool:
        """Whether values are in the unit of totals; otherwise they are shares."""
        return self.how in (LARGEST, IN_PLAY, COMPARED)

    def scaled(self, scale: float) -> list[float]:
        """The values in the user's unit; shares as they are."""
        return [value * scale for value in self.values] if self.amounts else self.values[:]

    def sentence(self, names: Sequence[str], chosen: int, scale: float = 1.0, unit: str = "") -> str:
        """Why an arm was chosen; `scale` is what a reward of 1 is in the user's unit."""
        if self.how == SCHEDULE:
            return f"the schedule says so: {self.what}"
        if self.how == DRAWN:
            return drawn_sentence(self, names, chosen)
        texts = amounts(self.scaled(scale), unit)
        if self.how == COMPARED:
            means = ", ".join(f"{name} {text}" for name, text in list(zip(names, texts, strict=True))[:LISTED])
            return f"{names[chosen]} is compared until the best is told apart from every other ({self.what}: {means})"
        return (
            in_play_sentence(self, names, chosen, texts) if self.how == IN_PLAY else largest(self, names, chosen, texts)
        )


def largest(index: Index, names: Sequence[str], chosen: int, texts: Sequence[str]) -> str:
    """The arm of the largest value, or one that was chosen earlier and is held on."""
    values, others = index.values, [arm for arm in range(len(names)) if arm != chosen]
    rival = max(others, key=lambda arm: (values[arm], -arm))
    if values[chosen] == math.inf:
        return f"{names[chosen]} was not tried yet"
    if values[rival] > values[chosen]:
        held = f"{names[chosen]} was chosen before and is kept until its hold ends"
        if values[rival] == math.inf:
            return f"{held}; {names[rival]} was not tried yet"
        return f"{held}; {names[rival]} had the highest {index.what}, {texts[rival]} against {texts[chosen]}"
    if texts[rival] == texts[chosen]:
        return (
            f"{names[chosen]} had the highest {index.what}, {texts[chosen]}, with {names[rival]} as high or nearly so"
        )
    return f"{names[chosen]} had the highest {index.what}, {texts[chosen]} against {texts[rival]} for {names[rival]}"


def drawn_sentence(index: Index, names: Sequence[str], chosen: int) -> str:
    """The shares of the largest arms, the chosen one first."""
    order = sorted(range(len(names)), key=lambda arm: (arm != chosen, -index.values[arm], arm))
    listed = [f"{share(index.values[arm])} for {names[arm]}" for arm in order[1:LISTED]]
    more = "" if len(names) <= LISTED else f", less for {len(names) - LISTED} more"
    mine = f"{names[chosen]} was drawn at random, its {index.what} {share(index.values[chosen])}"
    return f"{mine} against {', '.join(listed)}{more}"


def in_play_sentence(index: Index, names: Sequence[str], chosen: int, texts: Sequence[str]) -> str:
    """Which arms are left."""
    left = [arm for arm in range(len(names)) if not math.isnan(index.values[arm])]
    tried = [arm for arm in left if math.isfinite(index.values[arm])]
    means = f" ({', '.join(f'{names[arm]} {texts[arm]}' for arm in tried[:LISTED])})" if tried else ""
    if left == [chosen]:
        return f"{names[chosen]} is the only one still in play"
    dropped = len(names) - len(left)
    out = "none was dropped yet" if not dropped else f"{dropped} of {len(names)} dropped"
    return f"{names[chosen]} is still in play, one of {len(left)}{means}; {out}"


def share(value: float) -> str:
    """A share in percent."""
    return f"{100 * value:.0f} %" if value >= 0.01 or value == 0 else "below 1 %"


def amounts(values: Sequence[float], unit: str) -> list[str]:
    """Amounts with three digits of the largest, so that they can be compared.

    >>> amounts([45.123, 40.2, math.inf], "EUR"), amounts([1234.5, 0.2], "")
    (['45.1 EUR', '40.2 EUR', 'inf EUR'], ['1,234', '0'])
    """
    finite = [abs(value) for value in values if math.isfinite(value)]
    top = max(finite, default=0.0)
    digits = max(0, 2 - math.floor(math.log10(top))) if top > 0 else 0
    return [f"{value + 0.0:,.{digits}f}" + f" {unit}" * bool(unit) for value in values]
