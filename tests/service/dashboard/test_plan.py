"""Plan from the form: upload, progress, settings for a new experiment; limits, refusals and hostile files."""

import os
import random
import re
import signal
from collections.abc import Iterator
from datetime import datetime
from threading import Event
from time import monotonic, time
from typing import Any

import httpx
import pytest

from afterglow.errors import BadValue
from afterglow.service.background import plan_jobs
from afterglow.service.background.plan_jobs import PlanJob, PlanJobs
from support.browser.visitor import Visitor
from testbed.service import START, Serving

NEVER = Event()
ASKED = {"variants": "A\nB", "window": "1", "horizon": "40", "gap": "20", "column": "gmv"}
QUESTION: dict[str, Any] = {"arms": 2, "window": 1, "horizon": 40, "gap": 0.2, "runs": 20}
PATIENCE = 3 * START


def history(steps: int = 60, night: float = 500, noise: float = 60) -> bytes:
    """Hours from 1 November on, with another mean for the second half of a day."""
    draws, rows = random.Random(1), []
    for day, hour in (divmod(step, 24) for step in range(steps)):
        total = draws.gauss(500 if hour < 12 else night, noise)
        rows.append(f"2026-11-{1 + day:02}T{hour:02}:00:00Z,{total:.2f},7")
    return "\n".join(["time,gmv,orders", *rows]).encode()


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with Serving(tmp_path_factory.mktemp("plan") / "experiments.db") as made:
        yield made


@pytest.fixture
def visitor(serving: Serving) -> Iterator[Visitor]:
    made = Visitor(serving.address).sign_in(serving.token)
    yield made
    made.close()


def send(visitor: Visitor, file: bytes | None = None, **fields: str) -> str:
    """Fill in the form; the words of the page that follows."""
    visitor.read("/plan")
    data = {**visitor.form("/plan").fields, **ASKED, **fields}
    del data["file"]
    return visitor.take(visitor.client.post("/plan", data=data, files={"file": ("past totals.csv", file or b"")})).text


def ended(visitor: Visitor) -> str:
    """Wait for the plan of the page that is open."""
    end = monotonic() + PATIENCE
    while " % done" in visitor.page.text:
        assert monotonic() < end
        NEVER.wait(0.2)
        visitor.read(visitor.path())
    return visitor.page.text


def run(history: bytes | None, jobs: PlanJobs | None = None, **question: Any) -> PlanJob:
    """A plan without a service, to its end."""
    job = (jobs or PlanJobs()).begin(QUESTION | question, history, {}, "me")
    job.thread.join(PATIENCE)
    return job


def test_an_uploaded_history_becomes_a_plan_and_the_plan_an_experiment(serving: Serving, visitor: Visitor) -> None:
    send(visitor, history(336, night=200, noise=9), unit="EUR", name="fee")
    assert visitor.path().startswith("/plan/")
    text = ended(visitor)
    assert "336 totals of an hour from column 'gmv'" in text
    assert "the best of 2 variants is found in" in text
    assert "It will most likely end " in text
    assert re.search(r"Lost on the way [\d,.]+ EUR, ", text)
    assert "lost, EUR" in text
    (link,) = [one for one in visitor.page.links if one.startswith("/new?plan=")]
    before = time()
    visitor.read(link)
    fields = visitor.form("/new").fields
    assert (fields["variants"], fields["window"], fields["horizon"], fields["unit"]) == ("A\nB", "1", "40", "EUR")
    assert (fields["step_length"], fields["step_unit"], fields["name"]) == ("1", "hours", "fee")
    assert (fields["profile_from"], fields["start"]) == ("2026-11-15 00:00:00", "at")
    starts = datetime.fromisoformat(f"{fields['starts']}Z").timestamp()
    assert starts % 3600 == 0  # the next boundary of the file's steps
    assert before <= starts <= time() + 3600
    assert 500 < float(fields["reward_max"]) < 1500  # from the file
    visitor.send("/new")
    assert visitor.path() == "/experiments/fee?done=create"
    other = Visitor(serving.address).sign_in(serving.new_token("admin"))
    other.read(link)
    assert other.answer.status_code == 404  # a plan is seen by who asked for it
    other.close()


def test_a_form_without_what_is_needed_is_refused_with_what_was_typed(visitor: Visitor) -> None:
    assert "Without a file of past totals, the maximum value" in send(visitor)
    assert visitor.answer.status_code == 422
    assert visitor.form("/plan").fields["variants"] == "A\nB"
    for wrong, said in (
        ({"variants": "A"}, "Variants must be at least 2"),
        ({"window": "0"}, "The window must be a whole number of at least 1"),
        ({"horizon": "1e9"}, "The horizon must be a whole number"),
        ({"horizon": "100001"}, "The horizon must be at most 100,000"),
        ({"gap": "many"}, "The difference must be a number"),
    ):
        assert said in send(visitor, history(), **wrong), wrong


