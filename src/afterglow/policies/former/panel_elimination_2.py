"""Version 2 of panel elimination: whatever the number of units, both rounds of a stage's fit were made at its end.

Sets of units beyond those of the table went into a dense matrix. With 200 units and some totals missing, the last slot
of a stage took a quarter of a second. With up to 40 units version 3 decides as this one, to the bit.
"""

from collections.abc import Sequence

from afterglow.policies.former._panel_state_1 import start as start_sums
from afterglow.policies.panel.alarm import too_short
from afterglow.policies.panel.counting import add_columns, weigh
from afterglow.policies.panel.elimination import (
    alarmed,
    configure,
    decide,
    next_round,
    quiet,
    recommend,
    unchanged,
)
from afterglow.policies.panel.report import compared, difference, statistic
from afterglow.policies.panel.sets import note_set
from afterglow.policies.panel.state import Settings, Watched
from afterglow.policies.panel.variance import fitted_wholly
from afterglow.policies.rounds import RoundPolicy


def start(settings: Settings) -> Watched:
    return Watched(**vars(start_sums(settings)), before=[-1] * settings.units)


def count_slot(settings: Settings, state: Watched, known: Sequence[int], bodies: Sequence[float]) -> None:
    weights = [0.0] * settings.units  # 0: not counted
    values = [0.0] * settings.units
    total = weigh(settings, state, known, bodies, weights, values)
    if total > 0.0:
        note_set(settings, state, weights, total)
        add_columns(settings, state, weights, values, total)


def learn(
    settings: Settings,
    state: Watched,
    steps: int,
    split: int,
    known: Sequence[int],
    heads: Sequence[float],
    bodies: Sequence[float],
) -> None:
    if steps < settings.slot:
        state.clock += steps
        return  # cut short by the horizon
    count_slot(settings, state, known, bodies)
    slots = steps // settings.slot
    while slots > 0:
        part = slots
        if state.slots_left > 0:
            part = min(slots, state.slots_left)
        pass_slots(settings, state, part)
        slots -= part


def pass_slots(settings: Settings, state: Watched, slots: int) -> None:
    """Slots have ended, at most those that the stage has left."""
    state.clock += slots * settings.slot
    for unit in range(settings.units):
        state.age[unit] += slots
    state.slots_left -= slots
    left = (settings.horizon - state.clock) // settings.slot
    if state.slots_left == 0 and state.arms_left == 1:
        watch(settings, state)
    elif state.slots_left <= 0 and left > 0 and state.arms_left > 1:
        solved, variance = fitted_wholly(settings, state)
        decide(settings, state, solved, variance, left)


def watch(settings: Settings, state: Watched) -> None:
    """The last change is over: it may still show that the window is too short."""
    if state.alarms == 0:
        solved, _ = fitted_wholly(settings, state)
        if too_short(settings, state, solved):
            state.alarms = 1


policy = RoundPolicy(
    "panel-elimination", Settings, Watched, start, next_round, learn, configure, recommend, difference, statistic,
    alarmed,
    summary="several units at once: compared within the same steps, arms rotated, those that fall behind dropped",
    guarantee="what units share changes no decision; regret as of one unit without shocks, plus each unit's washout",
    source="ours, after successive elimination (Even-Dar, Mannor & Mansour 2006)",
    compared=compared,
    quiet=quiet,
    unchanged=unchanged,
    version=2,
)  # fmt: skip
