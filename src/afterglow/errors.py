"""Every exception and warning of Afterglow.

    AfterglowError
    ├── BadValue (also ValueError)        a setting, argument or total that can't be used
    │   └── UnknownName                   no policy, spread, reward or setting of that name
    ├── OutOfTurn (also RuntimeError)     a call that doesn't fit what was called before
    │   └── HorizonReached                the experiment has played all its steps
    ├── Conflict (also ValueError)        told before, and differently: a key, a step, a name
    ├── InUse (also RuntimeError)         another process writes the database
    ├── Unavailable (also RuntimeError)   the service or its database is away or has too much to do
    ├── NotAllowed (also RuntimeError)    a token that is missing, unknown, expired or too weak
    ├── Undelivered (also RuntimeError)   rewards that the service did not take, with the reason for each
    ├── BadFormat (also ValueError)       stored text that isn't what it should be
    │   └── BadDatabase                   a database of another layout, or with a log that doesn't fit together
    ├── Disagreement (also RuntimeError)  a policy acts differently in plain Python and compiled
    └── MissingExtra (also ImportError)   a part that needs an extra, `pip install ".[lab]"`

    AfterglowWarning (a UserWarning)      a call that works but doesn't give what it promises

Messages are one lower-case sentence: the name, the rule, the value, the way out.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


class AfterglowError(Exception):
    """Base of all errors that Afterglow raises on purpose."""


class BadValue(AfterglowError, ValueError):
    """A setting, argument or total that can't be used."""


class UnknownName(BadValue):
    """No policy, spread, reward or setting of that name."""

    def __init__(self, kind: str, name: str, known: Iterable[str], way_out: str = "") -> None:
        close = get_close_matches(name, list(known), n=1)
        guess = f"; did you mean {close[0]!r}?" if close else ";" if way_out else ""
        super().__init__(f"no {kind} named {name!r}{guess}{' ' + way_out if way_out else ''}")


class OutOfTurn(AfterglowError, RuntimeError):
    """A call that doesn't fit what was called before."""


class HorizonReached(OutOfTurn):
    """The experiment has played all its steps."""


class BadFormat(AfterglowError, ValueError):
    """Stored text that isn't what it should be."""


class BadDatabase(BadFormat):
    """A database of another layout, or with a log that doesn't fit together."""


class Conflict(AfterglowError, ValueError):
    """Told before, and differently: a key, a step, a name."""


class InUse(AfterglowError, RuntimeError):
    """Another process writes the database."""


class Unavailable(AfterglowError, RuntimeError):
    """The service or its database is away or has too much to do: the same may work later."""


class NotAllowed(AfterglowError, RuntimeError):
    """A token that is missing, unknown, expired or too weak."""


class Undelivered(AfterglowError, RuntimeError):
    """Rewards that the service did not take, with the reason for each."""

    def __init__(self, sentence: str, rewards: Iterable[Any] = ()) -> None:
        super().__init__(sentence)
        self.rewards = list(rewards)  # rows with experiment, key, amount and error


class Disagreement(AfterglowError, RuntimeError):
    """A policy acts differently in plain Python and compiled."""


class MissingExtra(AfterglowError, ImportError):
    """A part that needs an extra to be installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f'{what} needs the {extra!r} extra: in a clone of Afterglow, pip install ".[{extra}]"')


class AfterglowWarning(UserWarning):
    """A call that works but doesn't give what it promises."""
