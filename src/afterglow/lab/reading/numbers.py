"""Parse numbers: 1,234.5 and 1.234,5 and 1 234,5 and 1'234.5, with currency and percent signs.

The decimal sign is decided for a whole column. A cell shows it if it has both signs, one of them twice, or one not
followed by three digits; a column with only 1,234 or 1.234 is ambiguous, and the choice is noted. 5 % is 0.05. Negative
numbers may be written -5, 5-, −5 or (5).
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from afterglow.errors import argument

MISSING = {"", "-", "–", "—", "?", ".", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "missing", "k.a."}
SPACES = re.compile("(?<=\\d)[ \u00a0\u202f\u2009'\u2019\u00b4](?=\\d{3}(?!\\d))")
ASCII_DIGITS = set("0123456789")
MONEY = re.compile(
    r"(?:US|A|C|R)?[$€£¥₹₽₩₺]|\b(?:EUR|USD|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|HUF|AUD|CAD|NZD|BRL|kr|Fr|zł|Kč|Ft|Rs)\b\.?",
    re.IGNORECASE,
)
SHAPE = re.compile(r"(?=[.,]?\d)[\d.,]*(?:[eE][+-]?\d+)?")
GROUPED = {sign: re.compile(rf"\d{{1,3}}(?:[{sign}]\d{{2,3}})*[{sign}]\d{{3}}") for sign in ".,"}
PLAIN = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")  # nearly all numbers; read at once


@dataclass(frozen=True)
class Written:
    """A number taken apart: its digits with points and commas, its sign, whether in percent."""

    digits: str
    sign: int
    percent: bool


def is_missing(text: str) -> bool:
    """Whether a cell says that nothing is known."""
    return text.strip().lower() in MISSING


def apart(text: str) -> Written | None:
    """The parts of a number, None if it is none."""
    if PLAIN.fullmatch(text):
        return Written(text.removeprefix("-"), -1 if text[0] == "-" else 1, False)
    rest = text.strip().replace("\u2212", "-")
    sign = 1
    if rest.startswith("(") and rest.endswith(")"):
        sign, rest = -1, rest[1:-1]
    percent = rest.endswith("%")
    rest = MONEY.sub("", rest.removesuffix("%")).strip(" \u00a0\u202f\u2009")
    if rest[:1] in ("-", "+"):
        sign, rest = (-sign if rest[0] == "-" else sign), rest[1:].strip()
    elif rest.endswith("-"):
        sign, rest = -sign, rest[:-1].strip()
    digits = SPACES.sub("", MONEY.sub("", rest).strip(" \u00a0\u202f\u2009"))
    return Written(digits, sign, percent) if SHAPE.fullmatch(digits) else None


def is_whole(text: str) -> bool:
    """Whether a text is a whole number, perhaps grouped by anything but commas."""
    part = apart(text)
    return part is not None and (part.digits.isdigit() or GROUPED["."].fullmatch(part.digits) is not None)


def proof(digits: str) -> str | None:
    """The decimal sign that a number proves, None if it could be either."""
    body = re.split("[eE]", digits)[0]
    for one, other in ((".", ","), (",", ".")):
        if one in body and other in body:
            return one if body.rindex(one) > body.rindex(other) else other
        if body.count(one) > 1:
            return other
        if one in body:
            head, _, tail = body.partition(one)
            return one if len(tail) != 3 or not 1 <= len(head) <= 3 or head.startswith("0") or "e" in digits else None
    return None


def decimal_sign(texts: Sequence[str], separator: str) -> tuple[str, str | None]:
    """(decimal sign of a column, a marked note if it was a guess); mixed columns keep the first proved sign."""
    if not set("".join(texts)) - ASCII_DIGITS:
        return ".", None
    proved = next((sign for text in texts if (part := apart(text)) and (sign := proof(part.digits))), None)
    if proved:
        return proved, None
    parts = [part.digits for text in texts if not is_missing(text) and (part := apart(text))]
    unsure = next((digits for digits in parts if "," in digits or "." in digits), None)
    if unsure is None:
        return ".", None
    seen = "," if "," in unsure else "."
    ungrouped = any(digits.isdigit() and len(digits) > 3 for digits in parts)  # then 1,234 is not a grouped 1234
    decimal = seen if seen == "." or ungrouped or separator == ";" else "."
    meaning = "decimal sign" if decimal == seen else "thousands sign"
    other = "," if decimal == "." else "."
    return decimal, f"{unsure!r} is read with {seen!r} as {meaning}; give {argument('decimal', other)} if it is not"


def plain_values(texts: Sequence[str]) -> list[float] | None:
    """The numbers of a column in which every cell is a plain one with a decimal point; None for other columns."""
    if set("".join(texts)) - ASCII_DIGITS - {".", "-"}:
        return None
    try:
        return list(map(float, texts))
    except ValueError:  # an empty cell, or a sign behind its number
        return None


def value(text: str, decimal: str = ".") -> float | None:
    """The number that a text is, not a number for a missing one, None for what can't be read."""
    if decimal == "." and PLAIN.fullmatch(text):
        return float(text)
    if is_missing(text):
        return math.nan
    part = apart(text)
    if part is None:
        return None
    body, e, exponent = re.match(r"([^eE]*)([eE]?)(.*)", part.digits).groups()  # type: ignore[union-attr]
    whole, _, fraction = body.partition(decimal)
    grouping = "," if decimal == "." else "."
    if decimal in fraction or grouping in fraction:
        return None
    if grouping in whole and not GROUPED[grouping].fullmatch(whole):
        return None
    plain = f"{whole.replace(grouping, '') or '0'}.{fraction or '0'}{e}{exponent}"
    return part.sign * float(plain) / (100 if part.percent else 1)
