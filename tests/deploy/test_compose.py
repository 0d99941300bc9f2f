"""The parts of `deploy/compose.yaml`, started by its own commands without Docker: a real PostgreSQL, two replicas with
the settings it gives them, and Caddy, or nginx, in front of them with the sample as it is."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import httpx
import pytest

from support.deploy import nginx
from support.deploy.programs import DEPLOY, program, run, running
from testbed.ports import Port
from testbed.postgres import server
from testbed.service import START, Serving, insist, slug

COMPOSE = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")


def settings() -> dict[str, str]:
    """What compose tells the replicas, but for addresses of its own network."""
    block = COMPOSE.partition("x-replica:")[2].partition("services:")[0]
    found = dict(re.findall(r"^    AFTERGLOW_(\w+): (.+?)(?:  #.*)?$", block, re.MULTILINE))
    assert set(found) == {"DB", "HOST", "METRICS", "TRUSTED_PROXIES"}
    return {
        "metrics": found["METRICS"],
        "trusted_proxies": f"{found['TRUSTED_PROXIES']}, 127.0.0.1",
    }


@pytest.fixture(scope="module")
def replicas() -> Iterator[list[Serving]]:
    database = server().fresh()
    with Serving(database, **settings()) as one, Serving(database, **settings()) as two:
        two.token = one.token
        yield [one, two]
    server().drop(database)


def places(replicas: list[Serving]) -> list[str]:
    return [f"127.0.0.1:{one.port}" for one in replicas]


@pytest.fixture
def port() -> Iterator[int]:
    kept = Port()
    yield kept.number
    kept.close()


def used(address: str, replicas: list[Serving], name: str) -> None:
    """What is asked of a proxy: everything goes through, whichever replica dies, and what is private stays so."""
    headers = {"Authorization": f"Bearer {replicas[0].token}"}
    with httpx.Client(base_url=address, headers=headers, timeout=START, trust_env=False) as http:
        made = {"name": name, "variants": ["A", "B"], "window": 2, "reward_max": 10, "horizon": 100}
        insist(http, 201, "POST", "/v1/experiments", json=made)
        for number in range(8):
            sent = {"key": f"order {number}", "amount": 1.0}
            assert http.post(f"/v1/experiments/{name}/rewards", json=sent).status_code == 202
        assert http.get(f"/v1/experiments/{name}/current").json()["variant"] in {"A", "B"}
        with http.stream("GET", "/v1/events") as events:
            assert events.headers["content-type"].startswith("text/event-stream")
            with httpx.Client(base_url=address, headers=headers, timeout=START, trust_env=False) as other:
                assert other.post(f"/v1/experiments/{name}/steps/0", json={}).status_code == 200
            end = monotonic() + START
            for line in events.iter_lines():  # nothing is held back
                if name in line:
                    break
                assert monotonic() < end, line
        assert http.get("/metrics").status_code == 404
        large = http.post(f"/v1/experiments/{name}/rewards", content=b"x" * 1_100_000)
        assert slug(large) == "too-large"  # the answer of the service, whole
        assert http.post(f"/v1/experiments/{name}/rewards", content=b"x" * 6_000_000).status_code == 413
        asked = httpx.get(f"{address}/sign-in", trust_env=False)
        assert asked.status_code == 200
        replicas[0].kill()
        try:
            for _ in range(4):
                assert http.get(f"/v1/experiments/{name}").status_code == 200
        finally:
            replicas[0].start()


def test_caddy_serves_two_replicas_and_survives_the_loss_of_one(
    replicas: list[Serving], port: int, tmp_path: Path
) -> None:
    told = {"AFTERGLOW_SITE": f"http://127.0.0.1:{port}", "AFTERGLOW_REPLICAS": " ".join(places(replicas))}
    assert set(re.findall(r"^      (AFTERGLOW_\w+):", COMPOSE, re.MULTILINE)) == set(told)
    caddy, config = program("caddy"), DEPLOY / "Caddyfile"
    adapted = json.loads(run(caddy, "adapt", "--config", config, HOME=str(tmp_path), **told).partition("\n")[0])
    adapted["admin"] = {"disabled": True}  # its own port may be taken
    changed = tmp_path / "caddy.json"
    changed.write_text(json.dumps(adapted), encoding="utf-8")
    with running(caddy, "run", "--config", changed, log=tmp_path / "log", HOME=str(tmp_path), **told):
        used(f"http://127.0.0.1:{port}", replicas, "by-caddy")


def test_nginx_serves_two_replicas_and_survives_the_loss_of_one(
    replicas: list[Serving], port: int, tmp_path: Path
) -> None:
    config = nginx.written(tmp_path, port, places(replicas))
    with running(program("nginx"), "-e", "stderr", "-c", config, log=tmp_path / "log"):
        used(f"http://127.0.0.1:{port}", replicas, "by-nginx")
