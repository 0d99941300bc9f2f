"""Methods of the clients for the commands of operators, and the names of an experiment's settings.

Written by docs/tables/commands.py from live/domain/command_table.py: change that and run it.
"""

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

Given = TypeVar("Given")  # an answer, or an awaitable one
SETTINGS = frozenset({
    "name", "variants", "units", "levels", "step_seconds", "window", "horizon", "reward_max", "unit", "policy",
    "options", "control", "season", "profile", "profile_from", "typical", "trust", "guards", "confidence",
    "seed", "heartbeat", "shadow", "remember", "start", "starts",
})  # fmt: skip


class CommandMethods(ABC, Generic[Given]):
    """Commands of operators. Each returns the status afterwards."""

    @abstractmethod
    def _command(self, address: str, **arguments: object) -> Given: ...

    def start(self) -> Given:
        """Start an experiment that was created with `start=False`, or schedule it if its `starts` is in the future."""
        return self._command("start")

    def go_live(self, reason: str) -> Given:
        """Leave shadow mode: serve what is planned."""
        return self._command("go-live", reason=reason)

    def pin(self, variant: str, reason: str, unit: str | None = None) -> Given:
        """Serve one variant, regardless of the plan, until `unpin`."""
        return self._command("pin", variant=variant, reason=reason, unit=unit)

    def unpin(self, reason: str, unit: str | None = None) -> Given:
        """End a pin: serve what is planned."""
        return self._command("unpin", reason=reason, unit=unit)

    def pause(self, reason: str) -> Given:
        """Serve the control and learn nothing until `resume`."""
        return self._command("pause", reason=reason)

    def resume(self, reason: str) -> Given:
        """End a pause."""
        return self._command("resume", reason=reason)

    def void(self, step: int, reason: str, last: int | None = None, unit: str | None = None) -> Given:
        """Exclude a step, or all steps up to `last`, even if it was learned long ago.

        A step of the current hold makes the hold longer. Otherwise the policy is recomputed without these
        steps.
        """
        return self._command("void", step=step, reason=reason, last=last, unit=unit)

    def disable(self, variant: str, reason: str) -> Given:
        """Stop serving a variant; the policy starts again with the others."""
        return self._command("disable", variant=variant, reason=reason)

    def emergency(self, variant: str, reason: str) -> Given:
        """Take a variant off now, in the middle of a step, and disable it.

        If it is live, the step goes on with the pinned variant, else the control, and is void. Clients of the
        service follow within its `max_age`, 60 seconds at most. After the end it replaces the variant that is
        kept.
        """
        return self._command("emergency", variant=variant, reason=reason)

    def enable(self, variant: str, reason: str) -> Given:
        """Re-enable a variant; the policy starts again with it."""
        return self._command("enable", variant=variant, reason=reason)

    def accept_clock(self, reason: str) -> Given:
        """Go on after a jump of the clock, which holds the current step, if what the clock shows now is right.

        The held step is void. Steps that the clock has passed are missed; if it went back, the schedule goes
        back with it by whole steps. A clock that is set right again needs no command.
        """
        return self._command("accept-clock", reason=reason)

    def extend(self, horizon: int, reason: str) -> Given:
        """Lengthen the horizon of a running experiment.

        Policies whose schedule was made for the horizon refuse: `switchback`, `phased-ucb`, those that
        eliminate in phases, `composite-exp3`, `auto-wash`. Intervals and verdicts hold as before; regret bounds
        that are proved for a horizon fixed in advance don't.
        """
        return self._command("extend", horizon=horizon, reason=reason)

    def archive(self, reason: str) -> Given:
        """Hide an experiment that is over from the overview. It keeps serving its variant, and nothing is deleted."""
        return self._command("archive", reason=reason)

    def unarchive(self, reason: str) -> Given:
        """Show an archived experiment in the overview again."""
        return self._command("unarchive", reason=reason)

    def stop(self, reason: str, keep: str | None = None) -> Given:
        """End the experiment now, or cancel it before its start, and serve `keep` permanently."""
        return self._command("stop", reason=reason, keep=keep)
