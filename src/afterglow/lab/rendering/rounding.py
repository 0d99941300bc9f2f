"""Numbers for readers: amounts, signed amounts, percentages, means with errors."""

import math
from collections.abc import Sequence


def amount(value: float) -> str:
    """Three significant digits, more where they are whole, without exponents.

    >>> amount(1234.5), amount(0.04321), amount(2.5), amount(0.0)
    ('1,234', '0.0432', '2.5', '0')
    """
    if abs(value) < 1e-9 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:,.{max(0, 2 - math.floor(math.log10(abs(value))))}f}".rstrip("0").rstrip(".")


def signed(value: float, minus: str = "-") -> str:
    """An amount with its sign.

    >>> signed(2.5), signed(-0.04321)
    ('+2.5', '-0.0432')
    """
    return f"{'+' if value >= 0 else minus}{amount(abs(value))}"


def plus_minus(mean: float, error: float | None) -> str:
    """A mean with its standard error, if it has one."""
    return amount(mean) if error is None else f"{amount(mean)} ± {amount(error)}"


def to_error(value: float, error: float) -> tuple[str, str]:
    """A mean and its error, both to the error's second digit; an error below rounding is 0.

    >>> to_error(5.1724, 1.0481), to_error(1_166.7, 48.2), to_error(3.0, 1e-15)
    (('5.2', '1.0'), ('1,167', '48'), ('3', '0'))
    """
    if error <= 1e-9 * abs(value):
        return amount(value), "0"
    digits = max(0, 1 - math.floor(math.log10(float(f"{error:.1e}"))))
    return f"{value:,.{digits}f}", f"{error:,.{digits}f}"


def whole_percent(share: float, digits: int = 0) -> str:
    """A share in percent, rounded to whole ones or to so many digits after the point.

    >>> whole_percent(0.953), whole_percent(0.0123, 1)
    ('95 %', '1.2 %')
    """
    return f"{share:.{digits}%}".replace("%", " %")


def short_percent(share: float) -> str:
    """A share in percent with two significant digits.

    >>> short_percent(0.05), short_percent(0.0025)
    ('5 %', '0.25 %')
    """
    return f"{100 * share:.2g} %"


def percent(share: float) -> str:
    """A share in percent with two significant digits, and no exponent however small it is.

    >>> percent(0.1234), percent(0.0123), percent(0.00004)
    ('12 %', '1.2 %', '0.004 %')
    """
    hundredths = 100 * share
    if hundredths >= 9.95:
        return f"{hundredths:.0f} %"
    if hundredths >= 0.095:
        return f"{hundredths:.1f} %"
    return f"{hundredths:.1g} %" if hundredths >= 1e-4 else "0 %"


def percent_to_error(share: float, error: float) -> tuple[str, str]:
    """A share and its error in percent, both to the error's last shown digit.

    >>> percent_to_error(0.00731, 0.0007), percent_to_error(0.0704, 0.0051), percent_to_error(0.351, 0.021)
    (('0.73 %', '0.07 %'), ('7.0 %', '0.5 %'), ('35 %', '2 %'))
    >>> percent_to_error(0.85, 0.0), percent_to_error(0.5, 0.123)
    (('85 %', '0 %'), ('50 %', '12 %'))
    >>> percent_to_error(0.00401, 0.000002)
    ('0.401 %', '<0.001 %')
    """
    hundredths = 100 * error
    if hundredths < 1e-3:
        none = error <= 1e-9 * abs(share)
        return (percent(share), "0 %") if none else (f"{100 * share:.3f} %", "<0.001 %")
    digits = max(0, -math.floor(math.log10(float(f"{hundredths:.0e}")))) if hundredths < 2 else 0
    digits = max(digits, 1) if hundredths < 2 else digits
    return f"{100 * share:.{digits}f} %", f"{hundredths:.{digits}f} %"


def joined(texts: Sequence[str], word: str = "and") -> str:
    """Texts in a row, with a word before the last.

    >>> joined(["a"]), joined(["a", "b"]), joined(["a", "b", "c"], "or")
    ('a', 'a and b', 'a, b or c')
    """
    return f" {word} ".join([*([", ".join(texts[:-1])] if len(texts) > 1 else []), texts[-1]])
