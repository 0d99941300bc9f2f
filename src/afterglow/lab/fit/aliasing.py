"""Refuse schedules in which arms and phases of a cycle are the same: the effect of an arm can't be told from the hour.

A rotation whose turns divide the day plays each arm at the same hours every day. If totals follow a cycle of that
length, it may be demand or the arms; nothing in the record says which. With a season that was given, arms and phases
can't be estimated together. Where no season was given, the record is refused if totals follow the cycle; `season=1`
says that they would not without the arms.
"""

import numpy as np

from afterglow.errors import BadValue, argument
from afterglow.lab.fit.recorded import Recorded
from afterglow.lab.history.cycles import CYCLES, PERIODS, found_period

SAME = 0.9  # share of steps whose arm is the usual one of their phase, from which on arms are called a function of it
LOOKED_AT = 20_000  # steps
ALIASED = "aliased"  # kind of error


def refuse_aliased(recorded: Recorded, season: int | None) -> None:
    """Refuse a record whose arms follow the phases of a cycle that is given, or that totals follow."""
    if season is not None:
        if season > 1 and follows(recorded, season):
            raise aliased(season, f"the season of {season:,} steps that was given")
        return
    totals = recorded.total[:LOOKED_AT]
    for period in PERIODS:
        if totals.size >= CYCLES * period and follows(recorded, period) and found_period(totals, [period]) == period:
            raise aliased(period, f"totals follow a cycle of {period:,} steps")


def aliased(period: int, what: str) -> BadValue:
    """The error: what can't be told apart, and the way out."""
    return BadValue(
        f"{what}, and each arm was played in the same phases of it all the time, so the effect of an arm can't be told "
        f"from that of the phase; record turns that don't divide {period:,} steps or are drawn at random; if totals "
        f"have no such cycle without the arms, say so with {argument('season', 1)}",
        kind=ALIASED,
        field="season",
    )


def follows(recorded: Recorded, period: int) -> bool:
    """Whether nearly every step has the arm that is usual in its phase."""
    played = recorded.arm >= 0
    phases = np.arange(len(recorded))[played] % period
    counts = np.zeros((period, len(recorded.names)))
    np.add.at(counts, (phases, recorded.arm[played]), 1)
    return float(counts.max(axis=1).sum()) >= SAME * float(counts.sum())
