"""What the order and the filter of the list of experiments need of each."""

from typing import NamedTuple

from afterglow.live.domain.log import Place

ARCHIVED = "archived"
FILTERS = {  # the values of the filter and their words, by group
    "Attention": {"alarm": "alarm", "silent": "no reports"},
    "Phase": {
        "draft": "not started", "scheduled": "scheduled", "running": "running", "paused": "paused", "over": "ended",
        ARCHIVED: "archived",
    },
    "Verdict": {
        one: one for one in ("exploring", "leading", "clear", "tested", "proven", "inconclusive", "stopped")
    },
}  # fmt: skip
KNOWN = {value for group in FILTERS.values() for value in group}


class ListedState(NamedTuple):
    """Kept until the log of the experiment grows."""

    place: Place
    phase: str  # "" for one that can't be read
    alarm: bool
    grade: str = ""
    silent: bool = False  # nothing was reported for a while
    archived: bool = False

    def urgency(self) -> int:
        """Sort key: experiments with an alarm first, then those without reports; ended ones last."""
        return 0 if self.alarm else 1 if self.silent else 3 if self.phase == "over" else 2

    def fits(self, wanted: str) -> bool:
        """Whether the filter lets it through; archived experiments are listed only where the filter names them."""
        if self.archived or wanted == ARCHIVED:
            return self.archived and wanted == ARCHIVED
        if wanted in FILTERS["Attention"]:
            return self.alarm if wanted == "alarm" else self.silent
        graded = self.grade if self.phase not in ("", "draft", "scheduled") else ""
        return wanted in ("", self.phase, graded)
