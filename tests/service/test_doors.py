"""What strangers and other sites may send: never a failure of the service, never a name they may not know."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from testbed.quick_disk import quick_folder
from testbed.service import in_thread, slug

ASKED: dict[str, Any] = {"name": "shipping", "variants": ["A", "B"], "window": 2, "start": False}
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    """A service without tokens, with one draft."""
    with quick_folder() as folder, in_thread(Path(folder) / "e.db") as made:
        made.post("/v1/experiments", json=ASKED).raise_for_status()
        yield made


@pytest.mark.parametrize("option", ["self", "release", "by", "given", "__class__", ""])
def test_names_of_our_own_arguments_are_no_options(client: httpx.Client, option: str) -> None:
    answer = client.post("/v1/experiments", json={**ASKED, "name": "other", "options": {option: 1}})
    assert slug(answer) == "bad-value"
    assert answer.json()["field"] == "options"


@pytest.mark.parametrize("step", ["9" * 5000, "9" * 16, "-1", "one", "%D9%A1"])
def test_a_step_in_the_address_of_a_page_that_cant_be_is_not_found(client: httpx.Client, step: str) -> None:
    answer = client.get(f"/experiments/shipping/steps/{step}")
    assert answer.status_code == 404
    assert len(answer.text) < 5000


@pytest.mark.parametrize("htmx", ["true", "false"])
def test_the_page_to_return_to_may_be_written_in_any_script(client: httpx.Client, htmx: str) -> None:
    answer = client.get("/sign-in", params={"next": "/é漢?a=1"}, headers={"HX-Request": htmx})
    assert answer.status_code in (204, 303)
    assert "/%C3%A9%E6%BC%A2?a=1" in (answer.headers.get("hx-redirect"), answer.headers.get("location"))
