"""The system's Chromium, driven by Playwright, with a record of everything that went wrong on a page."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, sync_playwright

from afterglow.lab.rendering.pdf import browser

PATIENCE = 60_000  # milliseconds, on a busy machine
FLAGS = (
    "--disable-gpu", "--disable-dev-shm-usage", "--no-proxy-server", "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-sandbox",  # as root and in containers there is none, and it reads nobody's pages but ours
)  # fmt: skip


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser; without one the test is skipped, and says so."""
    program = browser()
    if program is None:
        pytest.skip("there is no Chromium to look with; Debian's is installed by `apt-get install chromium`")
    with sync_playwright() as playwright:
        try:
            made = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        except Error as error:
            pytest.skip(f"{program} can't be used here: {error}")
        yield made
        made.close()


@contextmanager
def visit(made: Browser, address: str, **screen: Any) -> Iterator[tuple[Page, list[str]]]:
    """A page that shares nothing with others, and what went wrong on it: errors, failures, requests to other hosts."""
    context = made.new_context(base_url=address, **screen)
    context.set_default_timeout(PATIENCE)
    troubles = list[str]()
    listen(context, address, troubles)
    yield context.new_page(), troubles
    context.close()


def listen(context: BrowserContext, address: str, troubles: list[str]) -> None:
    context.on("weberror", lambda error: troubles.append(str(error.error)))
    context.on("console", lambda said: troubles.append(said.text) if said.type in ("error", "assert") else None)

    def failed(request: Any) -> None:
        if request.failure != "net::ERR_ABORTED":  # left behind, not failed
            troubles.append(f"{request.url} failed: {request.failure}")

    def asked(request: Any) -> None:
        if not request.url.startswith((f"{address}/", "data:")):  # the browser draws its own icons as data
            troubles.append(f"asked elsewhere: {request.url}")

    context.on("requestfailed", failed)
    context.on("request", asked)
