"""A database that was changed behind the experiment's back is found out; a backup is a database."""

import json
from pathlib import Path
from typing import Any

import pytest

import afterglow
from afterglow.errors import BadDatabase, BadValue
from afterglow.live import Experiments
from support.service.live_fixtures import ASKED


def rewrite(experiments: Experiments, statement: str) -> None:
    """Change tables behind the experiment's back."""
    with experiments._store.session(change=True) as session:
        session.run(statement)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("UPDATE events SET body = replace(body, '3000000', '9000000') WHERE seq = 7", "record 7: its hash doesn't"),
        ("DELETE FROM events WHERE seq = 7", "record 8: its hash doesn't"),
        ("UPDATE events SET at = at + 1 WHERE seq = 7", "record 7: its hash doesn't"),
        ("UPDATE steps SET total = total + 1 WHERE step = 5", "step 5: the table has"),
        ("UPDATE steps SET served = 0 WHERE step = 7", "step 7: the table has"),
        ("DELETE FROM steps WHERE step = 5", "step 5: the table has"),
        (
            "INSERT INTO steps VALUES (1, 99, 0, 0, 'plan', 0, 0, NULL, NULL)",
            "step 99: the table has a row that is not in the log",
        ),
        ("UPDATE snapshots SET state = replace(state, '1', '2')", "snapshot 10: it is not the state"),
        ("INSERT INTO snapshots VALUES (1, 999, 0, '', '')", "snapshot 999: it is not in the log"),
    ],
)
def test_verify_finds_every_change(address: str, monkeypatch: pytest.MonkeyPatch, damage: str, said: str) -> None:
    monkeypatch.setattr("afterglow.live.follower.EVERY", 10)
    with afterglow.live.open(address) as experiments:
        experiment = experiments.create("shipping", **ASKED, policy="ucb1")
        for _ in range(15):
            experiment.close_step(3.0)
        assert experiment.verify().ok
        rewrite(experiments, damage)
        verdict = experiment.verify()
        assert not verdict.ok
        assert verdict.faults[0].startswith(said)
        assert "faults:" in str(verdict)


def test_a_decision_that_does_not_follow_from_the_log_is_found(address: str) -> None:
    """A forger who renews all hashes still has to make the policy decide as he wishes."""
    from afterglow.live.domain.log import NOTHING, chained

    with afterglow.live.open(address) as experiments:
        experiment = experiments.create("shipping", **ASKED, policy="ucb1")
        for _ in range(60):
            experiment.close_step(3.0)
        store: Any = experiments._store
        with store.writing("shipping") as log:
            before = NOTHING
            for seq, at, kind, body, _ in list(log.records()):
                forged = json.dumps(json.loads(body) | {"total": 40_000_000}) if seq == 7 else body
                before = chained(before, seq, at, kind, forged)
                log.session.run("UPDATE events SET body = ?, hash = ? WHERE seq = ?", forged, before, seq)
        faults = experiment.verify().faults
        assert faults[0].startswith("step 5: the table has")
        assert any("the log leads to step" in fault for fault in faults)


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        (
            "UPDATE rewards SET amount = amount + 1 WHERE step = 0",
            "step 0: its 2 rewards add up to 3,000,002",
        ),
        ("UPDATE rewards SET amount = amount + 1 WHERE step = 1", "step 1: its rewards are (1, 4000001), their stored"),
        ("DELETE FROM sums", "step 1: its rewards are (1, 4000000), their stored sum is (0, 0)"),
        ("UPDATE rewards SET step = 7 WHERE step = 1", "step 7: there are rewards, but the log has no such step"),
    ],
)
def test_verify_compares_rewards_that_are_not_sealed_with_totals(
    experiments: Experiments, damage: str, fault: str
) -> None:
    experiment = experiments.create("shipping", **ASKED)
    experiment.rewards([("a", 1.0), ("b", 2.0)])
    experiment.close_step()
    experiment.reward(4.0, "c")
    assert experiment.verify().ok
    rewrite(experiments, damage)
    assert any(one.startswith(fault) for one in experiment.verify().faults), experiment.verify()


def test_a_damaged_log_or_snapshot_is_not_gone_on_from(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("afterglow.live.follower.EVERY", 10)
    with afterglow.live.open(address) as experiments:
        experiment = experiments.create("shipping", **ASKED, policy="ucb1")
        for _ in range(15):
            experiment.close_step(3.0)
    for statement in ("UPDATE events SET at = 0 WHERE seq = 14", "UPDATE snapshots SET state = '{}'"):
        with afterglow.live.open(address) as again:
            rewrite(again, statement)
            with pytest.raises(BadDatabase, match="go back to a backup"):
                again.get("shipping")


# Backup


def test_a_backup_of_a_running_experiment_goes_on_by_itself(address: str, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    with afterglow.live.open(address) as experiments:
        experiment = experiments.create("shipping", **ASKED, policy="ucb1")
        for _ in range(5):
            experiment.close_step(3.0)
        experiments.backup(str(copy))
        with pytest.raises(BadValue, match="exists; name a new file"):
            experiments.backup(str(copy))
        with afterglow.live.open(copy) as others:
            other = others.get("shipping")
            assert other.verify().ok
            for _ in range(9):
                experiment.close_step(3.0)
                other.close_step(3.0)
            assert other.steps() == experiment.steps()


def test_an_experiment_whose_records_cant_be_read_does_not_hide_the_news_of_the_others(address: str) -> None:
    with afterglow.live.open(address) as experiments:
        for name in ("damaged", "sound"):
            experiments.create(name, **ASKED)
        rewrite(experiments, "UPDATE events SET body = 'no JSON' WHERE seq = 1 AND experiment = 1")
        experiments["sound"].close_step(1.0)
        assert [(name, one.kind) for name, one in experiments.changes({"damaged": 0})] == [
            ("sound", "create"), ("sound", "start"), ("sound", "close"),
        ]  # fmt: skip
