"""Methods of an experiment for the commands of operators, typed.

Written by docs/tables/commands.py from live/domain/command_table.py: change that and run it.
"""

from abc import ABC, abstractmethod

from afterglow.live.domain.actor import Actor


class CommandMethods(ABC):
    """Commands of operators. The reference says when each takes effect."""

    @abstractmethod
    def command(self, name: str, /, by: Actor | None = None, **arguments: object) -> None: ...

    def start(self) -> None:
        """Start an experiment that was created with `start=False`, or schedule it if its `starts` is in the future."""
        self.command("start")

    def go_live(self, reason: str) -> None:
        """Leave shadow mode: serve what is planned."""
        self.command("go_live", reason=reason)

    def pin(self, variant: str, reason: str, unit: str | None = None) -> None:
        """Serve one variant, regardless of the plan, until `unpin`."""
        self.command("pin", variant=variant, reason=reason, unit=unit)

    def unpin(self, reason: str, unit: str | None = None) -> None:
        """End a pin: serve what is planned."""
        self.command("unpin", reason=reason, unit=unit)

    def pause(self, reason: str) -> None:
        """Serve the control and learn nothing until `resume`."""
        self.command("pause", reason=reason)

    def resume(self, reason: str) -> None:
        """End a pause."""
        self.command("resume", reason=reason)

    def void(self, step: int, reason: str, last: int | None = None, unit: str | None = None) -> None:
        """Exclude a step, or all steps up to `last`, even if it was learned long ago.

        A step of the current hold makes the hold longer. Otherwise the policy is recomputed without these
        steps.
        """
        self.command("void", step=step, reason=reason, last=last, unit=unit)

    def disable(self, variant: str, reason: str) -> None:
        """Stop serving a variant; the policy starts again with the others."""
        self.command("disable", variant=variant, reason=reason)

    def emergency(self, variant: str, reason: str) -> None:
        """Take a variant off now, in the middle of a step, and disable it.

        If it is live, the step goes on with the pinned variant, else the control, and is void. Clients of the
        service follow within its `max_age`, 60 seconds at most. After the end it replaces the variant that is
        kept.
        """
        self.command("emergency", variant=variant, reason=reason)

    def enable(self, variant: str, reason: str) -> None:
        """Re-enable a variant; the policy starts again with it."""
        self.command("enable", variant=variant, reason=reason)

    def accept_clock(self, reason: str) -> None:
        """Go on after a jump of the clock, which holds the current step, if what the clock shows now is right.

        The held step is void. Steps that the clock has passed are missed; if it went back, the schedule goes
        back with it by whole steps. A clock that is set right again needs no command.
        """
        self.command("accept_clock", reason=reason)

    def extend(self, horizon: int, reason: str) -> None:
        """Lengthen the horizon of a running experiment.

        Policies whose schedule was made for the horizon refuse: `switchback`, `phased-ucb`, those that
        eliminate in phases, `composite-exp3`, `auto-wash`. Intervals and verdicts hold as before; regret bounds
        that are proved for a horizon fixed in advance don't.
        """
        self.command("extend", horizon=horizon, reason=reason)

    def archive(self, reason: str) -> None:
        """Hide an experiment that is over from the overview. It keeps serving its variant, and nothing is deleted."""
        self.command("archive", reason=reason)

    def unarchive(self, reason: str) -> None:
        """Show an archived experiment in the overview again."""
        self.command("unarchive", reason=reason)

    def stop(self, reason: str, keep: str | None = None) -> None:
        """End the experiment now, or cancel it before its start, and serve `keep` permanently."""
        self.command("stop", reason=reason, keep=keep)
