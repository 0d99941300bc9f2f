"""Which units were counted together, as far as the units' block of the regression needs it.

A slot takes q q'/Q from that block, with q the weights of its counted units and Q their sum. Slots with the same set of
units have the same q, and a table keeps one row for each set. When the table is full:

- With up to 40 units such slots are added to a dense matrix, which is factorised at the end of a stage.
- With more units that would take a quarter of a second. Instead a slot joins the set of the table that is most like
  its own. A row c then is the sum of its slots' q, and c c'/sum(c) stands for the sum of their q q'/Q. Both matrices
  have the same row sums, so a level that all units share stays undetermined, as it must. They are the same where all
  slots of the row have one set.
"""

from collections.abc import Sequence

from afterglow.policies.panel.rows import dot
from afterglow.policies.panel.state import SETS, Settings, Sums, room

SAME = 1.0 - 1e-12  # square of the cosine of two rows that are one set
LIKE = 0.8  # and of two that are like each other: these leave half of the table to others


def note_like(settings: Settings, state: Sums, weights: Sequence[float], total: float) -> None:
    """Note it in the row of the set that is most like this one, or in a new one as long as there is room."""
    units = settings.units
    own = dot(weights, weights)
    best = -1
    nearest = -1.0
    for place in range(state.sets):
        row = state.set_weights[place * units : (place + 1) * units]
        both = dot(row, weights)
        cosine = both * both / (own * dot(row, row))
        if cosine > nearest:
            nearest = cosine
            best = place
    if state.sets < (room(settings) // 2 if LIKE < nearest < SAME else room(settings)) and nearest < SAME:
        best = state.sets
        state.sets += 1
    begin = best * units
    for unit in range(units):
        state.set_weights[begin + unit] += weights[unit]
    counted = total
    if state.set_sums[best] > 0.0:
        counted += 1.0 / state.set_sums[best]
    state.set_sums[best] = 1.0 / counted


def note_set(settings: Settings, state: Sums, weights: Sequence[float], total: float) -> None:
    """Note which units were counted together: in the table, or, when it is full, in the dense matrix."""
    units = settings.units
    for place in range(state.sets):
        begin = place * units
        same = True
        for unit in range(units):
            if state.set_weights[begin + unit] != weights[unit]:
                same = False
                break
        if same:
            state.set_sums[place] += 1.0 / total
            return
    if state.sets < SETS:
        begin = state.sets * units
        for unit in range(units):
            state.set_weights[begin + unit] = weights[unit]
        state.set_sums[state.sets] = 1.0 / total
        state.sets += 1
        return
    state.dense_slots += 1
    for row in range(units):
        if weights[row] > 0.0:
            share = weights[row] / total
            begin = row * units
            for unit in range(units):
                state.dense[begin + unit] += share * weights[unit]
