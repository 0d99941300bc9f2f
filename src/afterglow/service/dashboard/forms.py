"""Forms as browsers send them: reading the body and the numbers in it."""

from collections.abc import Mapping
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request

from afterglow.errors import BadValue, argument

FIELDS = 50
DIGITS = 20


async def read_form(request: Request) -> Mapping[str, str]:
    """The fields of a form; of a repeated field, the last."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(415, "a form is sent as application/x-www-form-urlencoded")
    body = await request.body()  # the middleware limits its size
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=FIELDS, errors="strict"))
    except ValueError as error:
        raise HTTPException(400, "the form can't be read") from error


def whole_number(name: str, text: str) -> int:
    """A whole number as people write it, with or without commas and spaces."""
    plain = text.strip().replace(",", "").replace(" ", "")
    if not plain.isascii() or not plain.isdecimal() or len(plain) > DIGITS:
        raise BadValue(f"{argument(name)} must be a whole number, got {text!r}")
    return int(plain)


def decimal_number(name: str, text: str) -> float:
    """A number as people write it, with a decimal point or one decimal comma."""
    plain = text.strip().replace(" ", "")
    try:
        return float(plain if "." in plain or plain.count(",") != 1 else plain.replace(",", "."))
    except ValueError as error:
        raise BadValue(f"{argument(name)} must be a number, got {text!r}") from error
