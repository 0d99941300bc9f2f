"""Calls that both clients have: `Client` returns the answer, `AsyncClient` an awaitable of it."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Generic, Protocol

from afterglow.client.calls import Call, command, of
from afterglow.client.command_methods import SETTINGS, CommandMethods, Given
from afterglow.client.config import ClientConfig
from afterglow.client.delivery import Delivery
from afterglow.errors import BadValue, argument


def moment(name: str, starts: object) -> str:
    """A time as the service reads it, from seconds since 1970, a datetime with its zone, or text."""
    if isinstance(starts, str):
        return starts
    try:
        if isinstance(starts, datetime) and starts.tzinfo is not None:
            return starts.isoformat()
        if isinstance(starts, int | float) and not isinstance(starts, bool):
            return datetime.fromtimestamp(starts, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        pass  # a number that is no time
    raise BadValue(f"{argument(name)} must be seconds since 1970, a time with its zone, or its text, got {starts!r}")


class Sender(Protocol):
    """Delivers rewards in the background."""

    def put(
        self, experiment: str, amount: float | Decimal, key: str | None, metric: str | None = None,
        unit: str | None = None,
    ) -> str: ...  # fmt: skip

    def delivery(self) -> Delivery: ...


class ServiceMethods(ABC, Generic[Given]):
    """Calls about the whole service; each returns the JSON of its answer."""

    _config: ClientConfig
    _sender: Sender

    @abstractmethod
    def _ask(self, call: Call) -> Given: ...

    @property
    def delivery(self) -> Delivery:
        """Rewards waiting, delivered and refused, and why they wait if something is wrong."""
        return self._sender.delivery()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._config.shown}>"

    def create(
        self,
        name: str,
        variants: Iterable[str],
        window: int,
        horizon: int | None = None,
        **settings: Any,
    ) -> Given:
        """A new experiment, with the settings of `afterglow.live`; `options` are the policy's settings, by name.

        Options of the policy may also be given as keywords.
        """
        own = {key: value for key, value in settings.items() if key in SETTINGS}
        options, beside = own.get("options") or {}, {key: value for key, value in settings.items() if key not in own}
        for twice in options.keys() & beside.keys():
            raise BadValue(f"{argument('options')} has {twice!r}, which is given beside it too; give it once")
        if options or beside:
            own["options"] = {**options, **beside}
        for time in ("starts", "profile_from"):
            if own.get(time) is not None:
                own[time] = moment(time, own[time])
        for several in ("profile", "units"):
            if own.get(several) is not None:
                own[several] = list(own[several])
        body = {"name": name, "variants": list(variants), "window": window, **own}
        return self._ask(Call("POST", "/v1/experiments", body if horizon is None else body | {"horizon": horizon}))

    def create_webhook(
        self, url: str, kinds: Iterable[str] | None = None, experiments: Iterable[str] | None = None
    ) -> Given:
        """Send events to an address. The secret of the signatures is in this answer only."""
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


class ExperimentMethods(CommandMethods[Given]):
    """Calls about one experiment; each returns the JSON of its answer. Commands return the status."""

    def __init__(self, client: ServiceMethods[Given], name: str, default: str | None, unit: str | None) -> None:
        self.name = name
        self.unit = unit  # whose variant, rewards, pins and voids these are, in an experiment with units
        self._service = client
        self._variant = client._config.variant(default)

    def _ask(self, call: Call) -> Given:
        return self._service._ask(call)

    def __repr__(self) -> str:
        name = self.name if self.unit is None else f"{self.name} {self.unit}"
        return f"<{type(self).__name__} {name} at {self._service._config.shown}>"

    def reward(
        self, amount: float | Decimal, key: str | None = None, metric: str | None = None, *, unit: str | None = None
    ) -> str:
        """Report an amount, and return the random key with which it is sent until it is delivered, and counted once.

        Returns at once, also with asyncio. The amount joins the step in which it arrives at the service; with units,
        the total of `unit`, or of the unit that this handle was made for. `metric` is the name of a secondary total
        that a guard watches; its keys are apart from those of rewards.
        """
        return self._service._sender.put(self.name, amount, key, metric, self.unit if unit is None else unit)

    def rewards(self, amounts: Iterable[float]) -> None:
        """Report many amounts; returns at once."""
        for amount in amounts:
            self.reward(amount)

    def _command(self, address: str, **arguments: object) -> Given:
        if arguments.get("unit", "") is None:
            arguments["unit"] = self.unit  # a handle on one unit pins and voids there, not everywhere
        return self._changing(command(self.name, address, arguments))

    @abstractmethod
    def _changing(self, call: Call) -> Given: ...

    def expect(self, first: int, values: Iterable[float | None]) -> Given:
        """Tell the totals that are expected of step `first` and those after it, before they begin."""
        return self._ask(Call("POST", of(self.name, "expected"), {"first": first, "values": list(values)}))

    def describe(self) -> Given:
        """The experiment as it was created, with its status."""
        return self._ask(Call("GET", of(self.name)))

    def status(self) -> Given:
        return self._ask(Call("GET", of(self.name), pick="status"))

    def guards(self) -> Given:
        """What every guard knows of every variant: its excess over the limit, and whether it stopped the variant."""
        return self._ask(Call("GET", of(self.name, "guards"), pick="items"))

    def verdict(self) -> Given:
        """Which variant to keep, by how much it is better, how sure that is, what it assumes; and a `summary`."""
        return self._ask(Call("GET", of(self.name, "verdict")))

    def summary(self) -> Given:
        """The verdict for somebody who has to decide: a paragraph with numbers, units and dates."""
        return self._ask(Call("GET", of(self.name, "verdict"), pick="summary"))

    def estimates(self) -> Given:
        """Mean and interval of every variant."""
        return self._ask(Call("GET", of(self.name, "estimates")))

    def differences(self) -> Given:
        """Each variant beside the best one, in an experiment with units."""
        return self._ask(Call("GET", of(self.name, "differences")))

    def explain(self, step: int, unit: str | None = None) -> Given:
        """The figures from which the variant of a step was chosen; of a unit, in an experiment with units."""
        named = self.unit if unit is None else unit
        query = {} if named is None else {"unit": named}
        return self._ask(Call("GET", of(self.name, "explain", str(step)), query=query))

    def _current(self) -> Call:
        return Call("GET", of(self.name, "current"), query={} if self.unit is None else {"unit": self.unit})
