"""Rewards on their way: batches, retries with the same keys, halves, limits. No reward is lost, doubled or dropped."""

import math
from collections.abc import Iterable
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterglow.client.backoff import Backoff
from afterglow.client.calls import Answer
from afterglow.client.outbox import MOST, Batch, Outbox
from afterglow.errors import AfterglowError, BadValue, Conflict, OutOfTurn, Unavailable

TAKEN = Answer(202, {}, b'{"step": 0}')
AWAY = Unavailable("no answer")
WRONG = Answer(422, {}, b'{"type": "/problems/bad-value", "detail": "amount must be at most 24"}')


class Hand:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def outbox(clock: Hand, room: int = 10_000, linger: float = 0.1, retry_for: float | None = None) -> Outbox:
    return Outbox(Backoff(lambda: 0.5, first=1.0, most=8.0), clock, room, linger, retry_for)


def next_batch(box: Outbox, clock: Hand) -> Batch:
    """Wait as long as the outbox asks for, then take."""
    pause = box.pause()
    assert pause is not None
    clock.now += pause
    batch = box.take()
    assert batch is not None
    return batch


def amounts(batch: Batch) -> list[float]:
    return [one[1] for one in batch.given()]


def test_rewards_wait_a_moment_for_company_and_travel_together_in_order() -> None:
    clock = Hand()
    box = outbox(clock)
    assert box.pause() is None
    box.put("s", 1.0)
    assert box.pause() == pytest.approx(0.1)
    clock.now += 0.05
    box.put("s", 2.0)
    assert box.take() is None
    assert amounts(next_batch(box, clock)) == [1.0, 2.0]
    assert clock.now == pytest.approx(1000.1)


def test_a_full_batch_does_not_wait() -> None:
    clock = Hand()
    box = outbox(clock)
    for amount in range(MOST + 5):
        box.put("s", amount)
    batch = next_batch(box, clock)
    assert (clock.now, len(batch.rewards)) == (1000.0, MOST)
    box.answered(batch, TAKEN)
    assert amounts(next_batch(box, clock)) == [MOST + extra for extra in range(5)]


def test_experiments_take_turns() -> None:
    clock = Hand()
    box = outbox(clock)
    for _ in range(2 * MOST):
        box.put("busy", 1.0)
    box.put("quiet", 2.0)
    order = []
    for _ in range(3):
        batch = next_batch(box, clock)
        order.append(batch.experiment)
        box.answered(batch, TAKEN)
    assert order == ["busy", "quiet", "busy"]


def test_keys_are_random_and_stay_the_same_when_they_are_sent_again() -> None:
    clock = Hand()
    box = outbox(clock)
    keys = {box.put("s", 1.0) for _ in range(100)}
    first = next_batch(box, clock)
    box.answered(first, AWAY)
    box.put("s", 2.0, key="mine")
    again = next_batch(box, clock)
    assert len(keys) == 100
    assert again.given()[:100] == first.given()
    assert again.given()[100] == ("mine", 2.0, None, None)


def test_pauses_grow_up_to_a_limit_and_start_anew_when_it_worked() -> None:
    clock = Hand()
    box = outbox(clock)
    box.put("s", 1.0)
    pauses = []
    for _ in range(6):
        box.answered(next_batch(box, clock), AWAY)
        pauses.append(box.pause())
    assert pauses == pytest.approx([0.75, 1.5, 3.0, 6.0, 6.0, 6.0])
    box.answered(next_batch(box, clock), TAKEN)
    box.put("s", 1.0)
    box.answered(next_batch(box, clock), AWAY)
    assert box.pause() == pytest.approx(0.75)


def test_a_pause_lasts_as_long_as_the_service_asks_for_and_is_not_the_same_for_all() -> None:
    clock = Hand()
    box = outbox(clock)
    box.put("s", 1.0)
    box.answered(next_batch(box, clock), Answer(503, {"retry-after": "5"}, b""))
    assert box.pause() == pytest.approx(5.25)
    box.put("s", 1.0)
    assert box.pause() == pytest.approx(5.25)


