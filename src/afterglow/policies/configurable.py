"""What policies for one total and policies for several units have in common: their settings, by name."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from afterglow.errors import BadValue, UnknownName, argument


class Configurable:
    """A policy with a `configure` or a settings class; its parameters are what the experiment gives, and options."""

    place: ClassVar[tuple[str, ...]] = ("arms", "window", "horizon")  # what the experiment gives; the rest are options
    name: str
    Settings: type[Any]
    configure: Callable[..., Any] | None

    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """What `configure` takes, by name."""
        return inspect.signature(self.configure or self.Settings).parameters

    def options(self) -> list[str]:
        """The names that a user may set beyond what the experiment gives."""
        return [name for name in self.parameters() if name not in self.place]

    def takes(self) -> str:
        """Its options as text."""
        return f"it takes {', '.join(self.options()) or 'none'}"

    def unknown(self, option: str, others: Sequence[str] = ()) -> UnknownName:
        """The error for an option that it doesn't take; `others` are names that may have been meant too."""
        known = [*self.options(), *others]
        what = f"setting of {self.name}"
        return UnknownName(what, option, known, self.takes(), kind="unknown-setting", field=option)

    def needs(self) -> list[str]:
        """What must be known to run it: required parameters other than the number of arms."""
        empty = inspect.Parameter.empty
        return [name for name, p in self.parameters().items() if p.default is empty and name != "arms"]

    def refuse_missing(self, given: Mapping[str, Any]) -> None:
        """Refuse settings in which a required one is missing."""
        missing = [name for name in self.needs() if name not in given]
        if missing:
            give = f"give {'it' if len(missing) == 1 else 'them'}"
            how = [argument(name, 5) for name in missing if name not in self.place]
            needed = " and ".join(argument(name) for name in missing)
            sentence = f"{self.name} needs {needed}; {give}{', for instance ' * bool(how)}{' '.join(how)}"
            raise BadValue(sentence, kind="missing-setting", field=missing[0])
