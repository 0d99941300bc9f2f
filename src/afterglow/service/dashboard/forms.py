"""Forms as browsers send them: reading the body and the numbers in it."""

from collections.abc import Mapping
from re import fullmatch, search
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request

from afterglow.errors import BadValue, argument
from afterglow.service.transport.middleware import UPLOAD_PATH

FIELDS = 50
DIGITS = 20
SECONDS = {"": 1} | {
    word: size
    for size, words in {
        1: "s sec second seconds", 60: "m min minute minutes", 3600: "h hour hours", 86400: "d day days",
        604800: "w week weeks",
    }.items()
    for word in words.split()
}  # fmt: skip


async def read_form(request: Request) -> Mapping[str, str]:
    """The fields of a form; of a repeated field, the last. A file that was sent is in `request.state.file`."""
    media = request.headers.get("content-type", "")
    kind = media.partition(";")[0].strip().lower()
    if kind == "multipart/form-data" and request.url.path == UPLOAD_PATH:
        fields, request.state.file = read_parts(await request.body(), media)
        return fields
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(415, "a form is sent as application/x-www-form-urlencoded")
    body = await request.body()  # the middleware limits its size
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=FIELDS, errors="strict"))
    except ValueError as error:
        raise HTTPException(400, "the form can't be read") from error


def read_parts(body: bytes, media: str) -> tuple[dict[str, str], bytes | None]:
    """The fields of a form with a file, and the file; None if none was chosen (RFC 7578)."""
    boundary = search(r'boundary="?([^";\s]{1,70})"?\s*(;|$)', media)
    if boundary is None or not boundary[1].isascii():
        raise HTTPException(400, "the form can't be read")
    parts = (b"\r\n" + body).split(b"\r\n--" + boundary[1].encode())
    if len(parts) < 3 or parts[0] or not parts[-1].startswith(b"--") or len(parts) > FIELDS:
        raise HTTPException(400, "the form can't be read")
    fields, file = dict[str, str](), None
    for part in parts[1:-1]:
        head, _, content = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        try:
            name = search(r'\bname="([^"]*)"', head.decode())
            if name is None:
                raise HTTPException(400, "the form can't be read")
            if search(r'\bfilename="', head.decode()):
                file = content or file
            else:
                fields[name[1]] = content.decode()
        except UnicodeDecodeError as error:
            raise HTTPException(400, "the form can't be read") from error
    return fields, file


def refuse_empty(name: str, text: str) -> None:
    if not text.strip():
        raise BadValue(f"{argument(name)} is missing; enter a number")


def whole_number(name: str, text: str) -> int:
    """A whole number as people write it, with or without commas and spaces."""
    refuse_empty(name, text)
    plain = text.strip().replace(",", "").replace(" ", "")
    if not plain.isascii() or not plain.isdecimal() or len(plain) > DIGITS:
        raise BadValue(f"{argument(name)} must be a whole number, got {text!r}")
    return int(plain)


def seconds_in(name: str, text: str) -> float:
    """A duration as people write it, in seconds; a number alone is in seconds.

    >>> seconds_in("remember", "2 hours"), seconds_in("remember", "1.5h"), seconds_in("remember", "90")
    (7200.0, 5400.0, 90.0)
    """
    found = fullmatch(r"\s*([0-9., ]*[0-9])\s*([a-z]*)\s*", text.lower())
    if found is None or found[2] not in SECONDS:
        raise BadValue(
            f"{argument(name)} must be one number and one unit, such as 150 minutes or 2.5 hours, got {text!r}"
        )
    return decimal_number(name, found[1]) * SECONDS[found[2]]


def decimal_number(name: str, text: str) -> float:
    """A number as people write it, with a decimal point or one decimal comma.

    A comma before three digits is refused: 3,600 is 3.6 to some and 3600 to others.
    """
    refuse_empty(name, text)
    plain = text.strip().replace(" ", "")
    if fullmatch(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}", plain):
        ways = f"{plain.replace(',', '')} or {plain.replace(',', '.')}"
        raise BadValue(
            f"{argument(name)} must be a number that can be read in one way only: write {ways}, got {text!r}"
        )
    try:
        return float(plain if "." in plain or plain.count(",") != 1 else plain.replace(",", "."))
    except ValueError as error:
        raise BadValue(f"{argument(name)} must be a number, got {text!r}") from error
