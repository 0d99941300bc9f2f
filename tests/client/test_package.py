"""The client is light: nothing of the server, and httpx alone beside the core."""

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

from afterglow import client
from afterglow.client.config import ClientConfig

REFERENCE = Path(__file__).parents[2] / "docs/reference/client.md"

FORBID = """
import sys
class Without:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names!r}:
            raise ModuleNotFoundError(name, name=name.partition(".")[0])
sys.meta_path.insert(0, Without())
"""


def fresh(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)


def test_the_client_needs_nothing_of_the_server_nor_numpy() -> None:
    server = {
        "numpy",
        "fastapi",
        "starlette",
        "uvicorn",
        "msgspec",
        "pydantic",
        "sqlite3",
        "psycopg",
        "jinja2",
        "numba",
    }
    done = fresh(FORBID.format(names=server) + "import afterglow.client; print(*sys.modules)")
    assert done.returncode == 0, done.stderr
    loaded = {name for name in done.stdout.split() if name.startswith("afterglow.")}
    assert not {name for name in loaded if name.startswith(("afterglow.live", "afterglow.service", "afterglow.lab"))}


def test_without_httpx_the_client_says_which_extra_it_needs() -> None:
    done = fresh(FORBID.format(names={"httpx"}) + "import afterglow.client")
    assert "MissingExtra: the client needs the 'client' extra" in done.stderr


def test_every_name_and_setting_is_in_the_reference() -> None:
    page = REFERENCE.read_text(encoding="utf-8")
    cells = re.findall(r"^\| ([^|]*) \|", page, re.MULTILINE)
    known = {name for cell in cells for name in re.findall(r"`(\w+)", cell)}
    kinds = [getattr(client, name) for name in client.__all__ if isinstance(getattr(client, name), type)]
    public = {name for kind in kinds for name in dir(kind) if not name.startswith("_")} - set(dir(tuple))
    settings = {each.name for each in fields(ClientConfig)} - {"address", "token"}
    assert public | settings <= known
    assert [name for name in client.__all__ if name not in page] == []
