"""A provider of traces that somebody else sets changes nothing: see docs/decisions/0018-telemetry.md."""

from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace

from testbed.quick_disk import quick_folder
from testbed.service import in_thread


class Recorder(trace.TracerProvider):
    """Counts who asks for a tracer."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def get_tracer(self, instrumenting_module_name: str, *others: Any, **more: Any) -> trace.Tracer:
        self.asked.append(instrumenting_module_name)
        return trace.NoOpTracer()


def test_no_call_is_traced_though_there_is_a_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder()
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", recorder)
    with quick_folder() as folder, in_thread(Path(folder) / "e.db") as client:
        asked = {"name": "new", "variants": ["A", "B"], "window": 2}
        client.post("/v1/experiments", json=asked).raise_for_status()
        assert client.get("/v1/experiments/new/current").is_success
    assert recorder.asked == []
