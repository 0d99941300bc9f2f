"""Numbers for readers: as many digits as mean something."""

import math


def amount(value: float) -> str:
    """Three digits, more where they are whole.

    >>> amount(1234.5), amount(0.04321)
    ('1,234', '0.0432')
    """
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:,.3g}"


def to_error(value: float, error: float) -> tuple[str, str]:
    """A mean and its error, both to the error's second digit; what is left by rounding is no error.

    >>> to_error(5.1724, 1.0481), to_error(1_166.7, 48.2), to_error(3.0, 1e-15)
    (('5.2', '1.0'), ('1,167', '48'), ('3', '0'))
    """
    if error <= 1e-9 * abs(value):
        return amount(value), "0"
    digits = max(0, 1 - math.floor(math.log10(float(f"{error:.1e}"))))
    return f"{value:,.{digits}f}", f"{error:,.{digits}f}"
