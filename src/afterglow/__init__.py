"""Multi-armed bandits with delayed, composite, anonymous rewards."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from afterglow.agent import Agent
from afterglow.errors import AfterglowError, MissingExtra
from afterglow.estimation.differences import Difference
from afterglow.estimation.estimates import Estimate, Estimates
from afterglow.estimation.panel import PanelEstimate, PanelEstimates, UnitsTest
from afterglow.policies.policy import Policy
from afterglow.policies.rounds import RoundPolicy
from afterglow.release import __version__
from afterglow.units import Units

if TYPE_CHECKING:
    from afterglow.engine.simulate import simulate
    from afterglow.lab.fit.fitting import fit
    from afterglow.lab.plan.planner import plan
    from afterglow.lab.study.results import Results
    from afterglow.lab.study.study import Study
    from afterglow.worlds.units_world import UnitsWorld
    from afterglow.worlds.world import World

__all__ = [
    "AfterglowError", "Agent", "Difference", "Estimate", "Estimates", "PanelEstimate", "PanelEstimates", "Policy",
    "Results", "RoundPolicy", "Study", "Units", "UnitsTest", "UnitsWorld", "World", "__version__", "fit", "plan",
    "simulate",
]  # fmt: skip

LATER = {
    "Results": "afterglow.lab.study.results", "Study": "afterglow.lab.study.study",
    "UnitsWorld": "afterglow.worlds.units_world", "World": "afterglow.worlds.world",
    "fit": "afterglow.lab.fit.fitting", "plan": "afterglow.lab.plan.planner", "simulate": "afterglow.engine.simulate",
}  # fmt: skip  # imported when first used


def __getattr__(name: str) -> Any:
    if name in ("client", "live"):
        return import_module(f"afterglow.{name}")
    if name in LATER:
        try:
            return getattr(import_module(LATER[name]), name)
        except ModuleNotFoundError as missing:
            raise MissingExtra(f"afterglow.{name}", "fit" if name == "fit" else "lab") from missing
    raise AttributeError(f"module 'afterglow' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *LATER, "client", "live"})
