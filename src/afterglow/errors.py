"""Every exception and warning of Afterglow.

    AfterglowError
    ├── BadValue (also ValueError)        a setting, argument or total that can't be used
    │   └── UnknownName                   no policy, spread, reward or setting of that name
    ├── OutOfTurn (also RuntimeError)     a call that doesn't fit what was called before
    │   └── HorizonReached                the experiment has played all its steps
    ├── Conflict (also ValueError)        given before with another value: a key, a step, a name
    ├── InUse (also RuntimeError)         another process writes the database
    ├── Unavailable (also RuntimeError)   the service or its database can't be reached or is overloaded
    ├── NotAllowed (also RuntimeError)    a token that is missing, unknown, expired or too weak
    ├── Undelivered (also RuntimeError)   rewards that the service did not take, with the reason for each
    ├── BadFormat (also ValueError)       stored text that isn't what it should be
    │   └── BadDatabase                   a database of another layout, or with a log that doesn't fit together
    ├── Disagreement (also RuntimeError)  a policy acts differently in plain Python and compiled
    └── MissingExtra (also ImportError)   a part that needs an extra, `pip install ".[lab]"`

    AfterglowWarning (a UserWarning)      a call that works, but whose guarantee doesn't hold

Messages are one lower-case sentence: the name, the rule, the value, the way out. Programs read `kind`, a slug, and
`field`, the argument at fault, never the sentence. A sentence that names arguments marks them with `argument`, so that
each interface can name them in its own way with `worded`: `reward_max` in Python, `--reward-max` on the command line.
What to do about an error may differ between interfaces too: `way_out` is Python's, and another interface chooses its
own by `kind`. Notes and warnings that name arguments are texts of class `Sentence`.

>>> error = BadValue(f"{argument('reward_max')} must be above 0, got -1")
>>> str(error), error.kind, error.field
('reward_max must be above 0, got -1', 'bad-value', 'reward_max')
>>> error.worded(lambda name, value: "--" + name.replace("_", "-"))
'--reward-max must be above 0, got -1'
"""

import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any

BEGIN, VALUE, END = "\x02", "\x1f", "\x03"  # around an argument in a sentence; repr() never writes these characters
ARGUMENT = re.compile(f"{BEGIN}([^{END}{VALUE}]*)(?:{VALUE}([^{END}{VALUE}]*){VALUE}([^{END}]*))?{END}")

LONGEST = 4000  # characters of a sentence
TOO_SHORT = "horizon-too-short"  # kind of an error: a policy can't try every arm in time
Word = Callable[[str, str | None], str]  # how an interface writes an argument, with its value if there is one


def argument(name: str, value: object = None) -> str:
    """An argument in a sentence, alone or with a value to give it."""
    return f"{BEGIN}{name}{END}" if value is None else f"{BEGIN}{name}{VALUE}{value}{VALUE}{value!r}{END}"


def in_python(marked: str) -> str:
    """A sentence with its arguments as Python code has them."""
    return ARGUMENT.sub(lambda found: found[1] if found[2] is None else f"{found[1]}={found[3]}", marked)


