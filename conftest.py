"""Documents are tests: the blocks of each Markdown file run as one. Hypothesis tries the same cases every time."""

import signal
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings

from support.docs.blocks import Mismatch, run_document

pytest_plugins = [
    "pytester", "support.not_tested", "support.service.live_fixtures", "support.service.page_fixtures",
]  # fmt: skip

settings.register_profile(
    "repeatable", derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("exploring", settings.get_profile("repeatable"), derandomize=False)  # see CONTRIBUTING.md
settings.load_profile("repeatable")

# A shell starts what goes to the background with Ctrl-C ignored, and its children inherit that; here it is tested.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix == ".md":
        return Document.from_parent(parent, path=file_path)
    return None


class Document(pytest.File):
    def collect(self) -> Iterator[pytest.Item]:
        yield Blocks.from_parent(self, name="blocks")


class Blocks(pytest.Item):
    def runtest(self) -> None:
        with TemporaryDirectory() as folder:
            try:
                run_document(self.path, Path(folder).resolve())
            except Mismatch as wrong:
                pytest.fail(str(wrong), pytrace=False)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, self.path.name