def test_a_file_that_leaves_a_choice_opens_the_form_again_with_what_was_typed(visitor: Visitor) -> None:
    send(visitor, b"gmv,orders\n" + b"5,3\n" * 60, unit="EUR", column="")
    text = ended(visitor)
    said = "The file has several columns that could be the total (gmv, orders); name it, such as “gmv” for the column"
    assert said in text
    (link,) = [one for one in visitor.page.links if one.startswith("/plan?again=")]
    assert said in visitor.read(link).text
    fields = visitor.form("/plan").fields
    assert (fields["variants"], fields["unit"], fields["horizon"]) == ("A\nB", "EUR", "40")
    assert [one["name"] for one in visitor.page.controls if one.get("aria-invalid")] == ["column"]


def test_files_are_bounded_and_only_read_from_people_who_are_signed_in(serving: Serving, visitor: Visitor) -> None:
    visitor.read("/plan")
    big = visitor.client.post("/plan", data={"mark": "x"}, files={"file": ("a.csv", b"1\n" * (3 << 20))})
    assert big.status_code == 413
    stranger = httpx.post(f"{serving.address}/plan", files={"file": ("a.csv", b"1")}, trust_env=False)
    assert (stranger.status_code, stranger.headers["location"]) == (303, "/sign-in")
    forged = visitor.client.post("/plan", data={**ASKED, "mark": "forged"}, files={"file": ("a.csv", history())})
    assert forged.status_code == 403
    for body in (
        b"",
        b"--x",
        b"--x\r\n\r\n--x--",
        b'--x\r\nContent-Disposition: form-data; name="\xff"\r\n\r\n1\r\n--x--',
    ):
        sent = visitor.client.post("/plan", content=body, headers={"content-type": "multipart/form-data; boundary=x"})
        assert sent.status_code == 400, body


def test_one_plan_runs_at_a_time_and_can_be_cancelled(visitor: Visitor) -> None:
    send(visitor, history(2000), variants="\n".join("ABCDEFGHIJ"), horizon="20000")
    where = visitor.path()
    assert "Another plan is running" in send(visitor, history())
    visitor.read(where)
    visitor.send(f"{where}/cancel")
    assert visitor.form("/plan").fields["horizon"] == "20000"  # to be changed and sent again
    assert "This plan was cancelled" in visitor.read(where).text


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (b"\x00\x01\xff\xfe" * 500, ""),
        (b"total\n", ""),
        (b"gmv\n" + b"=cmd|' /C calc'!A0\n" * 50, ""),
        (b"gmv\n" + b"1e308\n" * 50, ""),
    ],
)
def test_a_hostile_or_doubtful_file_gets_one_sentence(file: bytes, said: str) -> None:
    job = run(file)
    assert job.state == "refused"
    assert said in job.refused
    assert 0 < len(job.refused) < 500
    assert "\n" not in job.refused
    assert job.refused != plan_jobs.FAILED
    assert "afterglow-plan-" not in job.refused  # no path of this machine


def test_a_plan_that_takes_too_long_or_dies_is_ended(caplog: pytest.LogCaptureFixture) -> None:
    slow = run(None, PlanJobs(seconds=0.5), arms=10, horizon=50_000, mean=0.5, reward_max=1.0, runs=20_000)
    assert (slow.state, slow.refused) == ("refused", plan_jobs.TOO_LONG)
    jobs = PlanJobs()
    job = jobs.begin(QUESTION | {"mean": 0.5, "reward_max": 1.0, "runs": 20_000, "horizon": 50_000}, None, {}, "me")
    end = monotonic() + PATIENCE
    while job.process is None:
        assert monotonic() < end
        NEVER.wait(0.01)
    os.killpg(job.process.pid, signal.SIGKILL)
    job.thread.join(PATIENCE)
    assert (job.state, job.refused) == ("refused", plan_jobs.FAILED)
    assert "a plan ended with code -9" in caplog.text


def test_without_the_simulator_s_packages_the_page_says_what_to_install(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan_jobs, "find_spec", lambda name: None)
    assert "pip install" in plan_jobs.missing()
    with pytest.raises(BadValue, match="a plan needs the 'lab' extra"):
        PlanJobs().begin(QUESTION, None, {}, "me")
