"""Forms as browsers send them, read with the standard library."""

from collections.abc import Mapping
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request

FIELDS = 50


async def read_form(request: Request) -> Mapping[str, str]:
    """The fields of a form; of one that comes twice, the last."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(415, "a form is sent as application/x-www-form-urlencoded")
    body = await request.body()  # no larger than the gate lets through
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=FIELDS, errors="strict"))
    except ValueError as error:
        raise HTTPException(400, "the form can't be read") from error
