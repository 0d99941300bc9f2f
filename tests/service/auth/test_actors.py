"""Who did it: the actor of every command is in the log and its hashes; sign-ins and changes of access are audited."""

import json
from pathlib import Path

from afterglow import live
from afterglow.live import Actor
from afterglow.live.store import access
from support.browser.visitor import Visitor
from testbed.service import Serving, command

CREATED = {"name": "shipping", "variants": ["49", "59"], "window": 2, "reward_max": 10.0}


def test_the_log_the_page_and_the_access_log_name_who_gave_each_command(tmp_path: Path) -> None:
    with Serving(tmp_path / "experiments.db", log_level="info") as serving, serving.client() as client:
        client.post("/v1/experiments", json=CREATED).raise_for_status()
        client.post("/v1/experiments/shipping/pin", json={"variant": "59", "reason": "sale"}).raise_for_status()
        client.post("/v1/experiments/shipping/steps/0", json={"total": 1.0}).raise_for_status()
        events = client.get("/v1/experiments/shipping/events").json()["items"]
        own = serving.token.split("_")[1]
        first = {"token": own, "label": "first start"}
        by = {one["kind"]: one["body"].get("by") for one in events}
        assert by == {"create": first, "start": first, "pin": first, "close": None}
        person = Visitor(serving.address)
        person.sign_in(serving.token)
        person.read("/experiments/shipping/actions/unpin")
        person.send("/experiments/shipping/actions/unpin", reason="over")
        page = person.read("/experiments/shipping").text
        assert f"by first start ({own})" in page
        assert "first start" in page.partition("Sign out")[0]
        person.close()
        unpinned = client.get("/v1/experiments/shipping/events").json()["items"][-1]
        session = unpinned["body"]["by"].pop("session")
        assert unpinned["body"]["by"] == first
        audit = client.get("/v1/audit").json()["items"]
        assert ("signed-in", own, session) in [(one["kind"], one["token"], one["subject"]) for one in audit]
        serving.stop()
        calls = [json.loads(line) for line in serving.errors.splitlines() if '"called"' in line]
        (sent,) = [one for one in calls if one["method"] == "POST" and one["path"].endswith("/actions/unpin")]
        assert (sent["token"], sent["session"]) == (own, session)


def test_changes_of_tokens_and_webhooks_are_audited(tmp_path: Path) -> None:
    with Serving(tmp_path / "experiments.db") as serving, serving.client() as client:
        hook = client.post("/v1/webhooks", json={"url": "https://shop.example/hook?key=secret"}).json()["id"]
        client.delete(f"/v1/webhooks/{hook}").raise_for_status()
        serving.stop()
        new = command("token", "create", "--scope", "read", "--label", "shop", "--db", serving.db).stdout.split("_")[1]
        command("token", "revoke", new, "--db", serving.db)
        assert command("token", "revoke", new, "--db", serving.db, check=False).returncode == 2
        found = access(serving.db).audit(10)
    kinds = ["token-revoked", "token-created", "webhook-deleted", "webhook-created", "token-created"]
    assert [one.kind for one in found] == kinds
    assert [one.subject for one in found[:4]] == [new, new, hook, hook]
    assert (found[3].label, found[3].detail) == ("first start", "https://shop.example/hook")
    assert found[1].label.startswith("command line")
    assert found[1].detail == "shop: read; all experiments"


def test_an_actor_that_was_changed_is_found_out(tmp_path: Path) -> None:
    with live.open(tmp_path / "experiments.db") as experiments:
        experiment = experiments.create("shipping", ["49", "59"], 2, by=Actor("alice"))
        experiment.command("pin", by=Actor("bob", "night shift"), variant="59", reason="sale")
        assert experiment.verify().ok
        assert [one.body.get("by") for one in experiment.events()][-1] == {"token": "bob", "label": "night shift"}
        with experiments._store.session(change=True) as session:
            session.run("UPDATE events SET body = replace(body, 'bob', 'eve') WHERE kind = 'pin'")
        assert not experiment.verify().ok