def bounded(sentence: str) -> str:
    """A sentence of bounded length: it may quote a value of any size. The middle is left out, between arguments."""
    if len(sentence) <= LONGEST:
        return sentence
    head, tail = sentence[: LONGEST * 3 // 4], sentence[-LONGEST // 5 :]
    if head.count(BEGIN) > head.count(END):
        head = head[: head.rindex(BEGIN)]
    if END in tail and BEGIN not in tail[: tail.index(END)]:
        tail = tail[tail.index(END) + 1 :]
    return f"{head} … {tail}"


class Sentence(str):
    """A text that marks arguments: it reads as Python names them, and `worded` names them in another way.

    >>> note = Sentence(f"give {argument('season', 24)}")
    >>> note, note.worded(lambda name, value: f"--{name} {value}")
    ('give season=24', 'give --season 24')
    """

    marked: str

    def __new__(cls, marked: str) -> "Sentence":
        made = super().__new__(cls, in_python(marked))
        made.marked = marked
        return made

    def worded(self, word: Word) -> str:
        """The text, with each argument as `word` writes it."""
        return ARGUMENT.sub(lambda found: word(found[1], found[2]), self.marked)


class AfterglowError(Exception):
    """Base of all errors that Afterglow raises on purpose."""

    kind = "error"

    def __init__(self, sentence: str = "", *, kind: str = "", field: str = "", way_out: str = "") -> None:
        sentence = bounded(sentence)
        self.sentence, self.way_out = sentence, way_out
        if kind:
            self.kind = kind
        first = ARGUMENT.match(sentence)
        self.field = field or (first[1] if first else "")
        super().__init__(in_python(f"{sentence}; {way_out}" if way_out else sentence))

    def marked(self) -> str:
        """The whole sentence, for a `Sentence` elsewhere."""
        return f"{self.sentence}; {self.way_out}" if self.way_out else self.sentence

    def worded(self, word: Word, ways_out: Mapping[str, str] | None = None) -> str:
        """The sentence, with each argument as `word` writes it, and the way out that `ways_out` has for its kind."""
        way_out = (ways_out or {}).get(self.kind, self.way_out) if self.way_out else ""
        return Sentence(f"{self.sentence}; {way_out}" if way_out else self.sentence).worded(word)


class BadValue(AfterglowError, ValueError):
    """A setting, argument or total that can't be used."""

    kind = "bad-value"


class UnknownName(BadValue):
    """No policy, spread, reward or setting of that name; its kind is `unknown-policy` and so on."""

    def __init__(
        self, what: str, name: str, known: Iterable[str], way_out: str = "", *, kind: str = "", field: str = ""
    ) -> None:
        close = get_close_matches(name, list(known), n=1)
        guess = f"; did you mean {close[0]!r}?" if close else ";" if way_out else ""
        sentence = f"no {what} named {name!r}{guess}{' ' + way_out if way_out else ''}"
        super().__init__(sentence, kind=kind or f"unknown-{what.replace(' ', '-')}", field=field or what)


class OutOfTurn(AfterglowError, RuntimeError):
    """A call that doesn't fit what was called before."""

    kind = "out-of-turn"


class HorizonReached(OutOfTurn):
    """The experiment has played all its steps."""

    kind = "horizon-reached"


class BadFormat(AfterglowError, ValueError):
    """Stored text that isn't what it should be."""

    kind = "bad-format"


class BadDatabase(BadFormat):
    """A database of another layout, or with a log that doesn't fit together."""

    kind = "bad-database"


class Conflict(AfterglowError, ValueError):
    """Given before with another value: a key (`key-reused`), a step (`step-closed`), a name (`name-taken`)."""

    kind = "conflict"


class InUse(AfterglowError, RuntimeError):
    """Another process writes the database."""

    kind = "in-use"


class Unavailable(AfterglowError, RuntimeError):
    """The service or its database can't be reached or is overloaded: the same call may work later."""

    kind = "unavailable"


class NotAllowed(AfterglowError, RuntimeError):
    """A token that is missing, unknown, expired or too weak."""

    kind = "not-allowed"


class Undelivered(AfterglowError, RuntimeError):
    """Rewards that the service did not take, with the reason for each."""

    kind = "undelivered"

    def __init__(self, sentence: str, rewards: Iterable[Any] = ()) -> None:
        super().__init__(sentence)
        self.rewards = list(rewards)  # rows with experiment, key, amount and error


class Disagreement(AfterglowError, RuntimeError):
    """A policy acts differently in plain Python and compiled."""

    kind = "disagreement"


class MissingExtra(AfterglowError, ImportError):
    """A part that needs an extra to be installed."""

    kind = "missing-extra"

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f'{what} needs the {extra!r} extra: in a clone of Afterglow, pip install ".[{extra}]"')


class AfterglowWarning(UserWarning):
    """A call that works, but whose guarantee doesn't hold."""
