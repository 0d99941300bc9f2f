"""The guides to the service name all settings, calls, problems, errors and metrics, and quote what is really said."""

import re
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
import yaml  # type: ignore[import-untyped]
from prometheus_client.parser import text_string_to_metric_families

import afterglow
from afterglow import errors
from afterglow.client.calls import Answer, refusal
from afterglow.errors import BadDatabase, Unavailable
from afterglow.live.domain.transitions import KINDS
from afterglow.service.metrics import Metrics
from afterglow.service.problems import TABLE, Problem
from support.docs.blocks import Block, blocks, compare
from support.service.next_layout import release
from tables import calls, problems, settings
from testbed.postgres import server
from testbed.quick_disk import quick_folder

GUIDES = Path(__file__).parents[2] / "docs/guides"
WRONG = GUIDES / "when-things-go-wrong.md"
ELSEWHERE = {"AfterglowError", "AfterglowWarning", "Disagreement"}  # nothing of an experiment raises these


def text_of(document: Path) -> str:
    return document.read_text(encoding="utf-8")


def chapter(document: Path, title: str) -> str:
    """The text below a heading."""
    return text_of(document).split(f"\n## {title}\n")[1].split("\n## ")[0]


def quoted(title: str) -> str:
    """The sentence that the guide shows first under a heading."""
    first: Block = next(block for block in blocks(chapter(WRONG, title)) if block.language == "text")
    return first.body


@pytest.mark.parametrize("table", [calls, problems, settings], ids=lambda table: table.__name__)
def test_tables_are_drawn_from_the_code(table: object) -> None:
    page = getattr(table, "PAGE", None) or table.GUIDE  # type: ignore[attr-defined]
    assert table.drawn(text_of(page)) == text_of(page), f"run python docs/{table.__name__.replace(chr(46), chr(47))}.py"  # type: ignore[attr-defined]


def test_every_error_of_an_experiment_is_explained_with_the_problem_that_it_is_over_http() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \|([^|]*)\|", chapter(WRONG, "Errors in Python"), re.MULTILINE))
    kinds = {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Exception)}
    assert rows.keys() == kinds - ELSEWHERE
    for one in TABLE:
        raised = type(refusal(Answer(one.status, {}, Problem(one.slug).response().body))).__name__  # type: ignore[arg-type]
        assert f"`{one.slug}`" in rows[raised], f"{one.slug} is raised as {raised}"


def test_a_full_disk_says_what_the_guide_quotes() -> None:
    with quick_folder() as folder, afterglow.live.open(Path(folder) / "experiments.db") as experiments:
        shipping = experiments.create("shipping", ["A", "B"], window=2)
        base = experiments._store.base  # type: ignore[attr-defined]
        ((pages,),) = base.execute("PRAGMA page_count").fetchall()
        base.execute(f"PRAGMA max_page_count = {pages}").fetchall()
        with pytest.raises(Unavailable) as full:
            shipping.rewards([(f"key {number}", 0.001) for number in range(1000)])
        compare(quoted("The disk is full"), str(full.value).removeprefix(f"{folder}/"))
        assert shipping.current() == "A"


def test_a_database_that_is_away_says_what_the_guide_quotes() -> None:
    with pytest.raises(Unavailable) as away:
        afterglow.live.open("postgresql://somebody:secret@127.0.0.1:1/none")
    compare(quoted("The database is unavailable"), str(away.value))
    assert "secret" not in str(away.value)


def test_an_older_layout_says_what_the_guide_quotes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    afterglow.live.open(tmp_path / "experiments.db").close()
    release(monkeypatch, tmp_path, ["SELECT 1"])
    with pytest.raises(BadDatabase) as old:
        afterglow.live.open(tmp_path / "experiments.db")
    compare(quoted("The schema is refused"), str(old.value).replace(f"{tmp_path}/", ""))


def test_every_metric_is_explained_and_every_one_named_exists() -> None:
    guide = text_of(GUIDES / "operations.md")
    families = text_string_to_metric_families(Metrics().text().decode())
    known = {family.name for family in families if not family.name.endswith("_created")}
    assert {name for name in known if f"| `{name}" not in guide} == set()
    named = set(re.findall(r"\bafterglow_[a-z_]+", guide)) - {"afterglow_schema"}
    ends = ("_total", "_bucket", "_count", "_sum")
    assert {name for name in named if not known & {name, *(name.removesuffix(end) for end in ends)}} == set()


def test_the_rules_for_alerts_can_be_read_and_name_kinds_of_records() -> None:
    (rules,) = [block.body for block in blocks(text_of(GUIDES / "operations.md")) if block.language == "yaml"]
    (group,) = yaml.safe_load(rules)["groups"]
    assert all(rule["alert"] and rule["expr"] for rule in group["rules"])
    kinds = {kind for found in re.findall(r'kind=~?"([^"]+)"', rules) for kind in found.split("|")}
    assert kinds < KINDS.keys()


def grown(address: str, size: Callable[[], int], steps: int) -> tuple[float, float]:
    """Bytes for a step, and for a reward."""
    with afterglow.live.open(address) as experiments:
        shipping = experiments.create("shipping", ["49", "59", "69"], window=24, reward_max=1200.0)
        empty = size()
        for step in range(steps):
            shipping.close_step(300.0 + step % 7)
    small = size()
    with afterglow.live.open(address) as experiments:
        for batch in range(10):
            experiments["shipping"].rewards([(f"{batch} {number}", 0.01) for number in range(1000)])
    return (small - empty) / steps, (size() - small) / 10_000


def test_steps_and_rewards_take_the_room_in_a_file_that_the_guide_says() -> None:
    with quick_folder() as folder:
        file = Path(folder) / "e.db"
        step, reward = grown(str(file), lambda: file.stat().st_size, 2000)
    assert 150 < step < 200
    assert 28 < reward < 34


def test_steps_and_rewards_take_the_room_in_postgresql_that_the_guide_says() -> None:
    address = server().fresh()

    def size() -> int:
        """Main forks of tables and indexes; a vacuum in between adds maps of free space, which are small but jump."""
        total = """
            SELECT sum(pg_relation_size(t.oid) + (
                SELECT coalesce(sum(pg_relation_size(i.indexrelid)), 0) FROM pg_index i WHERE i.indrelid = t.oid
            ))::bigint FROM pg_class t WHERE t.relkind = 'r' AND t.relname = ANY(%s)
        """
        with psycopg.connect(address) as base:
            (found,) = base.execute(total, [["events", "steps", "snapshots", "rewards"]]).fetchone() or (0,)
        return int(found)

    step, reward = grown(address, size, 500)
    server().drop(address)
    told = re.findall(r"bytes \| (\d+) bytes \|", text_of(GUIDES / "operations.md"))
    assert [step, reward] == pytest.approx([int(one) for one in told[:2]], rel=0.1)
