"""The dashboard in a real browser: it follows the experiment, obeys the keyboard, and keeps to itself."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from support.browser.chromium import PATIENCE, chromium, visit
from testbed.service import Serving

expect.set_options(timeout=PATIENCE)
SHIPPING = "/experiments/shipping"
INKED = """() => {
    const canvas = document.querySelector("#plot canvas");
    const points = canvas?.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data ?? [];
    return points.some((part) => part > 0);
}"""
PAGES = ("/", "/new", SHIPPING, f"{SHIPPING}/actions/stop", f"{SHIPPING}/steps/5", "/experiments/by-clock",
         "/experiments/draft", f"{SHIPPING}/log", "/plan", "/tokens", "/webhooks", "/audit", "/docs")  # fmt: skip
PHONE = {"width": 390, "height": 800}
SCREEN = {"width": 1280, "height": 800}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as made:
        yield made


@pytest.fixture(scope="module")
def serving(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A service with experiments, none of which moves by itself while a test lasts."""
    with Serving(tmp_path_factory.mktemp("browser") / "experiments.db") as made:
        with made.client() as client:
            create(client, "shipping", policy="lean-ucb", window=1)
            create(client, "by-clock", step_seconds=86400.0)
            create(client, "draft", start=False)
            for _ in range(30):
                close(client)
        yield made


def sign_in(page: Page, token: str) -> None:
    """With the keyboard."""
    page.goto(SHIPPING)
    expect(page.locator("#token")).to_be_focused()
    page.keyboard.insert_text(token)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda address: urlsplit(address).path == SHIPPING)


def create(client: httpx.Client, name: str, **more: Any) -> None:
    body = {"name": name, "variants": ["49", "59", "69"], "window": 3, "reward_max": 10.0, "horizon": 1000}
    assert client.post("/v1/experiments", json=body | more).status_code == 201


def current(client: httpx.Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/v1/experiments/shipping/current").json()
    return found


def close(client: httpx.Client) -> str:
    """End the step; what is live now."""
    step = current(client)["step"]
    assert client.post(f"/v1/experiments/shipping/steps/{step}", json={"total": 2.0 + step % 3}).status_code == 200
    return str(current(client)["variant"])


def test_a_page_follows_its_experiment_while_an_operator_pins_a_variant_by_keyboard(
    browser: Browser, serving: Serving
) -> None:
    with serving.client() as client, visit(browser, serving.address, viewport=SCREEN) as (page, troubles):
        sign_in(page, serving.token)
        before = current(client)["variant"]
        expect(page.locator("#now .live strong")).to_have_text(before)
        page.wait_for_function(INKED)
        page.evaluate("document.before = true; chart.setScale('x', {min: 5, max: 10})")
        page.locator("#action-pin").focus()
        page.keyboard.press("Space")
        page.wait_for_function("() => dialog.open && document.activeElement.name === 'variant'")
        while (after := close(client)) == before:
            pass
        step = current(client)["step"]
        expect(page.locator("#now .live strong")).to_have_text(after)
        expect(page.locator("#effect")).to_contain_text(f"step {step + 1},")
        page.wait_for_function(
            f"() => data.steps.at(-1) === {step} && chart.scales.x.max === 10"
        )  # a closer look stays
        assert page.evaluate("document.before"), "the page was loaded again"
        page.wait_for_function(
            f"() => document.getElementById('announcement').textContent.startsWith('{after} is live.')"
        )
        page.keyboard.press("Escape")
        expect(page.locator("#action-pin")).to_be_focused()
        page.keyboard.press("Enter")
        page.wait_for_function("() => dialog.open && document.activeElement.name === 'variant'")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Tab")
        chosen = page.locator("#sheet :checked").input_value()
        page.keyboard.insert_text("a wrong price")
        page.keyboard.press("Enter")
        expect(page.locator(".notice")).to_be_focused()
        assert not page.evaluate("document.before")
        assert client.get("/v1/experiments/shipping").json()["status"]["pinned"] == chosen
        expect(page.locator("#log")).to_contain_text("a wrong price")
        page.locator(".account button").focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/sign-in")
        assert troubles == []


@pytest.mark.parametrize(
    ("screen", "scheme"), [(SCREEN, "light"), (PHONE, "dark"), (SCREEN, "dark")], ids=["screen", "phone", "dark"]
)
def test_every_page_fits_its_screen_keeps_to_itself_and_can_be_used_by_everyone(
    browser: Browser, serving: Serving, screen: dict[str, int], scheme: str
) -> None:
    with visit(browser, serving.address, viewport=screen, color_scheme=scheme) as (page, troubles):
        sign_in(page, serving.token)
        for path in PAGES:
            page.goto(path)
            assert page.evaluate("location.pathname") == path
            assert page.evaluate("document.documentElement.scrollWidth") <= screen["width"], path
            colour = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).map(Number)")
            assert (sum(colour[:3]) > 3 * 128) == (scheme == "light"), path
            assert troubles == [], path
            found = Axe().run(page)
            assert found.violations_count == 0, f"{path}\n{found.generate_report()}"
            troubles.clear()


# The room in CSS pixels that the longest figures leave in their cells, between margins of 61 pixels.
LONG_FIGURES = """document.body.style.width = "672px",
Math.min(...[...document.querySelectorAll(".differences .share")].map((cell) => {
  cell.textContent = "−36.8 %, −57.1 % to −16.5 %";
  const text = document.createRange();
  text.selectNodeContents(cell);
  return cell.getBoundingClientRect().width - text.getBoundingClientRect().width;
}))"""


def test_a_dark_page_is_printed_light_and_whole(browser: Browser, serving: Serving) -> None:
    parts = "document.querySelectorAll('#plot, #static-chart, .bar, .action-buttons')"
    shown = f"[...{parts}].filter((one) => one.offsetParent).length"
    with visit(browser, serving.address, viewport=SCREEN, color_scheme="dark") as (page, troubles):
        sign_in(page, serving.token)
        page.wait_for_function(INKED)
        assert page.evaluate(shown) == 3  # all but the static chart
        page.set_viewport_size({"width": 700, "height": 800})
        page.emulate_media(media="print")
        assert page.evaluate(shown) == 1  # the static chart alone
        assert page.evaluate("document.documentElement.scrollWidth") <= 700
        page.set_viewport_size({"width": 794, "height": 1123})  # A4
        assert page.evaluate(LONG_FIGURES) > 0
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert troubles == []
