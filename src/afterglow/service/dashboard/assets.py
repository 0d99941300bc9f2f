"""Static files of the dashboard, served from the package: styles, scripts and two libraries."""

from hashlib import sha256
from importlib.resources import files

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

TYPES = {
    "style.css": "text/css; charset=utf-8",
    "forms.css": "text/css; charset=utf-8",
    "small.css": "text/css; charset=utf-8",
    "uplot.min.css": "text/css; charset=utf-8",
    "dashboard.js": "text/javascript; charset=utf-8",
    "actions.js": "text/javascript; charset=utf-8",
    "totals.js": "text/javascript; charset=utf-8",
    "htmx.min.js": "text/javascript; charset=utf-8",
    "uplot.min.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
    "htmx.LICENSE.txt": "text/plain; charset=utf-8",
    "uplot.LICENSE.txt": "text/plain; charset=utf-8",
}
BYTES = {name: files(__package__).joinpath("assets", name).read_bytes() for name in TYPES}
VERSIONS = {name: sha256(content).hexdigest()[:12] for name, content in BYTES.items()}
FOR_GOOD, ASK = "public, max-age=31536000, immutable", "no-cache"


def address(name: str) -> str:
    """The URL of a file, versioned by its content."""
    return f"/assets/{name}?v={VERSIONS[name]}"


def asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in BYTES:
        raise HTTPException(404, f"there is no file {name!r}")
    version = VERSIONS[name]
    headers = {
        "Cache-Control": FOR_GOOD if request.query_params.get("v") == version else ASK,
        "ETag": f'"{version}"',
    }
    if request.headers.get("if-none-match") == f'"{version}"':
        return Response(status_code=304, headers=headers)
    return Response(BYTES[name], media_type=TYPES[name], headers=headers)
