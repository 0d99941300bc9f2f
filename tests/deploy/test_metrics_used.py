"""Every metric and label that the alerts and the Grafana dashboard name is in the output of the real `/metrics`."""

import json
import re
from pathlib import Path
from time import monotonic

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from support.deploy.programs import DEPLOY, PATIENCE, program, run
from testbed.service import NEVER

WORDS = re.compile(r"by \(([\w, ]+)\)|on \(([\w, ]+)\)|\{(\w+)=")
OF_PROMETHEUS = {"job", "instance"}  # labels that it adds itself


def dashboard_queries() -> list[str]:
    board = json.loads((DEPLOY / "grafana/afterglow.json").read_text(encoding="utf-8"))
    return [target["expr"] for panel in board["panels"] for target in panel.get("targets", [])]


def alert_queries() -> list[str]:
    lines = (DEPLOY / "alerts.yaml").read_text(encoding="utf-8").splitlines()
    return [line.partition("expr: ")[2] for line in lines if "expr: " in line]


def labels_used(query: str) -> set[str]:
    found = {word.strip() for groups in WORDS.findall(query) for group in groups for word in group.split(",") if word}
    return found - OF_PROMETHEUS


@pytest.fixture
def metrics(client: httpx.Client) -> dict[str, set[str]]:
    """Names and labels that `/metrics` shows once an experiment has been used."""
    made = {"name": "shop", "variants": ["A", "B"], "window": 2, "reward_max": 10, "horizon": 100}
    assert client.post("/v1/experiments", json=made).status_code == 201
    for _ in range(2):  # the second is a duplicate
        answer = client.post("/v1/experiments/shop/rewards", json={"key": "one", "amount": 3})
        assert answer.status_code == 202
    client.post("/v1/experiments/shop/rewards", json={"key": "two", "amount": 99})  # refused
    assert client.post("/v1/experiments/shop/steps/0", json={}).status_code == 200
    end = monotonic() + PATIENCE
    while "afterglow_decisions_total{" not in (text := client.get("/metrics").text):  # the log is followed by a thread
        assert monotonic() < end
        NEVER.wait(0.05)
    shown: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(text):
        whole = family.name + ("_total" if family.type == "counter" else "")
        shown.setdefault(whole, set())
        for sample in family.samples:
            shown.setdefault(sample.name, set()).update(sample.labels)
    return shown


def test_what_is_queried_is_there(metrics: dict[str, set[str]]) -> None:
    queries = dashboard_queries() + alert_queries()
    assert len(queries) == 12 + 8
    for query in queries:
        names = re.findall(r"\b(?:afterglow_\w+|up)\b", query)
        assert names, query
        ours = [name for name in names if name != "up"]
        assert set(ours) <= set(metrics), query
        known = set[str]().union(*(metrics[name] for name in ours))
        if known:  # one that counts what has not happened shows no sample
            assert labels_used(query) <= known, query


def test_every_metric_of_the_service_is_in_the_guide(metrics: dict[str, set[str]]) -> None:
    guide = (DEPLOY.parent / "docs/guides/operations.md").read_text(encoding="utf-8")
    bare = {re.sub(r"_(bucket|count|sum)$", "", name) for name in metrics if not name.endswith("_created")}
    assert [name for name in sorted(bare) if f"`{name}`" not in guide] == []


def test_prometheus_can_read_the_queries_of_the_dashboard(tmp_path: Path) -> None:
    """As recording rules, which `promtool` parses."""
    rules = [
        {"record": f"panel:{number}", "expr": query.replace("$__rate_interval", "5m")}
        for number, query in enumerate(dashboard_queries())
    ]
    made = tmp_path / "rules.json"
    made.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}), encoding="utf-8")
    assert f"{len(rules)} rules found" in run(program("promtool"), "check", "rules", made)
