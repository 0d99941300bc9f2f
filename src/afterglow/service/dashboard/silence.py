"""What pages say of an experiment into which nothing was reported for a while."""

from afterglow.live.domain.notices import SILENT
from afterglow.live.domain.status import Status
from afterglow.live.experiment_results import Listed
from afterglow.service.dashboard.charts.lanes import quiet


def silence(listed: Listed) -> str:
    """What to say if nothing was reported in the last steps; empty if something was, and after the end."""
    steps = listed.silent
    if listed.decision.role == "over":
        return ""
    if steps < SILENT:
        return silent_units(listed.status)
    if listed.reported:
        return f"Nothing was reported in the last {steps:,} steps. Is the program that reports still running?"
    return (
        f"Nothing was ever reported, in {steps:,} steps. Steps are not learned from until the first report. Does a "
        "program send rewards to this experiment?"
    )


def silent_units(status: Status) -> str:
    """What to say if some units have not reported for a while, and others have."""
    if not status.units:
        return ""
    names = quiet(status, SILENT)
    shown = f"{', '.join(names[:5])}{' and others' * (len(names) > 5)}"
    have = "has" if len(names) == 1 else "have"
    return f"{shown} {have} not reported in the last {SILENT} steps; the other units go on." if names else ""
