"""Take the screenshots of the dashboard in docs/figures: python docs/screenshots.py.

A service on a free loopback port serves a seeded experiment on a fixed clock, and a headless Chromium takes the page of
that experiment in its light and dark colours. Pillow, which Matplotlib requires, crops and compresses the pictures.
"""

import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from afterglow import live  # noqa: E402
from afterglow.lab.rendering.pdf import browser  # noqa: E402
from testbed.quick_disk import quick_folder  # noqa: E402
from testbed.service import in_thread  # noqa: E402

FIGURES = ROOT / "docs/figures"
SCHEMES = {"light": 1, "dark": 0}  # Chromium's numbers of preferred colour schemes
WIDTH, HEIGHT, SCALE = 1200, 1180, 2  # CSS pixels, and device pixels for each
BLANK = 12  # CSS pixels of free space where a picture may end
COLOURS = 128
MONDAY = 1_794_819_600.0  # 16 November 2026, 09:00 in UTC
HOUR = 3600.0
FEES = {"0.99": 150.0, "1.99": 214.0, "2.99": 168.0}  # average value of an hour
WINDOW = 6


class Clock:
    """A clock that moves only when it is set."""

    now = MONDAY

    def __call__(self) -> float:
        return self.now


def play(experiment: live.Experiment, clock: Clock, steps: int, random: Random, served: list[float]) -> None:
    """Report seeded totals; the effect of an hour is spread over the window, on a daily cycle."""
    for _ in range(steps):
        served.append(FEES[experiment.current()])
        level = sum(served[-WINDOW:]) / WINDOW
        cycle = 1 + 0.18 * math.sin((clock.now - MONDAY) / HOUR * math.tau / 24)
        experiment.reward(round(level * cycle + random.gauss(0, 9), 2), f"{len(served)}")
        clock.now += HOUR


def create(database: Path, clock: Clock) -> None:
    """An experiment in its third week, with a pin in its history."""
    random, served = Random(8), [0.0] * (WINDOW - 1)
    with live.open(database, clock=clock) as experiments:
        made = experiments.create(
            "delivery-fee", list(FEES), window=WINDOW, horizon=1000, reward_max=400.0, season=24,
            step_seconds=HOUR, unit="EUR",
        )  # fmt: skip
        play(made, clock, 210, random, served)
        made.pin("0.99", "Free-delivery campaign until the evening")
        play(made, clock, 10, random, served)
        made.unpin("Campaign has ended")
        play(made, clock, 150, random, served)
        made.current()
    clock.now += 1500


def screenshot(program: str, address: str, scheme: str, path: Path) -> None:
    """Take the upper part of a page in one colour scheme."""
    root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        taken = Path(profile) / "page.png"
        subprocess.run(
            [
                program, "--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-proxy-server",
                "--disable-background-networking", "--hide-scrollbars", f"--user-data-dir={profile}/profile", *root,
                f"--force-device-scale-factor={SCALE}", f"--window-size={WIDTH},{HEIGHT + 200}",
                f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}", "--virtual-time-budget=3000",
                f"--screenshot={taken}", address,
            ],
            check=True, capture_output=True, timeout=120, env={**os.environ, "TZ": "UTC"},
        )  # fmt: skip
        with Image.open(taken) as picture:
            part = cropped(picture.convert("RGB"))
            part.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


def cropped(picture: Image.Image) -> Image.Image:
    """The picture down to the last free space between two lines."""
    rows = [len(set(picture.crop((0, y, picture.width, y + 1)).tobytes())) <= 3 for y in range(HEIGHT * SCALE)]
    for end in range(len(rows), 0, -1):
        if all(rows[max(0, end - BLANK * SCALE) : end]):
            return picture.crop((0, 0, picture.width, end))
    return picture


def main(say: Callable[[str], object] = print) -> None:
    program = browser()
    if program is None:
        sys.exit("there is no Chromium; Debian's is installed by `apt-get install chromium`")
    clock = Clock()
    with quick_folder() as folder:
        database = Path(folder) / "experiments.db"
        create(database, clock)
        with in_thread(database, clock) as client:
            for scheme in SCHEMES:
                path = FIGURES / f"dashboard-{scheme}.png"
                screenshot(program, f"{client.base_url}/experiments/delivery-fee", scheme, path)
                say(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
