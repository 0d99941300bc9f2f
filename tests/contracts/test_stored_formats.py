"""What an earlier release stored is read by this one, shows the same and goes on with the same decisions.

`tests/assets/formats-1` was stored by release 0.1.0, `formats-2` has databases of schema revision 2, `formats-3` those
of revision 3, with units and guards, and agents of newer policies; `make_formats.py`, `make_formats_2.py` and
`make_formats_3.py` beside them say how. The files are never made again: a change that they don't survive needs a new
version of the format and a way from the old one to it. Only what was stored is compared, so views may have new keys.
A policy whose version grows needs the former one beside it (`registry.FORMER`): experiments and agents go on with the
version that they were stored with.
"""

import json
import math
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from shutil import copy, copytree
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import afterglow
from afterglow import Agent, Results, Study, Units
from afterglow.cli import run
from afterglow.errors import BadValue
from afterglow.lab.study.identity import identity
from afterglow.live.store.migrations import VERSIONS
from afterglow.policies.registry import FORMER, named
from support.exact_sums import whole_sums
from support.service.live_fixtures import Clock
from support.service.stored_plays import database_play, play_on, units_play
from support.service.stored_views import (
    agent_view,
    database_view,
    decisions_of,
    differences,
    go_on,
    plain,
    results_view,
)
from testbed.postgres import server
from testbed.quick_disk import quick_folder
from testbed.service import in_thread, slug

STORED = Path(__file__).parents[1] / "assets" / "formats-1"
STUDIES = STORED / "studies"  # the committed ones of that release
AGENTS = [(path.parts[-3], path.stem) for path in sorted(STORED.parent.glob("formats-*/agents/*.json"))]
TABLES = ("cells", "runs", "curves")


@pytest.fixture(autouse=True)
def sums() -> Iterator[None]:
    """What is replayed is the same in every release of Python."""
    with whole_sums():
        yield


def read(name: str) -> Any:
    return json.loads((STORED / name).read_text(encoding="utf-8"))


def assert_as_stored(stored: Any, found: Any) -> None:
    """Nothing that was stored is missing or another; the first few differences otherwise."""
    # a release with a newer state keeps a snapshot of its own as soon as it goes on
    other = [one for one in differences(stored, plain(found)) if "/verified/snapshots: was 1, is 2" not in one]
    assert other[:5] == []


# Agents


