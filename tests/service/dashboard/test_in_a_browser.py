"""The dashboard in a real browser: it follows the experiment, obeys the keyboard, and keeps to itself."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import httpx
import pytest

from afterglow.lab.rendering.pdf import browser
from support.browser.chromium import Chromium, NoBrowser, Tab
from testbed.service import Serving

SHIPPING = "/experiments/shipping"
LIVE = "document.querySelector('#now .live strong').textContent"
INKED = """(() => {
    const canvas = document.querySelector("#plot canvas");
    const points = canvas?.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data ?? [];
    return points.some((part) => part > 0);
})()"""
PAGES = ("/", "/new", SHIPPING, f"{SHIPPING}/actions/stop", f"{SHIPPING}/steps/5", "/experiments/by-clock",
         "/experiments/draft", "/docs")  # fmt: skip


@pytest.fixture(scope="module")
def chromium() -> Iterator[Chromium]:
    program = browser()
    if program is None:
        pytest.skip("there is no Chromium to look with; Debian's is installed by `apt-get install chromium`")
    with closing(Chromium(program)) as made:
        try:
            made.call("Browser.getVersion")
        except NoBrowser as error:
            pytest.skip(f"{program} can't be used here: {error}")
        yield made


@pytest.fixture(scope="module")
def serving(chromium: Chromium, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A service with experiments, none of which moves by itself while a test lasts."""
    with Serving(tmp_path_factory.mktemp("browser") / "experiments.db") as made:
        with made.client() as client:
            create(client, "shipping", policy="lean-ucb", window=1)
            create(client, "by-clock", step_seconds=86400.0)
            create(client, "draft", start=False)
            for _ in range(30):
                close(client)
        yield made


@pytest.fixture
def tab(chromium: Chromium, serving: Serving) -> Tab:
    """A page of somebody who has signed in with the keyboard."""
    made = chromium.tab(serving.address)
    made.go(SHIPPING)
    made.until("document.activeElement.id === 'token'")
    made.write(serving.token)
    made.press("Enter")
    made.until(f"location.pathname === '{SHIPPING}' && document.readyState === 'complete'")
    return made


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


def quiet(tab: Tab) -> None:
    """Nothing went wrong so far, and no other host was asked."""
    tab.value("0")  # whatever the browser had to tell came before its answer
    assert tab.troubles == []


def test_a_page_follows_its_experiment_while_an_operator_pins_a_variant_by_keyboard(tab: Tab, serving: Serving) -> None:
    with serving.client() as client:
        before = current(client)["variant"]
        tab.until(f"{LIVE} === '{before}' && {INKED}")
        tab.value("document.before = true; chart.setScale('x', {min: 5, max: 10})")
        tab.value("document.getElementById('action-pin').focus()")
        tab.press("Space")
        tab.until("dialog.open && document.activeElement.name === 'variant'")
        while (after := close(client)) == before:
            pass
        step = current(client)["step"]
        tab.until(f"{LIVE} === '{after}' && document.getElementById('effect').textContent.includes('step {step + 1},')")
        tab.until(f"data.steps.at(-1) === {step} && chart.scales.x.max === 10")  # who looks closer stays there
        assert tab.value("document.before"), "the page was loaded again"
        tab.until(f"document.getElementById('announcement').textContent.startsWith('{after} is live.')")
        tab.press("Escape")
        tab.until("!dialog.open && document.activeElement.id === 'action-pin'")
        tab.press("Enter")
        tab.until("dialog.open && document.activeElement.name === 'variant'")
        tab.press("ArrowDown", "Tab")
        chosen = tab.value("document.querySelector('#sheet :checked').value")
        tab.write("a wrong price")
        tab.press("Enter")
        tab.until("!document.before && document.readyState === 'complete'")
        tab.until("document.querySelector('.notice') === document.activeElement")
        assert client.get("/v1/experiments/shipping").json()["status"]["pinned"] == chosen
        assert "a wrong price" in tab.value("document.getElementById('log').textContent")
    quiet(tab)
    tab.value("document.querySelector('.account button').focus()")
    tab.press("Enter")
    tab.until("location.pathname === '/sign-in'")
    quiet(tab)


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_every_page_fits_its_screen_and_keeps_to_itself(tab: Tab, width: int, scheme: str) -> None:
    tab.look(width, scheme)
    for path in PAGES:
        tab.go(path)
        assert tab.value("location.pathname") == path
        assert tab.value("document.documentElement.scrollWidth") <= width, path
        red, green, blue = tab.value("getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).map(Number)")
        assert (red + green + blue > 3 * 128) == (scheme == "light"), path
        quiet(tab)


def test_a_dark_page_is_printed_light_and_whole(tab: Tab) -> None:
    parts = "document.querySelectorAll('#plot, #static-chart, .bar, .action-buttons')"
    shown = f"[...{parts}].filter((one) => one.offsetParent).length"
    tab.look(1280, "dark")
    tab.until(INKED)
    assert tab.value(shown) == 3  # all but the static chart
    tab.look(700, "dark", "print")
    assert tab.value(shown) == 1  # the static chart alone
    assert tab.value("document.documentElement.scrollWidth") <= 700
    assert tab.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    quiet(tab)