def test_the_one_reward_that_is_wrong_is_found_and_the_others_get_through() -> None:
    clock = Hand()
    box = outbox(clock)
    for amount in range(MOST):
        box.put("s", amount)
    requests = 0
    while box.waiting:
        batch = next_batch(box, clock)
        requests += 1
        box.answered(batch, WRONG if 137.0 in amounts(batch) else TAKEN)
    assert [(one.amount, str(one.error)) for one in box.refused] == [(137.0, "amount must be at most 24")]
    assert (box.delivered, box.given_up) == (MOST - 1, 1)
    assert requests <= 1 + 2 * math.ceil(math.log2(MOST))


def test_a_refusal_that_is_not_the_services_own_is_waited_out() -> None:
    clock = Hand()
    box = outbox(clock)
    box.put("s", 1.0)
    for status in (301, 401, 403, 404):  # a proxy that is being set up
        box.answered(next_batch(box, clock), Answer(status, {}, b"<html>nginx</html>"))
    box.put("s", 2.0)
    halves = next_batch(box, clock)
    box.answered(halves, Answer(413, {}, b"<html>nginx</html>"))
    for _ in range(2):
        box.answered(next_batch(box, clock), TAKEN)
    assert (box.delivered, box.given_up) == (2, 0)


def test_what_the_service_refuses_as_a_whole_is_handed_over_at_once() -> None:
    clock = Hand()
    box = outbox(clock)
    keys = [box.put("s", amount) for amount in (1.0, 2.0)]
    over = b'{"type": "/problems/horizon-reached", "detail": "all steps are played"}'
    box.answered(next_batch(box, clock), Answer(409, {}, over))
    assert [one.key for one in box.unreported] == keys
    assert (box.waiting, box.pause()) == (0, None)


def test_a_full_outbox_refuses_and_keeps_what_it_has() -> None:
    clock = Hand()
    box = outbox(clock, room=2)
    box.put("s", 1.0)
    box.put("s", 2.0)
    box.answered(next_batch(box, clock), AWAY)
    with pytest.raises(Unavailable, match=r"2 rewards wait .* \(no answer\); this one was not taken"):
        box.put("s", 3.0)
    batch = next_batch(box, clock)
    box.answered(batch, TAKEN)
    assert amounts(batch) == [1.0, 2.0]
    box.put("s", 3.0)


def test_what_was_tried_for_too_long_is_handed_over_and_newer_rewards_go_on() -> None:
    clock = Hand()
    box = outbox(clock, retry_for=10.0)
    box.put("s", 1.0)
    box.answered(next_batch(box, clock), AWAY)
    clock.now += 9
    box.put("s", 2.0)
    clock.now += 2
    batch = next_batch(box, clock)
    assert amounts(batch) == [2.0]
    assert [(one.amount, str(one.error)) for one in box.unreported] == [(1.0, "not taken within 10 s: no answer")]


def test_hurry_cuts_lingering_and_pauses_short_and_knows_when_it_is_done() -> None:
    clock = Hand()
    box = outbox(clock, linger=60.0)
    box.put("a", 1.0)
    box.put("b", 1.0)
    mark = box.hurry()
    box.put("a", 2.0)
    assert box.pause() == 0.0
    box.answered(next_batch(box, clock), AWAY)
    box.hurry()
    assert box.pause() == 0.0
    while not box.settled(mark):
        assert box.pause() == 0.0
        box.answered(next_batch(box, clock), TAKEN)
    assert clock.now == 1000.0


def test_a_closed_outbox_takes_nothing_more() -> None:
    box = outbox(Hand())
    box.close()
    with pytest.raises(OutOfTurn, match="closed"):
        box.put("s", 1.0)


@pytest.mark.parametrize("amount", [-0.1, math.nan, math.inf, 10**400, Decimal("sNaN"), True, "1", None])
def test_an_amount_that_is_none_is_refused_before_it_is_kept(amount: float) -> None:
    box = outbox(Hand())
    with pytest.raises(BadValue, match="amount must be a number of at least 0"):
        box.put("s", amount)
    assert box.waiting == 0


