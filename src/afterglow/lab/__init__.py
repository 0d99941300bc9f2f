"""Simulation studies, plans, fits, reports, and a Gymnasium environment.

Each name is imported when it is first used, because the compiled simulator takes a second to load.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from afterglow.lab.fit import Fit
    from afterglow.lab.gym_env import WorldEnv
    from afterglow.lab.plan import Plan
    from afterglow.lab.reading import read_panel, read_steps, read_totals
    from afterglow.lab.report import save_figures, write_report
    from afterglow.lab.study import Results, ResultTable, Study

__all__ = [
    "Fit", "Plan", "ResultTable", "Results", "Study", "WorldEnv", "read_panel", "read_steps", "read_totals",
    "save_figures", "write_report",
]  # fmt: skip

MODULES = {
    "Fit": "fit", "Plan": "plan", "ResultTable": "study", "Results": "study", "Study": "study", "WorldEnv": "gym_env",
    "read_panel": "reading", "read_steps": "reading", "read_totals": "reading", "save_figures": "report",
    "write_report": "report",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in MODULES:
        return getattr(import_module(f"afterglow.lab.{MODULES[name]}"), name)
    raise AttributeError(f"module 'afterglow.lab' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
