"""What the order and the filter of the list of experiments need of each."""

from typing import NamedTuple

from afterglow.live.domain.log import Place


class ListedState(NamedTuple):
    """Kept until the log of the experiment grows."""

    place: Place
    phase: str  # "" for one that can't be read
    alarm: bool
    archived: bool = False

    def urgency(self) -> int:
        """Sort key: experiments with an alarm first, ended ones last."""
        return 0 if self.alarm else 2 if self.phase == "over" else 1
