"""Guards of a running experiment: which variants are beyond their limits, and the events that follow.

A guard is looked at when a washed step has ended, in the transaction that closes the step; so a stop is in the log
directly behind the step that showed it, whoever closed that. What it rests on is the state alone, so a replay finds the
same figures. The control and the last enabled variant are never disabled: a notice says that they are beyond a limit. A
pinned variant is left to whoever pinned it.

A void may take away what a stop rested on. The replay that leaves the steps out asks again at the place of the stop; if
it would not have been, the variant stays disabled, since a person should decide that, and the notice `guard_withdrawn`
says that the evidence is gone; `enable` plays it again. What was counted of a variant before a guard stopped it doesn't
count after `enable`.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Protocol

from afterglow.estimation.guards import FALSE_STOPS, Excess, GuardCase, Limit, look_is_due
from afterglow.live.domain.amounts import MICRO
from afterglow.live.domain.bounds import ExperimentBounds
from afterglow.live.domain.commands import Event
from afterglow.live.domain.guards.settings import Guard
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import ExperimentState, GuardStop, Phase

DIGITS = 6  # of figures in events: significant ones


@dataclass(frozen=True, slots=True)
class GuardStatus:
    """How one guard sees one variant, per step and in the unit of the metric.

    `state` is `waiting` (no interval yet), `unreported` (of the metric nothing but 0 is known, of any variant),
    `watching`, `beyond` (shown, but it may not be disabled), `stopped` (disabled by this guard; the figures are those
    of that step) or `withdrawn` (the same, and the steps that showed it are void now).
    """

    guard: str
    metric: str
    variant: str
    limit_words: str
    state: str
    mean: float | None
    limit: float | None
    excess: float | None  # mean less limit, or limit less mean for a lower limit: above 0 is beyond
    low: float | None
    high: float | None
    missing: str | None
    stopped_at: int | None  # step


class GuardedState(Protocol):
    """What states of all kinds of experiments have, where there are guards."""

    step: int
    phase: Phase
    served: int
    disabled: tuple[int, ...]
    stops: dict[int, GuardStop]
    exceeded: list[tuple[int, int]]


class AnyGuardCase(Protocol):
    """What is known of one guard's metric."""

    @property
    def silent(self) -> int:
        """Counted steps, if their totals are all 0; else 0."""

    def excess(self, arm: int) -> Excess: ...


def share_of(spec: Spec) -> float:
    """What the bound of one guard and variant may miss over a whole run."""
    variants = len(spec.variants)
    return FALSE_STOPS / max(1, sum(variants - one.relative for one in spec.guards))


def in_micros(limit: Limit) -> Limit:
    return Limit(limit.sign, limit.factor, limit.offset * MICRO)


def case_for(spec: Spec, bounds: ExperimentBounds, guard: Guard) -> GuardCase:
    """What is known of one guard's metric, in micro-units."""
    record = bounds.guarded
    assert record is not None
    batches, largest = record.counted(spec.metric(guard.metric), bounds.current)
    return GuardCase(batches, float(largest), spec.control, in_micros(guard.limit), share_of(spec), spec.first_horizon)


def washed_steps(spec: Spec, state: ExperimentState) -> list[int]:
    """Washed steps of each variant, by which looks are counted."""
    return [tally.washed_steps for tally in state.bounds.tallies]


def events_after(
    spec: Spec, state: ExperimentState, before: Sequence[int], appended: Sequence[Event]
) -> Iterator[Event]:
    """Stops and notices that follow from events just applied; each has to be applied before the next is asked for."""
    now = washed_steps(spec, state)
    changed = {arm for arm, steps in enumerate(now) if steps != before[arm]}
    for place, guard in enumerate(spec.guards):
        case: GuardCase | None = None
        for arm in looked_at(spec, guard, changed):
            steps = now[arm] + (now[spec.control] if guard.relative else 0)
            if arm in state.disabled or arm == state.pinned or not look_is_due(steps):
                continue
            case = case or case_for(spec, state.bounds, guard)
            if case.is_beyond(arm):
                yield from beyond(spec, state, place, arm, case.excess(arm))
    if any(one.kind == "revise" for one in appended):
        yield from withdrawn(spec, state)


def looked_at(spec: Spec, guard: Guard, changed: set[int]) -> list[int]:
    """The variants that a guard has news of: all if the control was played, which only has fixed limits itself."""
    if not guard.relative:
        return sorted(changed)
    return [arm for arm in range(len(spec.variants)) if arm != spec.control and changed & {arm, spec.control}]


def beyond(spec: Spec, state: GuardedState, place: int, arm: int, excess: Excess) -> Iterator[Event]:
    """A variant is beyond a limit: it is disabled, or it is told if it may not be."""
    left = [one for one in range(len(spec.variants)) if one not in state.disabled and one != arm]
    body = figures(spec, place, arm, excess) | {"step": state.step}
    if arm == spec.control or not left:
        if (place, arm) not in state.exceeded:
            yield Event("limit_exceeded", body)
        return
    if state.phase is Phase.OVER:
        body["to"] = (spec.control if spec.control in left else left[0]) if state.served == arm else state.served
    yield Event("guarded", body)
    if len(left) == 1:
        yield Event("one_left", {"step": state.step, "variant": left[0]})


