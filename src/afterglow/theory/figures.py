"""Schedules and regret bounds of policies."""

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from afterglow.checks import whole
from afterglow.errors import AfterglowWarning, BadValue
from afterglow.policies.registry import named, names
from afterglow.theory import elimination, phased, trim
from afterglow.theory.gaps import positive_gaps

ELIMINATION = ("phased-elimination", "improved-ucb", "odaaf", "odaaf-bounded", "odaaf-variance")
COVERED = ("phased-ucb", *ELIMINATION, "trim-ucb")


def bounds(
    policy: str,
    arms: int,
    horizon: int,
    window: int,
    gaps: Sequence[float] | None = None,
    options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The figures of a policy for `arms`, `horizon` and `window`, as plain numbers, lists, strings and None.

    Regret bounds hold for any spread. Without `gaps` they hold for any gaps: each is taken as the costliest
    there is, and 1 where a theorem asks for their sum. None stands for a bound that is not proved.

    >>> figures = bounds("phased-ucb", arms=5, horizon=100_000, window=10, options={"constants": "corrected"})
    >>> figures["hold"], round(figures["theorem_1_corrected"])
    (839, 11319)
    """
    if policy in names() and policy not in COVERED:
        sentence = f"no bound is written down for {policy}; there are bounds for {', '.join(COVERED)}"
        raise BadValue(sentence, kind="no-bound", field="policy")
    chosen = named(policy)
    arms, window = whole("arms", arms, 2), whole("window", window, 1, "1 = paid at once")
    horizon = whole("horizon", horizon, 3)
    known = None if gaps is None else [*positive_gaps(arms, gaps)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AfterglowWarning)  # a bound says by its size what the warning says
        settings = chosen.settings(arms, window, horizon, options)
    found: dict[str, Any] = {"policy": policy, "arms": arms, "horizon": horizon, "window": window, "gaps": known}
    found["gaps_assumed"] = "any, each at most 1" if gaps is None else None
    given = dict(options or {})
    if policy == "phased-ucb":
        found |= _phased(arms, horizon, window, gaps, settings, given)
    elif policy == "trim-ucb":
        found |= _trim(arms, horizon, window, gaps, settings, given)
    else:
        found |= _elimination(policy, arms, horizon, window, gaps, settings)
    return found | {"trivial": horizon * (1.0 if known is None else max(known, default=0.0))}


def _phased(
    arms: int, horizon: int, window: int, gaps: Sequence[float] | None, settings: Any, options: Mapping[str, Any]
) -> dict[str, Any]:
    radius = phased.radius_scale(settings.width, horizon)
    constant = phased.pulls_constant(radius, phased.bias_scale(window, settings.hold, horizon))
    as_set = phased.regret_proved(arms, horizon, settings.hold, constant, gaps)
    return {
        "hold": settings.hold,
        "log_delta": settings.log_delta,
        "theorem_1_paper": phased.theorem_1_paper(arms, horizon, window, gaps),
        "theorem_1_corrected": phased.theorem_1_corrected(arms, horizon, window, gaps, options.get("a", 0.5)),
        "regret_as_set": as_set if math.isfinite(as_set) else None,
    }


def _elimination(
    policy: str, arms: int, horizon: int, window: int, gaps: Sequence[float] | None, settings: Any
) -> dict[str, Any]:
    found: dict[str, Any] = {"schedule": list(settings.schedule), "theorem_2_paper": None}
    if policy == "phased-elimination":
        found["theorem_2_paper"] = elimination.theorem_2_paper(arms, horizon, window, gaps)
        found["theorem_2_sharper"] = elimination.theorem_2_sharper(arms, horizon, window, gaps)
    if policy == "improved-ucb":
        found["auer_ortner"] = elimination.auer_ortner(arms, horizon, gaps) if window == 1 else None
    return found


def _trim(
    arms: int, horizon: int, window: int, gaps: Sequence[float] | None, settings: Any, options: Mapping[str, Any]
) -> dict[str, Any]:
    level, variance = options.get("level", "plain"), options.get("variance", "none")
    proved = level in trim.LEVELS and variance != "estimated"
    radii = 1 if variance == "none" else 2
    bound = trim.regret_bound(arms, horizon, window, gaps, level, settings.endgame, radii) if proved else None
    return {
        "endgame": settings.endgame,
        "log_evidence": trim.log_evidence(horizon, level) if level in trim.LEVELS else None,
        "regret_as_set": bound,
        "regret_strict": trim.regret_bound(arms, horizon, window, gaps, "strict", settings.endgame),
    }
