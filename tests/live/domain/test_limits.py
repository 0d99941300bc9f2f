"""Values that the service could not show or keep are refused in Python as they are over HTTP."""

from pathlib import Path
from typing import Any

import pytest

import afterglow
from afterglow.errors import BadValue
from testbed.service import in_thread, slug

ASKED: dict[str, Any] = {"variants": ["A", "B"], "window": 2}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"variants": ["A\ud800", "B"]}, r"variants must have strings of 1 to 100 characters as names, got 'A\\ud800'"),
        ({"variants": [str(number) for number in range(1001)]}, "variants must be at most 1,000, got 1,001"),
        ({"window": 10**6 + 1}, "window must be at most 1,000,000, got 1,000,001"),
        ({"horizon": 10**13}, "horizon must be at most 1,000,000,000,000, got 10,000,000,000,000"),
        ({"season": 10**7}, "season must be at most 1,000,000, got 10,000,000"),
        ({"seed": 2**53}, "seed must be at most 9,007,199,254,740,991, got 9,007,199,254,740,992"),
        ({"remember": 1e8}, "remember must be a number of at least 0 and at most"),
        ({"step_seconds": 1e18}, r"step_seconds must be a number of at least 0.001 and at most .* \(up to 366 days\)"),
        ({"step_seconds": 0.0005}, "step_seconds must be a number of at least 0.001"),
        ({"step_seconds": 60, "starts": 1e300}, r"starts must be .*\(seconds since 1970, until 2200\), got 1e\+300"),
        ({"step_seconds": 60, "starts": -1.0}, "starts must be a number of at least 0"),
    ],
)
def test_a_value_beyond_its_bound_is_refused(tmp_path: Path, given: dict[str, Any], said: str) -> None:
    with afterglow.live.open(tmp_path / "e.db") as experiments:
        with pytest.raises(BadValue, match=said):
            experiments.create("far", **ASKED | given)
        assert experiments.names() == []
    if "starts" not in given and given.get("variants", "A")[0].isascii():  # those are texts of another kind there
        with in_thread(tmp_path / "e.db") as client:
            assert slug(client.post("/v1/experiments", json={"name": "far", **ASKED, **given})) == "bad-value"


def test_the_largest_values_can_be_shown_by_the_service(tmp_path: Path) -> None:
    with afterglow.live.open(tmp_path / "e.db") as experiments:
        experiments.create(
            "far", **ASKED, horizon=10**12, step_seconds=366 * 86400, starts=7_258_118_400.0, seed=2**53 - 1
        )
        near = experiments.create("near", **ASKED)
        with pytest.raises(BadValue, match=r"reason must be a sentence .* got '\\ud800'"):
            near.pin("A", "\ud800")
    with in_thread(tmp_path / "e.db") as client:
        assert client.get("/v1/experiments/far").json()["starts"] == "2200-01-01T00:00:00.000Z"
        assert client.get("/v1/experiments/far/current").json()["valid_until"] == "2200-01-01T00:00:00.000Z"
        for page in ("/", "/experiments/far"):
            assert client.get(page).status_code == 200
