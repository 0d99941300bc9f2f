"""Methods of the clients for the commands of operators, and the names of an experiment's settings.

Written by docs/tables/commands.py from live/domain/command_table.py: change that and run it.
"""

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

Given = TypeVar("Given")  # an answer, or an awaitable one
SETTINGS = frozenset({
    "name", "variants", "step_seconds", "window", "horizon", "reward_max", "unit", "policy", "options",
    "control", "season", "profile", "profile_from", "typical", "trust", "confidence", "seed", "heartbeat",
    "shadow", "remember", "start", "starts",
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

    def pin(self, variant: str, reason: str) -> Given:
        """Serve one variant, regardless of the plan, until `unpin`."""
        return self._command("pin", variant=variant, reason=reason)

    def unpin(self, reason: str) -> Given:
        """End a pin: serve what is planned."""
        return self._command("unpin", reason=reason)

    def pause(self, reason: str) -> Given:
        """Serve the control and learn nothing until `resume`."""
        return self._command("pause", reason=reason)

    def resume(self, reason: str) -> Given:
        """End a pause."""
        return self._command("resume", reason=reason)

    def void(self, step: int, reason: str, last: int | None = None) -> Given:
        """Exclude a step, or all steps up to `last`, even if it was learned long ago.

        A step of the current hold makes the hold longer. Otherwise the policy is recomputed without these
        steps.
        """
        return self._command("void", step=step, reason=reason, last=last)

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

    def stop(self, reason: str, keep: str | None = None) -> Given:
        """End the experiment now, or cancel it before its start, and serve `keep` permanently."""
        return self._command("stop", reason=reason, keep=keep)
