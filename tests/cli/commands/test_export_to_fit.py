"""What a running experiment exports, a fit reads as it was: steps without a total are no zeros."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

import afterglow
from afterglow.cli import run
from afterglow.estimation.estimates import Estimates
from afterglow.lab.fit.fitting import Fit, fit
from afterglow.lab.reading.tables import read_steps, read_totals
from support.service.live_fixtures import Clock
from testbed.quick_disk import quick_folder

BRINGS = {"A": 10.0, "B": 9.0}
OUTAGE = range(300, 306)  # nobody asks
WRONG = 400  # taken back


def nightly(path: Path) -> Estimates:
    """480 hours; nothing is reported in the nights of A, nobody is there in the outage, one total was wrong."""
    clock, random, owed = Clock(), Random(3), 0.0
    with afterglow.live.open(path, clock=clock) as experiments:
        shop = experiments.create(
            "shop", list(BRINGS), 2, reward_max=20.0, policy="trim-ucb", horizon=5000, step_seconds=3600, heartbeat=True
        )
        while (now := shop.decision()).step < 480:
            brings = BRINGS[now.variant] * random.uniform(0.8, 1.2)
            if not (now.variant == "A" and now.step % 24 < 8):
                shop.reward(brings / 2 + owed)
            owed = brings / 2
            if now.step == WRONG + 1:
                shop.void(WRONG, "a test order came in")
            clock.hours(1 + (len(OUTAGE) if now.step == OUTAGE.start - 1 else 0))
        return shop.estimates()


@pytest.fixture(scope="module")
def both() -> Iterator[tuple[Estimates, str]]:
    """What the experiment knows, and its steps as CSV."""
    with quick_folder() as folder, pytest.MonkeyPatch.context() as patch:
        known, said = nightly(Path(folder) / "shop.db"), io.StringIO()
        patch.setattr("sys.stdout", said)
        assert run(["export", str(Path(folder) / "shop.db"), "shop"]) == 0
        yield known, said.getvalue()


def test_an_export_has_no_total_where_none_was_told(both: tuple[Estimates, str]) -> None:
    rows = list(csv.DictReader(io.StringIO(both[1])))
    nights = [row for row in rows if row["void"] == "true" and row["role"] != "missed" and int(row["step"]) != WRONG]
    mornings = [row for row in nights if row["total"] != ""]  # reports begin again: some may be of the night
    assert len(nights) - len(mornings) > 50
    assert all(row["variant"] == "A" for row in nights if row not in mornings)
    before = [rows[int(row["step"]) - 1] for row in mornings]
    assert all(row["void"] == "true" and (row["total"] == "" or row["role"] == "missed") for row in before)
    assert [(row["role"], row["total"], row["void"]) for row in rows[OUTAGE.start : OUTAGE.stop]] == [
        ("missed", "", "true")
    ] * len(OUTAGE)
    assert rows[WRONG]["void"] == "true"
    assert float(rows[WRONG]["total"]) > 7  # it was told, and taken back


def agrees(found: Fit, known: Estimates) -> None:
    """The same winner, and every interval around the truth and around what the experiment says."""
    for one in found.means:
        assert one.proved_low is not None
        assert one.proved_high is not None
        assert one.low <= BRINGS[one.arm] <= one.high
        assert one.proved_low <= BRINGS[one.arm] <= one.proved_high
        assert one.mean == pytest.approx(known[one.arm].mean, rel=0.05)
        assert one.proved_low == pytest.approx(known[one.arm].low, abs=1.0)
        assert one.proved_high == pytest.approx(known[one.arm].high, abs=1.0)


def test_a_fit_of_an_export_agrees_with_the_experiment(both: tuple[Estimates, str]) -> None:
    known, text = both
    found = fit(read_steps(text), window=2, reward_max=20.0)
    agrees(found, known)
    void = sum(row["void"] == "true" and row["role"] != "missed" for row in csv.DictReader(io.StringIO(text)))
    assert f"steps whose total doesn't count: {void:,} void, 6 missed; read as unknown" in found.notes


def test_zeros_in_void_steps_are_not_believed(both: tuple[Estimates, str]) -> None:
    zeros = both[1].replace(",,true", ",0.0,true")
    assert zeros != both[1]
    agrees(fit(read_steps(zeros), window=2, reward_max=20.0), both[0])
    assert read_totals(zeros).gaps == read_totals(both[1]).gaps


def test_a_word_that_is_neither_true_nor_false_is_refused() -> None:
    with pytest.raises(afterglow.errors.BadFormat, match="row 3, column 'void': 'perhaps' is neither true nor false"):
        read_steps("step,arm,total,void\n1,A,2,false\n2,A,3,perhaps\n")


def test_the_step_that_a_stop_cut_short_is_no_total_and_other_roles_mean_nothing() -> None:
    cut = read_steps("step,variant,role,total,void\n1,A,plan,2,false\n2,B,last,1,false\n")
    assert cut.notes == ["steps whose total doesn't count: 1 incomplete at the end; read as unknown"]
    other = read_steps("step,variant,role,total\n1,A,buyer,2\n2,B,last,1\n")
    assert (other.total, other.notes) == ([2, 1], [])
