"""Limits of an experiment's values, the same in Python, HTTP and the dashboard."""

from afterglow.errors import BadValue, argument

EXACT = 2**53 - 1  # the whole numbers that every reader of JSON keeps
VARIANTS = 1000
WINDOW = 1_000_000  # steps
HORIZON = 10**12  # steps
SEASON = 1_000_000  # steps
REMEMBER = 366 * 86400  # seconds
REMEMBERED, REMEMBERED_STEPS = 3600, 3  # seconds and steps for which keys are kept unless another time is set
UNIT = 20  # characters
SHORTEST, LONGEST = 0.001, 366 * 86400  # seconds of a step
LATEST = 7_258_118_400.0  # start, in seconds since 1970: the year 2200


def at_most(name: str, value: int, most: int) -> int:
    if value > most:
        raise BadValue(f"{argument(name)} must be at most {most:,}, got {value:,}")
    return value


def writable(text: str) -> bool:
    """Whether text can be encoded as UTF-8; half of a surrogate pair can't."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
