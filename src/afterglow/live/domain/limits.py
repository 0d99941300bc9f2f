"""Limits of an experiment's values, the same in Python, HTTP and the dashboard."""

from unicodedata import category

from afterglow.errors import BadValue, argument

EXACT = 2**53 - 1  # the whole numbers that every reader of JSON keeps
UNREADABLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})  # categories of characters
VARIANTS = 1000
UNITS, VARIANTS_OF_UNITS = 200, 20  # units of an experiment, and variants where there are units
WINDOW = 1_000_000  # steps
HORIZON = 10**12  # steps
SEASON = 1_000_000  # steps
REMEMBER = 366 * 86400  # seconds
REMEMBERED, REMEMBERED_STEPS = 3600, 3  # seconds and steps for which keys are kept unless another time is set
UNIT = 20  # characters
GUARDS, GUARDED = 20, 400  # guards, and guards times variants: a reading takes 3 ms of each
SHORTEST, LONGEST = 0.001, 366 * 86400  # seconds of a step
LATEST = 7_258_118_400.0  # start, in seconds since 1970: the year 2200


def at_most(name: str, value: int, most: int) -> int:
    if value > most:
        raise BadValue(f"{argument(name)} must be at most {most:,}, got {value:,}")
    return value


def readable(text: str, lines: bool = False) -> bool:
    """Whether text shows as it is: no control characters, and none that reorder, hide or break what is beside them.

    Joiners are allowed after characters beyond ASCII, where scripts and emoji need them.
    """
    for place, one in enumerate(text):
        joins = one in "\u200c\u200d" and place > 0 and not text[place - 1].isascii()
        if category(one) in UNREADABLE and not joins and not (lines and one in "\t\r\n"):
            return False
    return True


def writable(text: str) -> bool:
    """Whether text can be encoded as UTF-8; half of a surrogate pair can't."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
