"""What every store of experiments promises."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from afterglow.errors import Conflict, UnknownName
from afterglow.live.domain.log import BEGINNING, NOTHING, Record, chained
from afterglow.live.domain.step_rows import StepRow
from afterglow.live.store import open_store
from afterglow.live.store.contract import Raced, Snapshot, Span, Store, Writing

Opener = Callable[[], Store]
SPAN = Span(0, b"salt", 0, 0)


@pytest.fixture
def opener(address: str) -> Opener:
    """Opens the same database again and again."""
    return lambda: open_store(address)


@pytest.fixture
def store(opener: Opener) -> Iterator[Store]:
    made = opener()
    yield made
    made.close()


def chain(count: int, first: int = 0, before: bytes = NOTHING) -> list[Record]:
    made = []
    for seq in range(first, first + count):
        before = chained(before, seq, 10 * seq, "close", f'{{"step":{seq}}}')
        made.append(Record(seq, 10 * seq, "close", f'{{"step":{seq}}}', before))
    return made


def test_an_empty_store_has_no_experiment_and_says_so(store: Store) -> None:
    assert store.names() == []
    for opened in (store.reading, store.writing, store.reporting):
        with pytest.raises(UnknownName, match="no experiment named 'x'; there is none"), opened("x"):
            pass


@pytest.mark.parametrize("name", ["", "a\0b", "\ud800", "ä", "a" * 5000, "' OR 1 = 1"])
def test_any_text_may_be_asked_for(store: Store, name: str) -> None:
    with pytest.raises(UnknownName), store.reading(name):
        pass


def test_reading_aside_sees_one_moment_and_nobody_waits_for_it(store: Store) -> None:
    with store.creating("shop") as log:
        log.append(chain(3))
    with store.aside("shop") as aside:
        records = aside.records()
        assert next(records).seq == 0
        with ThreadPoolExecutor(1) as other:
            other.submit(add_one, store).result(timeout=60)
        assert [one.seq for one in records] == [1, 2]
        assert aside.head().seq == 2
    with store.reading("shop") as log:
        assert log.head().seq == 3
    with pytest.raises(UnknownName), store.aside("x"):
        pass


def add_one(store: Store) -> None:
    with store.writing("shop") as log:
        log.append(chain(1, 3, chain(3)[-1].hash))


def test_a_name_is_taken_once(store: Store) -> None:
    for name in ("one", "two"):
        with store.creating(name):
            pass
    with pytest.raises(Conflict, match="an experiment named 'one' already"), store.creating("one"):
        pass
    assert store.names() == ["one", "two"]
    with pytest.raises(UnknownName, match="did you mean 'two'"), store.reading("twoo"):
        pass


def test_records_come_back_in_order_as_they_were(store: Store) -> None:
    records = chain(5)
    with store.creating("one") as log:
        assert log.head() == BEGINNING
        log.append(records)
        assert log.head() == (4, 40, records[4].hash)
    with store.reading("one") as log:
        assert list(log.records()) == records
        assert list(log.records(after=2)) == records[3:]
        assert list(log.records(after=0, count=2)) == records[1:3]
        assert list(log.records(kind="void")) == []
        assert list(log.records(kind="close", count=1)) == records[:1]


def test_a_record_is_never_replaced(store: Store) -> None:
    with store.creating("one") as log:
        log.append(chain(3))
    with pytest.raises(Exception, match=r"(?i)unique|duplicate"), store.writing("one") as log:
        log.append(chain(1, first=2))
    with store.reading("one") as log:
        assert list(log.records()) == chain(3)


def spoil(log: Writing) -> None:
    """Write everywhere, then fail."""
    log.append(chain(3))
    log.put_steps([StepRow(0, 1, 1, "plan")])
    log.put_span(SPAN)
    log.put_rewards(0, 0, [(b"digest", 5, 0)])
    raise ZeroDivisionError


def test_what_fails_leaves_nothing_behind(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.creating("one") as log:
        spoil(log)
    assert store.names() == []
    with store.creating("one"):
        pass
    with pytest.raises(ZeroDivisionError), store.writing("one") as log:
        spoil(log)
    with store.reading("one") as log:
        assert (log.head().seq, list(log.steps()), log.spans(), log.reported(0)) == (-1, [], [], {})


def test_what_was_written_is_there_for_the_next_process(opener: Opener) -> None:
    first = opener()
    with first.creating("one") as log:
        log.append(chain(2))
        log.put_steps([StepRow(0, 1, 2, "plan"), StepRow(1, 0, 0, "washout")])
        log.end_step(0, 7, "outside", 0)
        log.put_snapshot(Snapshot(1, 1, "{}", b"check"))
    first.close()
    second = opener()
    with second.reading("one") as log:
        assert list(log.records()) == chain(2)
        assert list(log.steps()) == [StepRow(0, 1, 2, "outside", 7, 0), StepRow(1, 0, 0, "washout")]
        assert log.snapshot() == Snapshot(1, 1, "{}", b"check")
    second.close()


def test_a_step_has_one_row_which_ends_and_may_be_voided(store: Store) -> None:
    with store.creating("one") as log:
        log.put_steps(StepRow(step, step % 3, 0, "plan") for step in range(10))
        log.end_step(4, 10**15, "plan", 0)
        log.void_steps(4, 4)
        assert next(log.steps(4, 1)) == StepRow(4, 1, 0, "plan", 10**15, 1)
        assert [row.step for row in log.steps(7)] == [7, 8, 9]
        assert [row.step for row in log.steps(2, 2)] == [2, 3]
    with pytest.raises(Exception, match=r"(?i)unique|duplicate"), store.writing("one") as log:
        log.put_steps([StepRow(3, 0, 0, "plan")])


def test_a_row_can_stand_for_any_number_of_steps(store: Store) -> None:
    with store.creating("one") as log:
        log.put_steps([StepRow(0, 1, 0, "plan", 7)])
        log.repeat_step(StepRow(1, 2, 1, "missed", 0, 1), 35)
        log.repeat_step(StepRow(36, 0, 1, "missed", 0, 1), 1)
        missed = [StepRow(step, 2, 1, "missed", 0, 1) for step in range(1, 36)]
        assert list(log.steps()) == [StepRow(0, 1, 0, "plan", 7), *missed, StepRow(36, 0, 1, "missed", 0, 1)]
        assert list(log.steps(20, 3)) == missed[19:22]
        assert [row.step for row in log.steps(34)] == [34, 35, 36]
        assert [row.step for row in log.steps(0, 2)] == [0, 1]
        log.repeat_step(StepRow(37, 0, 1, "missed", 0, 1), 10**12)
        assert list(log.steps(10**11, 1)) == [StepRow(10**11, 0, 1, "missed", 0, 1)]
        runs = [(run.row.step, run.last) for run in log.step_runs()]
        assert runs == [(0, 0), (1, 35), (36, 36), (37, 36 + 10**12)]
        assert [(run.row.step, run.last) for run in log.step_runs(20, 17)] == [(20, 35), (36, 36)]
        assert list(log.step_runs(34, 1)) == [(StepRow(34, 2, 1, "missed", 0, 1), 34)]
        assert list(log.step_runs(50, 0)) == []


def test_the_last_snapshot_before_a_step_is_found(store: Store) -> None:
    with store.creating("one") as log:
        assert log.snapshot() is None
        kept = [Snapshot(seq, seq - 5, str(seq), bytes([seq])) for seq in (10, 20, 30)]
        for one in kept:
            log.put_snapshot(one)
        assert list(log.snapshots()) == kept
        assert [log.snapshot(step) for step in (4, 5, 20, 24, 99)] == [None, kept[0], kept[1], kept[1], kept[2]]
        assert log.snapshot() == kept[2]


def test_rewards_add_up_and_are_found_by_their_digest(store: Store) -> None:
    with store.creating("one") as log:
        log.put_rewards(3, 6, [(bytes([j]), j * 10**12, 0) for j in range(50)])
        log.put_rewards(3, 7, [(bytes([j]), j * 10**12, j % 2) for j in range(50, 100)])
        log.put_rewards(3, 7, [(b"more", 5, 0)])
        log.put_rewards(4, 8, [(bytes([7]), 1, 300)])
    with store.reading("one") as log:
        both = {0: (26, 1850 * 10**12 + 5), 1: (25, 1875 * 10**12)}
        sums = {6: {0: (50, 1225 * 10**12)}, 7: both, 8: {300: (1, 1)}}
        assert {step: log.reported(step) for step in (6, 7, 8)} == log.recounted() == sums
        wanted = [bytes([7]), bytes([89]), b"another"]
        assert log.amounts(3, wanted) == {wanted[0]: (7 * 10**12, 0), wanted[1]: (89 * 10**12, 1)}
        assert log.amounts(4, wanted) == {wanted[0]: (1, 300)}
        assert log.amounts(5, wanted) == {}
    with store.writing("one") as log:
        log.drop_sums(8)
        assert [len(log.reported(step)) for step in (6, 7, 8)] == [0, 0, 1]


def test_a_row_has_what_each_series_was_served_and_came_to(store: Store) -> None:
    with store.creating("one") as log:
        log.put_steps([StepRow(step, 0, 0, "plan", series=f"[{step}]") for step in range(3)])
        log.repeat_step(StepRow(3, 0, 0, "missed", 0, 1, "[null]"), 4)
        log.end_step(0, 7, "plan", 0, "[7]")
        log.end_step(1, 8, "plan", 0)
        log.put_series([(2, "[2, 2]"), (0, "[0, 7]")])
        assert [row.series for row in log.steps()] == ["[0, 7]", None, "[2, 2]", *["[null]"] * 4]


def test_sums_beyond_64_bits_are_exact(store: Store) -> None:
    with store.creating("x"):
        pass
    with store.reporting("x") as log:
        log.put_rewards(0, 0, [(bytes([number]), 10**18 + number, number % 2) for number in range(40)])
    with store.reading("x") as log:
        assert log.reported(0) == {0: (20, 20 * 10**18 + 380), 1: (20, 20 * 10**18 + 400)}


def test_a_span_keeps_its_first_salt(store: Store) -> None:
    with store.creating("one"):
        pass
    with store.reporting("one") as log:
        log.put_span(SPAN)
        log.put_span(SPAN._replace(salt=b"second"))
        assert log.spans() == [SPAN]


def test_a_digest_counts_once_in_a_span(store: Store) -> None:
    with store.creating("one") as log:
        log.put_rewards(0, 0, [(b"x", 1, 0)])
    with pytest.raises(Raced), store.reporting("one") as log:
        log.put_rewards(0, 2, [(b"w", 1, 0), (b"x", 1, 1), (b"y", 1, 0)])
    with store.reading("one") as log:
        assert (log.reported(0), log.reported(2)) == ({0: (1, 1)}, {})


def test_forgetting_erases_all_before_a_span_and_nothing_after(store: Store) -> None:
    with store.creating("one") as log:
        for number in range(4):
            log.put_span(SPAN._replace(number=number))
            log.put_rewards(number, 10 * number, [(b"x", number, 0)])
        assert log.forget(2)
        assert not log.forget(2)
    store.tidy()
    with store.reading("one") as log:
        assert [span.number for span in log.spans()] == [2, 3]
        assert sorted(log.recounted()) == [20, 30]


def test_experiments_of_one_database_don_t_see_each_other(store: Store) -> None:
    for name, count in (("one", 2), ("two", 3)):
        with store.creating(name) as log:
            log.append(chain(count))
            log.put_span(SPAN)
            log.put_rewards(0, 0, [(b"x", count, 0)])
    with store.writing("one") as log:
        assert len(list(log.records())) == 2
        log.forget(1)
    with store.reading("two") as log:
        assert (len(list(log.records())), log.reported(0)) == (3, {0: (1, 3)})
