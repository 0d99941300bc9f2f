"""Recognise a reward that is sent again, without storing its key.

Only a digest of the key with a salt is stored. A salt serves for a span of steps that lasts as long as keys are to be
kept; then the next one begins, and the one before it is erased with its digests. So keys are kept for one to two such
times, a key is looked up under two salts, however long that is, and after it nothing links a stored amount to a key.

A caller that sends a reward again, long after the first try, names the step of that try. If the keys of that step are
erased, the reward is refused: it is better returned to its sender than counted twice.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from secrets import token_bytes
from typing import NamedTuple

from afterglow.checks import whole
from afterglow.errors import AfterglowError, BadValue, Conflict, argument
from afterglow.live.domain.amounts import units
from afterglow.live.domain.guards.settings import metric_micros
from afterglow.live.domain.spec import Spec
from afterglow.live.store.contract import Span, Writing

LONGEST = 200
NEVER_SENT = 1 << 62  # later than any step
BESIDE = b"\xff"  # never in UTF-8: a key may report the reward and each metric once

Value = tuple[int, int]  # amount and series
Batch = Sequence[tuple[bytes, Value]]  # keys with them


class Named(NamedTuple):
    """A batch of rewards, and the earliest step to which one of them was sent before."""

    batch: Batch
    step: int


def settle(
    log: Writing, spec: Spec, step: int, now: int, batches: Iterable[Named | AfterglowError], suspect: bool
) -> list[int | AfterglowError]:
    """Store the new rewards; how many each batch had, or the error that refuses the batch.

    Unless `suspect`, keys of the current span are assumed to be new; `Raced` is raised if one of them is not.
    """
    spans = log.spans() or first_span(log, spec, step, now)
    *earlier, present = spans
    given = [one if isinstance(one, AfterglowError) else still_known(one, spans[0]) for one in batches]
    keys = {key: None for batch in given if not isinstance(batch, AfterglowError) for key, _ in batch}
    known = dict[bytes, Value]()
    for span in spans if suspect else earlier:
        digests = {digest_of(key, span.salt): key for key in keys}
        known.update((digests[digest], value) for digest, value in log.amounts(span.number, digests).items())
    taken = list[int | AfterglowError]()
    new = dict[bytes, Value]()
    for batch in given:
        if isinstance(batch, AfterglowError):
            taken.append(batch)
            continue
        try:
            fresh = unknown(batch, known)
        except Conflict as refused:
            taken.append(refused)
            continue
        known.update(fresh)
        new.update(fresh)
        taken.append(len(fresh))
    rows = sorted((digest_of(key, present.salt), amount, series) for key, (amount, series) in new.items())
    log.put_rewards(present.number, step, rows)
    return taken


def first_span(log: Writing, spec: Spec, step: int, now: int) -> list[Span]:
    """Begin the first span. Nothing was reported before, but in an experiment of release 0.1.0 keys may be erased."""
    first = 0 if spec.remember_ms or not spec.remember else max(0, step - spec.remember)
    log.put_span(Span(0, token_bytes(32), first, now))
    return log.spans()


def still_known(named: Named, oldest: Span) -> Batch | AfterglowError:
    """The rewards, unless one of them was sent before to a step whose keys are erased."""
    if named.step >= oldest.first:
        return named.batch
    return Conflict(
        f"{argument('step')} {named.step:,} is sealed: its keys are erased, so nobody can tell whether this reward was "
        f"counted then; keys are known from step {oldest.first:,} on. It was not counted again",
        kind="sealed",
        field="step",
    )


def rotate(log: Writing, spec: Spec, step: int, now: int) -> bool:
    """At the beginning of a step: begin a new span when it is time, and erase old ones; whether any was erased."""
    spans = log.spans()
    if not spans:
        return False
    if step > spans[-1].first and old_enough(spec, spans[-1], step, now):
        spans.append(Span(spans[-1].number + 1, token_bytes(32), step, now))
        log.put_span(spans[-1])
    erased = spans[0].number
    for later in spans[1:]:
        if not old_enough(spec, later, step, now):
            break  # keys of the span before it are needed still
        erased = later.number
    return erased > spans[0].number and log.forget(erased)


def old_enough(spec: Spec, span: Span, step: int, now: int) -> bool:
    """Whether a span began as long ago as keys are to be kept."""
    return step - span.first >= spec.remember and now - span.began >= spec.remember_ms


def unknown(batch: Batch, known: dict[bytes, Value]) -> dict[bytes, Value]:
    """The rewards of a batch that are new; one whose key came with another amount or series is refused."""
    fresh = dict[bytes, Value]()
    for key, value in batch:
        before = known.get(key)
        if before is None:
            before = fresh.setdefault(key, value)
        if before != value:
            was, now = f"amount {units(before[0]):,.12g}", f"{units(value[0]):,.12g}"
            if before[0] == value[0]:
                was, now = "this amount for another total", "for this one"
            name = key.partition(BESIDE)[0].decode()
            raise Conflict(
                f"{argument('key')} {name!r} came with {was} before, now with {now}; a new reward needs a key of its "
                "own",
                kind="key-reused",
                field="key",
            )
    return fresh


def readable(spec: Spec, rewards: Sequence[tuple[object, ...]]) -> Named | AfterglowError:
    """Keys and amounts in micro-units, or why the whole batch is refused.

    A reward may have its first step, its metric and its unit too.
    """
    first = NEVER_SENT
    try:
        batch = list[tuple[bytes, Value]]()
        for key, amount, *more in rewards:
            step, metric, unit = (*more, None, None, None)[:3]
            number = 0 if metric is None else spec.metric(metric)
            series = spec.series(number, spec.unit_number(unit))
            if number:
                batch.append((checked(key) + BESIDE + str(number).encode(), (metric_micros("amount", amount), series)))
            else:
                batch.append((checked(key), (spec.micros("amount", amount), series)))
            if step is not None:
                first = min(first, whole("step", step, 0))
        return Named(batch, first)
    except BadValue as refused:
        return refused


def checked(key: object) -> bytes:
    if isinstance(key, str) and 0 < len(key) <= LONGEST:
        try:
            return key.encode()
        except UnicodeEncodeError:  # half of a pair of surrogates
            pass
    raise BadValue(
        f"{argument('key')} must be a random string of 1 to {LONGEST} characters, such as a UUID, got {key!r}"
    )


def digest_of(key: bytes, salt: bytes) -> bytes:
    return blake2b(key, key=salt, digest_size=16).digest()
