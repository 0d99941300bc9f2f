"""PDF of a page by headless Chromium if it is installed, else of its figures by Matplotlib."""

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure

from afterglow.lab.rendering.style import STYLE

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SECONDS = 120


def browser() -> str | None:
    """The first browser that is installed."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


def print_page(page: Path, path: Path, program: str) -> bool:
    """Whether the browser printed the page."""
    root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []  # Chromium wants it said
    with TemporaryDirectory() as profile:
        flags = ["--headless", "--disable-gpu", "--no-pdf-header-footer", f"--user-data-dir={profile}", *root]
        call = [program, *flags, f"--print-to-pdf={path.resolve()}", page.resolve().as_uri()]
        try:
            done = subprocess.run(call, capture_output=True, timeout=SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return False
    return done.returncode == 0 and path.exists()


def print_figures(figures: dict[str, Figure], path: Path) -> None:
    """The figures, one to a page."""
    with matplotlib.rc_context({**STYLE, "pdf.fonttype": 42}), PdfPages(path, metadata={"CreationDate": None}) as file:
        for figure in figures.values():
            file.savefig(figure)