def stored_agent(folder: str, name: str) -> str:
    return (STORED.parent / folder / "agents" / f"{name}.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(("folder", "name"), AGENTS)
def test_a_stored_agent_decides_as_the_release_that_stored_it(folder: str, name: str) -> None:
    expected, text = read(f"../{folder}/agents.json"), stored_agent(folder, name)
    stored = expected["agents"][name]
    agent = Agent.from_json(text)
    check = {"check": json.loads(text)["check"]}  # new keys would change it
    assert_as_stored(json.loads(text), json.loads(agent.to_json()) | check)
    assert_as_stored(stored["before"], agent_view(agent))
    assert decisions_of(agent, expected["totals"]) == stored["decisions"]
    assert_as_stored(stored["after"], agent_view(agent))


def test_an_agent_is_stored_of_every_policy_that_there_was() -> None:
    told = {
        (folder, name) for folder in ("formats-1", "formats-3") for name in read(f"../{folder}/agents.json")["agents"]
    }
    assert told == set(AGENTS)
    assert {json.loads(stored_agent(*one))["policy"]["name"] for one in AGENTS} == {
        "ars-exp3", "ars-ucb", "auto-wash", "composite-exp3", "composite-tsallis", "improved-ucb", "kl-ucb",
        "lag-ridge-ucb", "leak-ucb", "lean-ucb", "odaaf", "odaaf-bounded", "odaaf-variance", "phased-elimination",
        "phased-ucb", "random-turns", "switchback", "thompson", "thrift-ucb", "trim-ucb", "ucb1", "washout-ucb",
    }  # fmt: skip


def test_stored_units_decide_as_the_release_that_stored_them() -> None:
    expected, text = (
        read("../formats-3/units-after.json"),
        (STORED.parent / "formats-3" / "units.json").read_text("utf-8"),
    )
    team = Units.from_json(text)
    assert_as_stored(json.loads(text), json.loads(team.to_json()) | {"check": json.loads(text)["check"]})
    assert_as_stored(expected["after"], units_play(team, expected["totals"]))


# Databases


def restore(address: str, folder: Path = STORED) -> None:
    """The stored database at an address, brought to the layout of this release."""
    if address.startswith("postgresql"):
        with psycopg.connect(address, autocommit=True) as base:
            base.execute((folder / "experiments.postgresql.sql").read_bytes())
    else:
        copy(folder / "experiments.sqlite", address)
        Path(address).chmod(0o600)
    assert run(["migrate", address]) == 0


@pytest.fixture
def stored(address: str, clock: Clock) -> Any:
    """What is expected of the database that is now at `address`, at the time by `clock`."""
    expected = read("experiments.json")
    clock.now = expected["now"]
    restore(address)
    return expected


@pytest.fixture
def other(address: str) -> Iterator[str]:
    """An empty database of the other kind."""
    if address.startswith("postgresql"):
        with quick_folder() as folder:
            yield str(Path(folder) / "copy.db")
    else:
        made = server().fresh()
        yield made
        server().drop(made)


def test_a_database_is_stored_of_every_layout_that_there_was() -> None:
    kept = {path.parent.name.removeprefix("formats-") for path in STORED.parent.glob("formats-*/experiments.sqlite")}
    assert kept == set(VERSIONS)


@pytest.mark.parametrize("folder", ["formats-1", "formats-2"])
def test_a_stored_database_shows_what_it_showed_and_goes_on_alike(address: str, clock: Clock, folder: str) -> None:
    stored = read(f"../{folder}/experiments.json")
    clock.now = stored["now"]
    restore(address, STORED.parent / folder)
    with afterglow.live.open(address, clock=clock) as experiments:
        assert_as_stored(stored["before"], database_view(experiments))
        decisions = go_on(experiments, clock.hours, stored["totals"])
        assert decisions == stored["after"]["decisions"]
        since = {name: found[0][0] for name, found in decisions.items()}
        assert_as_stored(stored["after"]["view"], database_view(experiments, since))
    assert run(["verify", address]) == 0


def test_a_database_is_verified_where_the_c_library_rounds_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, erfc = str(tmp_path / "experiments.db"), math.erfc
    restore(address, STORED.parent / "formats-3")
    monkeypatch.setattr(math, "erfc", lambda value: math.nextafter(erfc(value), 1.0))
    assert run(["verify", address]) == 0
    monkeypatch.setattr(math, "erfc", lambda value: erfc(value) * 1.000001)
    assert run(["verify", address]) == 1


def test_a_stored_database_of_units_and_guards_goes_on_alike(address: str, clock: Clock) -> None:
    stored = read("../formats-3/experiments.json")
    clock.now = stored["now"]
    restore(address, STORED.parent / "formats-3")
    with afterglow.live.open(address, clock=clock) as experiments:
        snapshots = {name: experiments[name].verify().snapshots for name in experiments.names()}
        assert min(snapshots.values()) > 0, snapshots
        assert_as_stored(stored["before"], database_play(experiments))
        since = {name: experiments[name].first_decision().step for name in experiments.names()}
        assert_as_stored(stored["after"]["decisions"], play_on(experiments, clock.hours, stored["totals"]))
        assert_as_stored(stored["after"]["view"], database_play(experiments, since))
    assert run(["verify", address]) == 0


def test_a_stored_database_replays_without_its_snapshots(clock: Clock, tmp_path: Path) -> None:
    """What a snapshot says is what the log leads to, also for whoever starts from the log."""
    stored, path = read("../formats-3/experiments.json"), tmp_path / "experiments.db"
    clock.now = stored["now"]
    restore(str(path), STORED.parent / "formats-3")
    with sqlite3.connect(path) as base:
        base.execute("DELETE FROM snapshots")
    base.close()
    with afterglow.live.open(path, clock=clock) as experiments:
        assert_as_stored(stored["before"], database_play(experiments))


def test_stored_rewards_are_recognised_when_they_are_sent_again(address: str, clock: Clock, stored: Any) -> None:
    with afterglow.live.open(address, clock=clock) as experiments:
        pinned, clocked = experiments["trim-pinned"], experiments["trim-clock"]
        assert pinned.rewards([("open a", 1.5), ("open b", 2.25), ("open c", 1.0)]) == (59, 1, 2)
        assert pinned.reward(0.25, "b 55") == (59, 1, 0)  # its step is forgotten
        assert clocked.reward(3.5, "open c") == (50, 0, 1)
        pinned.close_step()
        assert pinned.steps(59, 1)[0].total == 5.0


def test_rewards_of_revision_2_are_recognised_when_they_are_sent_again(address: str, clock: Clock) -> None:
    clock.now = read("../formats-2/experiments.json")["now"]
    restore(address, STORED.parent / "formats-2")
    with afterglow.live.open(address, clock=clock) as experiments:
        pinned = experiments["pinned"]
        assert pinned.rewards([("open a", 1.5), ("open b", 2.25), ("open c", 1.0)]) == (46, 1, 2)
        pinned.close_step()
        assert pinned.steps(46, 1)[0].total == 4.75
        assert pinned.verify().ok


def test_rewards_of_revision_3_are_recognised_when_they_are_sent_again(address: str, clock: Clock) -> None:
    clock.now = read("../formats-3/experiments.json")["now"]
    restore(address, STORED.parent / "formats-3")
    with afterglow.live.open(address, clock=clock) as experiments:
        guards = experiments["guards"]
        assert guards.rewards([("open a", 1.5), ("open a", 2.0, None, "complaints")]).duplicates == 2
        guards.close_step()
        assert guards.steps()[-2][4:] == (1.5, False, None, None, {"complaints": 2.0}, None)
        assert experiments["units"].reward(3.5, "open c", unit="east").duplicates == 1
        assert experiments["default"].rewards([("open a", 1.5), ("open c", 1.0)])[1:] == (1, 1)


def test_a_stored_database_is_copied_to_the_other_kind(address: str, clock: Clock, stored: Any, other: str) -> None:
    assert run(["backup", address, other]) == 0
    with afterglow.live.open(other, clock=clock) as experiments:
        assert_as_stored(stored["before"], database_view(experiments))


def test_stored_tokens_and_webhooks_are_known_to_the_service(address: str, clock: Clock, stored: Any) -> None:
    with in_thread(address, clock, auth=True, webhooks="off") as client:

        def get(path: str, token: str) -> Any:
            return client.get(path, headers={"Authorization": f"Bearer {stored['tokens'][token]}"})

        names = [one["name"] for one in get("/v1/experiments", "admin").json()["items"]]
        assert sorted(names) == sorted(stored["before"])
        assert get("/v1/experiments/trim-pinned/current", "reader").json()["variant"] == "49 kr"
        assert get("/v1/experiments/finished", "reader").status_code == 403
        assert [slug(get("/v1/experiments", token)) for token in ("expired", "revoked")] == ["unauthorized"] * 2
        (hook,) = get("/v1/webhooks", "admin").json()["items"]
    events = {name: stored["before"][name]["events"] for name in ("stopped", "trim-pinned")}
    expected = {
        "id": "00000000000a", "url": "https://shop.example/hooks", "kinds": ["pin", "stop"],
        "experiments": ["stopped", "trim-pinned"],
        "waiting": {name: sum(seq > place and kind in ("pin", "stop") for seq, _, kind, _ in events[name])
                    for name, place in (("stopped", 20), ("trim-pinned", 50))},
    }  # fmt: skip
    assert_as_stored(expected, hook)


# Studies


def bytes_of(folder: Path) -> list[bytes]:
    return [(folder / f"{name}.parquet").read_bytes() for name in TABLES]


def values_of(folder: Path) -> list[Any]:
    return [pq.read_table(folder / f"{name}.parquet").to_pylist() for name in TABLES]


def begun_here(journal: Path, versions: dict[str, str]) -> None:
    """Have a journal say that it was written with these versions, which must be those of whoever goes on with it."""
    source = pa.BufferReader(journal.read_bytes())
    schema = pa.ipc.open_stream(source).schema
    rest = source.read()
    ((key, said),) = schema.metadata.items()
    told = json.dumps(json.loads(said) | {"versions": versions}, sort_keys=True)
    journal.write_bytes(schema.with_metadata({key: told}).serialize().to_pybytes() + rest)


def test_stored_results_answer_as_they_did() -> None:
    results, expected = Results(STORED / "study" / "complete"), read("study/expected.json")
    assert results.complete
    assert results.question == "Does what was stored still read?"
    assert_as_stored(expected, results_view(results))


def test_an_interrupted_study_is_read_and_ends_in_the_bytes_of_one_that_never_was(tmp_path: Path) -> None:
    study, folder = Study.read(STORED / "study" / "study.toml"), tmp_path / "interrupted"
    copytree(STORED / "study" / "interrupted", folder)
    half, whole = Results(folder), study.run(tmp_path / "whole", threads=1)
    done, total = half.runs_done()
    assert 0 < done < total == 32
    assert {row["label"] for row in half.summary()} <= set(half.labels) == set(whole.labels)
    if half.versions != whole.versions:
        with pytest.raises(BadValue, match="version of"):
            study.run(folder)
        begun_here(folder / "journal.arrows", whole.versions)
    assert study.run(folder, threads=1).complete
    assert bytes_of(folder) == bytes_of(tmp_path / "whole")
    assert_as_stored(values_of(STORED / "study" / "complete"), values_of(folder))
    if half.versions == whole.versions:
        assert bytes_of(folder) == bytes_of(STORED / "study" / "complete")


def mark_now(mark: str) -> str:
    """The name and version of a policy in results that begin now; only a version that is kept has a later one."""
    name, version = mark.rsplit(" ", 1)
    return f"{name} {named(name).version}" if (name, int(version)) in FORMER else mark


def test_every_committed_study_is_the_one_it_was() -> None:
    stored = read("studies.json")
    for study in stored.values():
        study["code"] = {label: mark_now(mark) for label, mark in study["code"].items()}
    assert_as_stored(stored, {name: identity(Study.read(STUDIES / f"{name}.toml")) for name in stored})
