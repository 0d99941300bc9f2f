"""The exact test on the page."""

import httpx

from afterglow.estimation.randomisation import randomisation_test
from afterglow.policies.block_means import BlockMeans
from afterglow.service.dashboard.charts.exact_test import exact_rows
from support.browser.visitor import Visitor
from support.service.page_fixtures import create


def test_pairs_are_seen_from_the_recommended_variant_and_the_others_follow() -> None:
    blocks = BlockMeans(((10.0, 14.0, 11.0), (11.0, 15.0, 9.0), (9.0, 15.0, 10.0)) * 3, 9, 0, True, 90)
    rows = exact_rows(randomisation_test(blocks, ("A", "B", "C"), 1, 0.95), "B")
    assert [row.variants for row in rows] == ["B − A", "B − C", "A − C"]
    assert rows[0].difference == "+4.67"
    assert rows[0].interval.startswith("+4")
    assert rows[0].p == "0.012"
    assert exact_rows(None, "B") == []


def test_too_few_blocks_have_no_interval() -> None:
    found = randomisation_test(BlockMeans(((1.0, 2.0),) * 3, 3, 0, True, 9), ("A", "B"), 1, 0.95)
    assert exact_rows(found, "B")[0].interval == "none: too few blocks"


def test_an_experiment_that_followed_a_schedule_ends_tested_everywhere(client: httpx.Client, visitor: Visitor) -> None:
    create(client, policy="switchback", horizon=151, step_seconds=None)
    where = "/v1/experiments/shipping"
    for step in range(151):
        assert client.get(where).json()["status"]["test"] is None or step >= 150
        variant = client.get(f"{where}/current").json()["variant"]
        total = 40 + step % 7 + 5 * (variant == "59")
        client.post(f"{where}/steps/{step}", json={"total": total})
        if step == 25:
            client.post(f"{where}/void", json={"step": 25, "reason": "the till was down"})
    found = client.get(where).json()["status"]
    assert (found["status"], found["verdict"]["grade"], found["leader"]) == ("tested", "tested", "59")
    assert (found["test"]["blocks"], found["test"]["left_out"], found["test"]["void_steps"]) == (10, 0, 1)
    assert {pair["variant"] for pair in found["test"]["pairs"]} == {"49", "59"}
    page = visitor.read("/experiments/shipping").text
    assert "59 is better than 49 and 69: p = " in page
    assert "Exact test of the schedule" in page
    assert "1 step of the schedule is void" in " ".join(page.split())
    assert "59 − 49" in page