def receipt(step: int) -> Answer:
    return Answer(202, {}, b'{"step":%d,"accepted":1,"duplicates":0}' % step)


def test_what_is_sent_again_names_the_step_of_its_first_try() -> None:
    clock = Hand()
    box = outbox(clock)
    box.put("s", 1.0, key="a")
    batch = next_batch(box, clock)
    assert box.step_wanted(batch)
    box.answered(batch, AWAY)  # it was not even sent
    batch = next_batch(box, clock)
    assert box.step_wanted(batch)
    box.learn_step(batch, receipt(7))
    box.sending(batch)
    assert batch.given() == [("a", 1.0, None, None)]
    box.answered(batch, AWAY)
    box.put("s", 1.0, key="b")
    batch = next_batch(box, clock)
    box.learn_step(batch, receipt(9))
    box.sending(batch)
    assert batch.given() == [("a", 1.0, 7, None), ("b", 1.0, None, None)]
    box.answered(batch, AWAY)
    batch = next_batch(box, clock)
    box.sending(batch)
    assert batch.given() == [("a", 1.0, 7, None), ("b", 1.0, 9, None)]
    box.answered(batch, Answer(409, {}, b'{"type":"/problems/sealed","kind":"sealed","detail":"step 7 is sealed"}'))
    alone = [next_batch(box, clock)]
    box.sending(alone[0])
    assert alone[0].given() == [("a", 1.0, 7, None)]
    box.answered(alone[0], Answer(409, {}, b'{"type":"/problems/sealed","kind":"sealed","detail":"step 7 is sealed"}'))
    box.answered(next_batch(box, clock), receipt(9))
    assert [(one.key, one.error.kind) for one in box.refused] == [("a", "sealed")]


class Books:
    """A stand-in for the service: remembers keys, refuses batches with an amount above 9."""

    def __init__(self) -> None:
        self.counted = dict[str, float]()

    def take(self, given: Iterable[tuple[str, float, int | None, str | None]]) -> Answer:
        batch = list(given)
        if any(amount > 9 for _, amount, _, _ in batch):
            return WRONG
        for key, amount, _, _ in batch:
            assert self.counted.setdefault(key, amount) == amount
        return TAKEN


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("put"), st.sampled_from("ab"), st.integers(0, 10)),
            st.tuples(st.sampled_from(["answer", "lost", "away", "later", "hurry"])),
        ),
        max_size=60,
    )
)
def test_whatever_gets_lost_on_the_way_every_reward_counts_once_or_is_handed_over(
    events: list[tuple[str, ...]],
) -> None:
    clock, books = Hand(), Books()
    box = outbox(clock)
    put = dict[str, float]()
    for event in [*events, *([("answer",)] * 200)]:
        if event[0] == "put":
            put[box.put(event[1], float(event[2]))] = float(event[2])
        elif event[0] == "hurry":
            box.hurry()
        elif box.pause() is not None:
            batch = next_batch(box, clock)
            answer: Answer | AfterglowError = Answer(503, {"retry-after": "3"}, b"")
            if event[0] in ("answer", "lost"):
                answer = books.take([(one[0], one[1], one[2], one[3]) for one in batch.given()])
            box.answered(batch, AWAY if event[0] in ("lost", "away") else answer)  # lost: taken, and nobody hears of it
    refused = {one.key: one.amount for one in box.refused}
    assert box.waiting == 0
    assert not refused.keys() & books.counted.keys()
    assert refused | books.counted == put
    assert set(refused.values()) <= {10.0}


def test_a_key_that_was_used_for_another_amount_is_handed_over_as_a_conflict() -> None:
    clock = Hand()
    box = outbox(clock)
    box.put("s", 1.0, key="mine")
    box.answered(next_batch(box, clock), Answer(422, {}, b'{"type": "/problems/key-reused", "detail": "key"}'))
    assert [type(one.error) for one in box.unreported] == [Conflict]
