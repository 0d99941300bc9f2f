"""Progress of a study in a notebook: a bar in the output of its cell, replaced in place."""

import sys
import time
from html import escape
from importlib import import_module
from typing import Any

from afterglow.lab.rendering.durations import lasting
from afterglow.lab.study.schedule import Progress

EVERY = 0.5  # seconds between two updates
WIDTH = 300


class NotebookProgress:
    """A bar with the share of runs, their rate and the time left."""

    def __init__(self, tools: Any) -> None:
        self.tools = tools
        self.handle: Any = None
        self.last = -EVERY
        self.now: Progress | None = None

    def __call__(self, now: Progress) -> None:
        self.now = now
        if now.done == now.total or time.monotonic() - self.last >= EVERY:
            self.last = time.monotonic()
            left = f", {lasting(now.left, 1.0)} left" if now.left else ""
            self.show(now, f"{now.done:,} of {now.total:,} runs{left}" + (f": {now.cell}" if now.cell else ""))

    def interrupted(self) -> None:
        """Say that the finished runs are kept."""
        if self.now is not None:
            self.show(self.now, f"interrupted at {self.now.done:,} of {self.now.total:,} runs; run again to continue")

    def show(self, now: Progress, text: str) -> None:
        done = WIDTH * now.done / max(now.total, 1)
        bar = (
            f'<svg viewBox="0 0 {WIDTH} 8" width="{WIDTH}" height="8" role="img" aria-label="progress">'
            f'<rect width="{WIDTH}" height="8" rx="4" fill="currentColor" opacity=".15"/>'
            f'<rect width="{done:.0f}" height="8" rx="4" fill="currentColor" opacity=".7"/></svg>'
        )
        page = self.tools.HTML(f"<div>{bar}<div>{escape(text)}</div></div>")
        if self.handle is None:
            self.handle = self.tools.display(page, display_id=True)
        else:
            self.handle.update(page)


def notebook_progress() -> NotebookProgress | None:
    """Progress for the notebook that this runs in; None elsewhere."""
    interactive = sys.modules.get("IPython")
    shell = interactive.get_ipython() if interactive is not None else None
    if shell is None or not hasattr(shell, "kernel"):  # not a terminal's shell
        return None
    return NotebookProgress(import_module("IPython.display"))
