"""A randomised schedule to take away: what the policy `switchback` would serve, which no total changes.

The same variants, window, horizon, season, settings and seed give the schedule that an agent or an experiment plays.
"""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from io import StringIO

from afterglow.checks import Name, any_seed, arm_names, whole
from afterglow.policies.registry import named
from afterglow.policies.season import seasonal
from afterglow.policy_runner import PolicyRunner
from afterglow.rng import POLICY, key

HEAD = ("step", "variant", "block", "turn", "counted", "total")


@dataclass(frozen=True, slots=True)
class Turn:
    """Steps on one variant, of which the first `washout` don't count. Blocks and turns are numbered from 1."""

    block: int
    turn: int  # within the block
    variant: Name
    first: int  # step
    steps: int
    washout: int


def schedule(
    variants: Iterable[Name] | int,
    window: int,
    horizon: int,
    season: int = 1,
    *,
    hold: int | None = None,
    until: int | None = None,
    seed: int = 1,
    run: int = 0,
) -> list[Turn]:
    """The turns of a schedule, in order; after them the best variant is kept.

    >>> [turn.variant for turn in schedule(["A", "B"], window=4, horizon=112, seed=7)][:6]
    ['B', 'A', 'A', 'B', 'A', 'B']
    """
    names = arm_names(variants)
    policy = seasonal(named("switchback"), whole("season", season, 1, "1 = none"))
    given = {name: value for name, value in (("hold", hold), ("until", until)) if value is not None}
    settings = policy.settings(len(names), window, whole("horizon", horizon, 1), given)
    stream = key(any_seed(seed), whole("run", run, 0), POLICY)
    runner = PolicyRunner(policy, settings, policy.start(settings), len(names), stream)
    turns: list[Turn] = []
    for number in range(settings.blocks * len(names)):
        asked = runner.current()
        block, turn = divmod(number, len(names))
        turns.append(Turn(block + 1, turn + 1, names[asked.arm], number * asked.steps, asked.steps, asked.split))
        asked.done = asked.steps
        runner.close()
    return turns


def as_csv(turns: Iterable[Turn], starts: datetime | None = None, step: timedelta | None = None) -> str:
    """A row for each step, with an empty column for its total; steps are numbers, or times if they are given."""
    text = StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(HEAD if starts is None else ("time", *HEAD))
    rows.writerows(lines(turns, starts, step))
    return text.getvalue()


def lines(turns: Iterable[Turn], starts: datetime | None, step: timedelta | None) -> Iterator[list[object]]:
    for turn in turns:
        for place in range(turn.steps):
            number = turn.first + place
            counted = "yes" if place >= turn.washout else "no"
            when = [] if starts is None or step is None else [(starts + number * step).isoformat(timespec="minutes")]
            yield [*when, number, turn.variant, turn.block, turn.turn, counted, ""]
