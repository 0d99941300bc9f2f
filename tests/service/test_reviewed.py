"""Faults that a review of pages, streams and webhooks found."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Event

import pytest

from afterglow.errors import BadValue
from afterglow.live.log_entries import LogEntry
from afterglow.live.store.access import HookRow
from afterglow.service.background import plan_jobs, webhook_call
from afterglow.service.background.addresses import checked_url
from afterglow.service.background.feed import Feed, Item
from afterglow.service.dashboard.pages.create import guards
from afterglow.service.dashboard.pages.tokens import names_in
from testbed.quick_disk import quick_folder
from testbed.service import START, in_thread


def test_a_long_line_of_guards_is_refused_before_it_is_matched() -> None:
    with pytest.raises(BadValue, match="at most 300 characters a line"):
        guards({"guards": "a:" + "x " * 30_000 + "b"}, "guards")
    began = time.process_time()
    with pytest.raises(BadValue, match="must be written as"):
        guards({"guards": "a:" + " " * 60_000 + "b"}, "guards")
    assert time.process_time() - began < 1


def test_an_answer_with_units_has_at_most_a_thousand_rows_and_pages_have_all() -> None:
    with quick_folder() as folder, in_thread(Path(folder) / "e.db") as client:
        units = [f"unit {number}" for number in range(200)]
        asked = {"name": "many", "variants": ["A", "B"], "window": 1, "horizon": 100, "units": units}
        client.post("/v1/experiments", json=asked).raise_for_status()
        for step in range(7):
            body = {"totals": dict.fromkeys(units, 1.0)}
            client.post(f"/v1/experiments/many/steps/{step}", json=body).raise_for_status()
        rows, after = [], -1
        while True:
            page = client.get(f"/v1/experiments/many/steps?limit=1000&after={after}").json()
            assert len(page["items"]) <= 1000
            rows += page["items"]
            if page["next"] is None:
                break
            after = page["next"]
        wanted = [(step, unit) for step in range(7) for unit in units]
        assert [(one["step"], one["unit"]) for one in rows][: len(wanted)] == wanted


def test_only_the_newest_items_of_the_feed_keep_their_ids() -> None:
    async def play() -> list[bytes | None]:
        feed = Feed(room=5)
        for number in range(4):
            entry = LogEntry(number, 0.0, "close", {}, "")
            feed.add([Item("a", entry, b"", b"id"), Item("a", entry, b"", b"id")])
        return [one.id for one in feed.items]

    assert asyncio.run(play()) == [None, None, None, b"id", b"id"]


@pytest.mark.parametrize("host", ["a..example", ".example", f"{'x' * 64}.example"])
def test_a_host_that_no_name_server_takes_is_refused_and_fails_as_a_delivery(host: str) -> None:
    with pytest.raises(BadValue, match="whose parts have 1 to 63 characters"):
        checked_url(f"http://{host}/", "public")
    hook = HookRow("h", f"http://{host}/", "whsec_c2VjcmV0", None, None, 0)
    assert webhook_call.try_out(hook, "anywhere", 0.0)


def test_a_test_delivery_does_not_wait_for_a_slow_name_server(monkeypatch: pytest.MonkeyPatch) -> None:
    hook = HookRow("h", "http://slow.example/", "whsec_c2VjcmV0", None, None, 0)
    monkeypatch.setattr(webhook_call, "PATIENCE", 0.05)
    over, answered = Event(), list[bool]()
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: answered.append(over.wait(START)))
    assert webhook_call.try_out(hook, "anywhere", 0.0) == "no answer within 0.05 s"
    assert answered == []
    over.set()


def test_a_comma_is_not_all_experiments() -> None:
    assert names_in({"experiments": "  "}, "experiments") is None
    assert names_in({"experiments": "a, b"}, "experiments") == ["a", "b"]
    with pytest.raises(BadValue, match="must have a name, or be empty for all"):
        names_in({"experiments": " , "}, "experiments")


def test_folders_of_plans_whose_service_was_killed_are_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_jobs, "gettempdir", lambda: str(tmp_path))
    old, new, other = (tmp_path / name for name in ("afterglow-plan-old", "afterglow-plan-new", "other"))
    for folder in (old, new, other):
        folder.mkdir()
        (folder / "history.csv").write_text("1")
    for folder in (old, other):
        os.utime(folder, (0, 0))
    plan_jobs.PlanJobs()
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["afterglow-plan-new", "other"]


def test_a_plan_that_takes_too_much_processor_time_ends_by_its_own_signal() -> None:
    code = "from afterglow.lab.plan.process import limit\nlimit(1, 4 << 30)\nwhile True: pass"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False)
    assert ended.returncode == -signal.SIGXCPU  # by which the page says that it took too long
