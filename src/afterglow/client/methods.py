"""What can be asked of the service, written once: `Client` answers at once, `AsyncClient` when it is awaited."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from afterglow.client.calls import Call, of, order
from afterglow.errors import BadValue

Given = TypeVar("Given")  # an answer, or an awaitable one
SETTINGS = frozenset({
    "reward_max", "policy", "options", "seed", "confidence", "season", "control", "step_seconds", "starts", "heartbeat",
    "shadow", "remember", "start",
})  # fmt: skip  # of an experiment; what else is given belongs to its policy


def moment(starts: object) -> str:
    """A time as the service reads it; seconds since 1970 as `afterglow.live` takes them."""
    if isinstance(starts, str):
        return starts
    try:
        if isinstance(starts, datetime) and starts.tzinfo is not None:
            return starts.isoformat()
        if isinstance(starts, int | float) and not isinstance(starts, bool):
            return datetime.fromtimestamp(starts, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        pass  # a number that is no time
    raise BadValue(f"starts must be seconds since 1970, a time with its zone, or its text, got {starts!r}")


class ServiceMethods(ABC, Generic[Given]):
    """Calls that are about the service as a whole; each returns the JSON of its answer."""

    @abstractmethod
    def _ask(self, call: Call) -> Given: ...

    def create(
        self,
        name: str,
        variants: Iterable[str],
        window: int,
        horizon: int | None = None,
        **settings: Any,
    ) -> Given:
        """A new experiment, with the settings of `afterglow.live` and those of its policy."""
        own = {key: value for key, value in settings.items() if key in SETTINGS}
        of_policy = {key: value for key, value in settings.items() if key not in SETTINGS}
        if of_policy:
            own["options"] = {**(own.get("options") or {}), **of_policy}
        if own.get("starts") is not None:
            own["starts"] = moment(own["starts"])
        body = {"name": name, "variants": list(variants), "window": window, **own}
        return self._ask(Call("POST", "/v1/experiments", body if horizon is None else body | {"horizon": horizon}))

    def create_webhook(
        self, url: str, kinds: Iterable[str] | None = None, experiments: Iterable[str] | None = None
    ) -> Given:
        """Have events sent to an address. The answer has the secret of its signatures, this once."""
        body: dict[str, Any] = {"url": url}
        if kinds is not None:
            body["kinds"] = list(kinds)
        if experiments is not None:
            body["experiments"] = list(experiments)
        return self._ask(Call("POST", "/v1/webhooks", body))

    def webhooks(self) -> Given:
        return self._ask(Call("GET", "/v1/webhooks"))

    def delete_webhook(self, hook: str) -> Given:
        return self._ask(Call("DELETE", f"/v1/webhooks/{hook}"))


class ExperimentMethods(ABC, Generic[Given]):
    """Calls that are about one experiment; each returns the JSON of its answer. Orders return the status."""

    name: str

    @abstractmethod
    def _ask(self, call: Call) -> Given: ...

    # Know

    def describe(self) -> Given:
        """The experiment as it was created, with its status."""
        return self._ask(Call("GET", of(self.name)))

    def status(self) -> Given:
        return self._ask(Call("GET", of(self.name), pick="status"))

    def estimates(self) -> Given:
        """Mean and interval of every variant."""
        return self._ask(Call("GET", of(self.name, "estimates")))

    def explain(self, step: int) -> Given:
        """The numbers that drove the decision of a step."""
        return self._ask(Call("GET", of(self.name, "explain", str(step))))

    # Orders; all take effect with the next step

    def start(self) -> Given:
        """Begin step 0 of an experiment that was created with `start=False`."""
        return self._ask(Call("POST", of(self.name, "start"), {}))

    def pin(self, variant: str, reason: str) -> Given:
        """Serve one variant, whatever the plan, until `unpin`."""
        return self._ask(order(self.name, "pin", reason, variant=variant))

    def unpin(self, reason: str) -> Given:
        return self._ask(order(self.name, "unpin", reason))

    def pause(self, reason: str) -> Given:
        """Serve the control and learn nothing until `resume`."""
        return self._ask(order(self.name, "pause", reason))

    def resume(self, reason: str) -> Given:
        return self._ask(order(self.name, "resume", reason))

    def disable(self, variant: str, reason: str) -> Given:
        """Take a variant out; the policy starts afresh with the others."""
        return self._ask(order(self.name, "disable", reason, variant=variant))

    def enable(self, variant: str, reason: str) -> Given:
        """Take a variant in again; the policy starts afresh with it."""
        return self._ask(order(self.name, "enable", reason, variant=variant))

    def go_live(self, reason: str) -> Given:
        """Leave shadow mode: serve what is planned from now on."""
        return self._ask(order(self.name, "go-live", reason))

    def void(self, step: int, reason: str, last: int | None = None) -> Given:
        """Don't learn from a step, or from all up to `last`, though it was learned long ago."""
        more = {} if last is None else {"last": last}
        return self._ask(order(self.name, "void", reason, step=step, **more))

    def stop(self, reason: str, keep: str | None = None) -> Given:
        """End the experiment now, and serve `keep` from then on: the control, unless it is named."""
        more = {} if keep is None else {"keep": keep}
        return self._ask(order(self.name, "stop", reason, **more))
