"""Durations as text: about 2 days, 6 weeks."""

MONTH = 30.436875 * 86_400
UNITS = (
    ("year", 365.2425 * 86_400), ("month", MONTH), ("week", 604_800.0), ("day", 86_400.0), ("hour", 3_600.0),
    ("minute", 60.0), ("second", 1.0),
)  # fmt: skip


def lasting(steps: float, step_seconds: float) -> str:
    """A duration in the largest unit of which there are nearly two.

    >>> lasting(47, 3600), lasting(1_000, 3600), lasting(1, 86_400)
    ('about 2 days', 'about 6 weeks', 'a day')
    """
    seconds = steps * step_seconds
    name, length = next(((name, length) for name, length in UNITS if seconds >= 1.75 * length), UNITS[-1])
    for unit, whole in UNITS:
        if abs(seconds / whole - 1) < 0.02:
            return f"{'an' if unit == 'hour' else 'a'} {unit}"
    count = seconds / length
    exact = "" if abs(count - round(count)) < 0.005 * count else "about "
    number = max(1, round(count))
    return f"{exact}{number:,} {name}{'' if number == 1 else 's'}"


def steps_lasting(steps: int, step_seconds: float | None) -> str:
    """A number of steps, with their duration if it is known.

    >>> steps_lasting(47, 3600), steps_lasting(1, None)
    ('47 steps (about 2 days)', '1 step')
    """
    words = f"{steps:,} step{'' if steps == 1 else 's'}"
    return words if step_seconds is None else f"{words} ({lasting(steps, step_seconds)})"
