"""Whether the clock can be believed: a jump that can't be true holds the current step.

Three things are known of the time: what the clock shows, what the process expects by its monotonic clock since it
first saw the clock, and when the last record was appended. The clock is contradicted if

- it is not where the monotonic clock expects it, and no record of another process was appended at that time;
- or it is before the last record;
- or it is too far behind the last record, and this process has not been there since: a stop of days is possible, and
  its steps are filled as missed. Beyond `FILLED`, or beyond `ENDED` if the experiment would end by it, nobody can tell
  a long stop from a wrong clock.

An experiment is held only if both times disagree on its step. It goes on by itself when the clock is right again.
"""

from typing import NamedTuple

from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import ExperimentState, Phase

TOLERANCE = 5_000  # milliseconds by which clocks may be off
DAY = 86_400_000
FILLED, ENDED = 14 * DAY, DAY  # stops that are believed without a witness, in milliseconds
STEPS = 3  # or so many steps, if that is longer


class Times(NamedTuple):
    """What a process knows of the time, in milliseconds since 1970."""

    clock: int
    expected: int | None = None  # if the monotonic clock contradicts the clock
    since: int | None = None  # from when on this process has followed the clock; None: it is not checked

    @property
    def now(self) -> int:
        return self.clock if self.expected is None else self.expected


def on_schedule(spec: Spec, state: ExperimentState) -> bool:
    return bool(spec.step_ms) and state.phase not in (Phase.DRAFT, Phase.OVER)


def expected_time(spec: Spec, state: ExperimentState, latest: int, times: Times) -> int | None:
    """The time that the clock should show, if it is contradicted; `latest` is the time of the last record."""
    if times.since is None:
        return None
    if times.clock < latest - TOLERANCE:
        return latest if times.expected is None else times.expected
    if times.expected is not None and times.clock > latest + TOLERANCE:
        return times.expected
    unseen = times.since - (max(latest, state.starts) if state.phase is Phase.SCHEDULED else latest)
    ends = spec.horizon is not None and slot(spec, state, times.clock) >= spec.horizon
    if unseen > max(ENDED if ends else FILLED, STEPS * spec.step_ms):
        return latest
    return None


def slot(spec: Spec, state: ExperimentState, now: int) -> int:
    """The step that it is by the schedule; of one that has not started, whether it is time."""
    if state.phase is Phase.SCHEDULED:
        return int(now >= state.starts)
    step = (now - state.starts) // spec.step_ms
    return step if spec.horizon is None else min(step, spec.horizon)


def contradicted(spec: Spec, state: ExperimentState, latest: int, times: Times) -> int | None:
    """The time that the clock should show, if that makes a difference to the current step."""
    if state.held is not None or not on_schedule(spec, state):
        return None
    expected = expected_time(spec, state, latest, times)
    if expected is None:
        return None
    step = 0 if state.phase is Phase.SCHEDULED else state.step
    shown = slot(spec, state, times.clock)
    if shown < step or max(shown, step) != max(slot(spec, state, expected), step):
        return expected
    return None


def right_again(state: ExperimentState, times: Times) -> bool:
    """Whether an experiment that is held can go on by itself.

    What this process expects is in doubt if it began with a wrong clock: with the one that holds the step, or with one
    that was before the last record.
    """
    held = state.held
    if held is None:
        return False
    if times.since is None:
        return True
    if times.clock < held.expected - TOLERANCE:
        return False
    in_doubt = times.now < held.expected - TOLERANCE or held.expected < held.clock - TOLERANCE <= times.since
    if not in_doubt and times.expected is not None:  # this process knows better
        return False
    if not in_doubt and times.since <= held.expected + TOLERANCE:  # it has been there since before the jump
        return True
    return held.clock < held.expected or times.clock < held.clock - TOLERANCE


def confirmed(latest: int, times: Times) -> bool:
    """Whether a process that expects another time is wrong: a record was appended at the time that the clock shows."""
    return times.expected is not None and abs(times.clock - latest) <= TOLERANCE


def record_time(state: ExperimentState, latest: int, times: Times) -> int:
    """The time of the next record: never before the last one."""
    if state.held is not None and times.expected is None:
        return latest
    return max(times.now, latest)
