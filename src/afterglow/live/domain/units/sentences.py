"""The verdict on an experiment with units, and why a unit has its variant, as sentences for people who decide."""

import math
from collections.abc import Sequence

from afterglow.estimation.panel import PanelEstimates, UnitsTest
from afterglow.estimation.sentences import STOPPED, ahead, amounts, percent
from afterglow.estimation.verdict import Verdict

NO_TIME = "Nothing was learned since the policy last started afresh: too few steps were left."
LISTED = 4  # variants that a sentence names


def sentence(verdict: Verdict, test: UnitsTest | None, units: int, plays: bool = True) -> str:
    """What is recommended for all units, how sure that is, and what would help; `plays` is False without a policy."""
    parts = [claim(verdict) if plays else NO_TIME]
    if test is not None:
        parts.append(tested(test, verdict, units))
    if verdict.stopped:
        parts.append(STOPPED)
    if verdict.alarm is not None:
        parts.append(f"An alarm stands: {verdict.alarm}.")
    return " ".join(part for part in parts if part)


def claim(verdict: Verdict) -> str:
    best, row = verdict.recommended, verdict.to_runner_up
    if best is None:
        if not verdict.over or verdict.stopped:
            return "Nothing is known yet."
        return "Nothing was learned: no two units had totals in the same counted steps, or all of them were 0."
    if row is None:
        return f"{best} is the only variant that is enabled."
    if row.mean is None:
        if not verdict.over:
            return f"Not known yet which is best: {row.missing}."
        return f"{best} is recommended; it can't be compared with {row.other}: {row.missing}."
    numbers = amounts(row, verdict.unit)
    chance = "" if verdict.chance is None else f" (chance {percent(verdict.chance)})"
    return {
        "tested": f"{best} is recommended for all units; over {row.other}, which comes closest, it brings {numbers}.",
        "leading": f"{best} is probably the best{chance}{'' if verdict.over else ', which decides nothing yet'}; over "
        f"{row.other} it brings {numbers}.",
        "exploring": ahead(verdict, row, chance, numbers),
    }.get(verdict.grade, f"{best} is recommended; the data can't tell it from {row.other}: {numbers}.")


def tested(test: UnitsTest, verdict: Verdict, units: int) -> str:
    """What the exact test says, and whether it could have said more."""
    how = "by re-drawing which unit began with which variant"
    if verdict.grade == "tested":
        return f"Variants do differ: p = {test.p:.2g}, {how}."
    least = (1 + test.same) / (1 + test.draws)
    few = f" With {units} units it can't be below about {least:.1g}: too few plans can be drawn."
    hint = few if least > 1 - verdict.confidence else ""
    return f"That no variant changes any total can't be ruled out: p = {test.p:.2g}, {how}.{hint}"


def in_play(names: Sequence[str], alive: Sequence[int], chosen: str, found: PanelEstimates) -> str:
    """Why a unit has a variant: which variants are left, and what is known of them."""
    left = [names[arm] for arm in alive]
    if left == [chosen]:
        return f"{chosen} is the only one still in play"
    if chosen not in left:
        return ""
    known = [(one.arm, one.difference) for one in found if one.arm in left and math.isfinite(one.difference)]
    shown = ", ".join(f"{arm} {100 * value + 0.0:+.1f} %" for arm, value in known[:LISTED] if arm != found.best)
    against = f" (against {found.best}: {shown})" if shown else ""
    dropped = len(names) - len(left)
    out = "none was dropped yet" if not dropped else f"{dropped} of {len(names)} dropped"
    return f"{chosen} is still in play, one of {len(left)}, which the units take in turns{against}; {out}"