def figures(spec: Spec, place: int, arm: int, excess: Excess) -> dict[str, Any]:
    """The body of an event: figures in the unit of the metric, and a sentence."""
    guard = spec.guards[place]
    values = [rounded(one) for one in (excess.mean, excess.low, excess.high, excess.level, excess.limit)]
    mean, low, high, level, limit = values
    side = "above" if guard.side == "at_most" else "below"
    reason = (
        f"{guard.metric}: {level:,.4g} a step, {side} the limit of {limit:,.4g} ({guard.words()}) by {mean:,.3g}, "
        f"between {low:,.3g} and {high:,.3g}"
    )
    return {
        "variant": arm, "guard": guard.name, "metric": guard.metric, "excess": [mean, low, high], "mean": level,
        "limit": limit, "reason": reason,
    }  # fmt: skip


def rounded(amount: float | None) -> float:
    """Micro-units in the unit of the metric, to six digits."""
    return float(f"{(amount or 0.0) / MICRO:.{DIGITS}g}")


def withdrawn(spec: Spec, state: GuardedState) -> Iterator[Event]:
    """Notices of stops that would not have been without steps that are void now."""
    for arm, stop in sorted(state.stops.items()):
        if not stop.withdrawn or stop.told:
            continue
        guard = spec.guards[stop.guard]
        reason = f"steps that showed {guard.metric} beyond its limit are void; {spec.variants[arm]} stays disabled"
        if state.phase is not Phase.OVER:
            reason += " until it is enabled"
        yield Event("guard_withdrawn", {"step": state.step, "variant": arm, "guard": guard.name, "reason": reason})


def founded(spec: Spec, bounds: ExperimentBounds, body: Mapping[str, Any]) -> bool:
    """Whether the variant of a stop is beyond its limit by these totals."""
    guard = next((one for one in spec.guards if one.name == body["guard"]), None)
    arm = body["variant"]
    return guard is not None and arm != spec.control and case_for(spec, bounds, guard).is_beyond(arm)


def follows(spec: Spec, state: ExperimentState, body: Mapping[str, Any]) -> bool:
    """Whether mean and limit of a stop are those of the totals before it, and its variant may be stopped.

    The interval isn't compared: it may be another one in a release with a better statistic.
    """
    guard = stoppable(spec, body)
    if guard is None:
        return False
    case = case_for(spec, state.bounds, guard)
    if case.unseen(body["variant"]) is not None:
        return False
    return said(body, case.plain(body["variant"]))


def stoppable(spec: Spec, body: Mapping[str, Any]) -> Guard | None:
    """The guard of a stop, if it may have stopped the variant."""
    guard = next((one for one in spec.guards if one.name == body["guard"]), None)
    return None if body["variant"] == spec.control or not body["excess"][1] > 0 else guard


def said(body: Mapping[str, Any], figures: Sequence[float | None]) -> bool:
    """Whether mean and limit of a stop are these."""
    known = (rounded(one) for one in figures)
    return all(one == other for one, other in zip(known, (body["mean"], body["limit"]), strict=True))


@dataclass(frozen=True, slots=True)
class GuardsCase:
    """All that the guards' figures depend on; later events don't change it."""

    spec: Spec
    cases: tuple[AnyGuardCase, ...]
    stops: dict[int, GuardStop]
    exceeded: frozenset[tuple[int, int]]

    def read(self) -> tuple[GuardStatus, ...]:
        """Every guard and variant; the control has no row where it is the limit."""
        spec = self.spec
        return tuple(
            self.row(place, arm)
            for place, guard in enumerate(spec.guards)
            for arm in range(len(spec.variants))
            if arm != spec.control or not guard.relative
        )

    def row(self, place: int, arm: int) -> GuardStatus:
        guard, stop = self.spec.guards[place], self.stops.get(arm)
        names = (guard.name, guard.metric, self.spec.variants[arm], guard.words())
        if stop is not None and stop.guard == place:
            return GuardStatus(*names, "withdrawn" if stop.withdrawn else "stopped", *stop.figures, None, stop.step)
        excess, silent = self.cases[place].excess(arm), self.cases[place].silent
        if silent:
            missing = f"nothing but 0 was reported of {guard.metric} in {counted_steps(silent)}"
            return GuardStatus(*names, "unreported", None, None, None, None, None, missing, None)
        state = "waiting" if excess.missing is not None else "watching"
        if (place, arm) in self.exceeded or excess.beyond:
            state = "beyond"
        return GuardStatus(
            *names, state, in_units(excess.level), in_units(excess.limit), in_units(excess.mean), in_units(excess.low),
            in_units(excess.high), excess.missing, None,
        )  # fmt: skip


def counted_steps(steps: int) -> str:
    return "1 counted step" if steps == 1 else f"{steps:,} counted steps"


def in_units(amount: float | None) -> float | None:
    return None if amount is None else amount / MICRO


def guards_case(spec: Spec, state: ExperimentState) -> GuardsCase:
    """Copy what the figures depend on."""
    cases = []
    for guard in spec.guards:
        case = case_for(spec, state.bounds, guard)
        case.batches = deepcopy(case.batches)
        cases.append(case)
    return GuardsCase(spec, tuple(cases), dict(state.stops), frozenset(state.exceeded))
