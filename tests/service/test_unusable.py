"""An experiment that can't go on says why, and doesn't take the others with it."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from afterglow import live
from afterglow.errors import BadDatabase
from afterglow.live.store import access
from afterglow.service.server import opened
from afterglow.service.settings import ServiceSettings
from testbed.service import in_thread, slug

FLAGS = "/ofrep/v1/evaluate/flags"
DAMAGED = "record 1 of 'damaged' doesn't follow from the one before; go back to a backup"


def test_an_experiment_whose_log_is_damaged_is_named_and_the_others_go_on(tmp_path: Path) -> None:
    db = tmp_path / "experiments.db"
    with in_thread(db) as client:
        for name in ("damaged", "sound"):
            client.post("/v1/experiments", json={"name": name, "variants": ["A", "B"], "window": 2}).raise_for_status()
    with closing(sqlite3.connect(db)) as base, base:
        base.execute("UPDATE events SET at = at + 1 WHERE experiment = 1 AND seq = 1")
    with in_thread(db) as client:
        listed = client.get("/v1/experiments").json()
        assert [one["name"] for one in listed["items"]] == ["sound"]
        assert listed["unusable"] == [{"name": "damaged", "detail": DAMAGED}]
        refused = client.get("/v1/experiments/damaged/current")
        assert (slug(refused), refused.json()["detail"]) == ("unusable", DAMAGED)
        reward = {"key": "a", "amount": 0.5}
        assert slug(client.post("/v1/experiments/damaged/rewards", json=reward)) == "unusable"
        assert client.post("/v1/experiments/sound/rewards", json=reward).status_code == 202
        assert client.post(FLAGS + "/damaged").json() == {
            "key": "damaged", "errorCode": "GENERAL", "errorDetails": DAMAGED,
        }  # fmt: skip
        flags = client.post(FLAGS).json()["flags"]
        assert [(one["key"], one.get("value")) for one in flags] == [("damaged", None), ("sound", "A")]
        assert client.get("/readyz").status_code == 200
        assert "damaged" in client.get("/").text


def test_a_file_that_has_lost_the_names_of_its_experiments_is_refused_before_a_token_is_made(tmp_path: Path) -> None:
    db = tmp_path / "experiments.db"
    with live.open(db) as experiments:
        experiments.create("shop", ["A", "B"], 3)
    with closing(sqlite3.connect(db)) as base:
        ((root,),) = base.execute("SELECT rootpage FROM sqlite_master WHERE name = 'experiments'")
        ((size,),) = base.execute("PRAGMA page_size")
    text, first = db.read_bytes(), size * (root - 1)
    db.write_bytes(text[:first] + b"\xff" * size + text[first + size :])
    with pytest.raises(BadDatabase, match="has damaged pages"), opened(ServiceSettings(db=str(db))) as service:
        service.first_token()
    keys = access(db)
    assert keys.tokens() == []
    keys.close()
