"""A browser to look at pages with: a headless Chromium controlled over a pipe with its developer-tools protocol.

The protocol is JSON with a zero byte behind each message, so the standard library is enough, and whatever version of
Chromium a machine has will do. When the pipe ends, so does the browser.
"""

import json
import os
import subprocess
from fcntl import F_DUPFD_CLOEXEC, fcntl
from select import select
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any

PATIENCE = 60.0  # seconds, on a busy machine
FLAGS = (
    "--headless", "--remote-debugging-pipe", "--disable-gpu", "--disable-dev-shm-usage", "--no-proxy-server",
    "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--no-sandbox",  # as root and in containers there is none, and it reads nobody's pages but ours
)  # fmt: skip
KEYS = {"Enter": (13, "\r"), "Tab": (9, ""), "Escape": (27, ""), "ArrowDown": (40, ""), "Space": (32, " ")}


class NoBrowser(Exception):
    """It does not start, or has gone."""


def pipe() -> tuple[int, int]:
    """Two ends, with numbers that a shell does not use itself."""
    made = os.pipe()
    high = [fcntl(one, F_DUPFD_CLOEXEC, 10) for one in made]
    for one in made:
        os.close(one)
    return high[0], high[1]


class Chromium:
    """One process. `tab` opens a page that shares nothing with others."""

    def __init__(self, program: str) -> None:
        self.profile = TemporaryDirectory(ignore_cleanup_errors=True)
        (commands, self.out), (self.into, answers) = pipe(), pipe()
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", f'exec "$@" 3</dev/fd/{commands} 4>/dev/fd/{answers}', "sh",
             program, *FLAGS, f"--user-data-dir={self.profile.name}"],
            pass_fds=(commands, answers),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(commands)
        os.close(answers)
        self.unread = b""
        self.sent = 0
        self.tabs = dict[str, Tab]()

    def call(self, method: str, session: str = "", /, **given: Any) -> dict[str, Any]:
        """Call a method of the protocol; its result."""
        self.sent += 1
        message = {"id": self.sent, "method": method, "params": given} | ({"sessionId": session} if session else {})
        left = json.dumps(message).encode() + b"\0"
        try:
            while left:
                left = left[os.write(self.out, left) :]
        except BrokenPipeError as error:
            raise NoBrowser(f"it ended before {method}") from error
        while True:
            heard = self.hear()
            if heard.get("id") == self.sent:
                assert "error" not in heard, f"{method}: {heard['error']}"
                return dict(heard["result"])
            if "method" in heard and heard.get("sessionId") in self.tabs:
                self.tabs[heard["sessionId"]].note(heard["method"], heard["params"])

    def hear(self) -> dict[str, Any]:
        """The next message."""
        until = monotonic() + PATIENCE
        while b"\0" not in self.unread:
            if not select([self.into], [], [], max(0.0, until - monotonic()))[0]:
                raise NoBrowser(f"it said nothing for {PATIENCE:.0f} seconds")
            more = os.read(self.into, 1 << 16)
            if not more:
                raise NoBrowser("it ended")
            self.unread += more
        message, _, self.unread = self.unread.partition(b"\0")
        return dict(json.loads(message))

    def tab(self, address: str) -> "Tab":
        """A page of the service at this address."""
        context = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.tabs[session] = Tab(self, session, address)
        for part in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{part}.enable", session)
        self.call("Emulation.setFocusEmulationEnabled", session, enabled=True)  # as if somebody looked at it
        return self.tabs[session]

    def close(self) -> None:
        os.close(self.out)
        try:
            self.process.wait(PATIENCE / 4)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.into)
        self.profile.cleanup()


class Tab:
    """One page. `troubles` are errors, what could not be loaded and what other hosts were asked for."""

    def __init__(self, browser: Chromium, session: str, address: str) -> None:
        self.browser, self.session, self.address = browser, session, address
        self.troubles = list[str]()

    def call(self, method: str, **given: Any) -> dict[str, Any]:
        return self.browser.call(method, self.session, **given)

    def note(self, event: str, told: dict[str, Any]) -> None:
        if event == "Log.entryAdded" and told["entry"]["level"] == "error":
            self.troubles.append(f"{told['entry']['text']} {told['entry'].get('url', '')}")
        elif event == "Runtime.consoleAPICalled" and told["type"] in ("error", "assert"):
            self.troubles.append(" ".join(str(one.get("value", one.get("description"))) for one in told["args"]))
        elif event == "Runtime.exceptionThrown":
            self.troubles.append(str(told["exceptionDetails"]))
        elif event == "Network.loadingFailed" and told["errorText"] != "net::ERR_ABORTED":  # left behind, not failed
            self.troubles.append(f"{told['type']} failed: {told['errorText']}")
        elif event == "Network.requestWillBeSent":
            asked = told["request"]["url"]
            if not asked.startswith((f"{self.address}/", "data:")):  # the browser draws its own icons as data
                self.troubles.append(f"asked elsewhere: {asked}")

    def value(self, expression: str) -> Any:
        """What a line of script says."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def until(self, expression: str) -> None:
        """Wait for a line of script to be true, over loading another page too."""
        end = monotonic() + PATIENCE
        while True:
            try:
                if self.value(f"Boolean({expression})"):
                    return
            except AssertionError as error:  # between two pages there is nothing to ask
                seen = str(error)
            else:
                seen = str(self.value("document.body?.innerText"))
            assert monotonic() < end, f"{expression} is not so; {seen}; {self.troubles}"
            sleep(0.02)

    def go(self, path: str) -> None:
        self.value("document.left = true")
        self.call("Page.navigate", url=self.address + path)
        self.until("!document.left && document.readyState === 'complete'")

    def press(self, *keys: str) -> None:
        for key in keys:
            code, text = KEYS[key]
            named = {"key": " " if key == "Space" else key, "code": key, "windowsVirtualKeyCode": code}
            self.call("Input.dispatchKeyEvent", type="keyDown", **named, **({"text": text} if text else {}))
            self.call("Input.dispatchKeyEvent", type="keyUp", **named)

    def write(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def look(self, width: int, scheme: str = "light", media: str = "screen") -> None:
        """A window this wide, on a light or dark screen or on paper."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False)
        self.call(
            "Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": scheme}]
        )
