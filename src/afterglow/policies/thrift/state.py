r"""What `thrift_ucb` remembers: the last run of every arm, and washed sums and batches of young and of old steps.

A step is *washed* when its age in the run is above the washout: nothing that an earlier arm earned arrives in it. It is
*young* while its age is at most twice the washout (the batch that crosses this age included), later it is *old*. Sums
of young steps are at place `arm`, those of old ones at place `arms + arm` of the same list. If the spread is stationary
both have the arm's mean, and if they differ the washout is too short.
"""

from dataclasses import dataclass

UNKNOWN = -1.0  # a mean without washed steps, or what a run is owed before the next head is seen


@dataclass(frozen=True)
class Settings:
    arms: int  # K
    window: int  # d
    horizon: int  # T, 0 if unknown
    noise: float  # standard deviation of one pull's reward, 0 if unknown
    first: int  # washed steps of an arm's first run
    batch: int  # steps of a batch, while the run is short
    proof: int  # 1 if proved bounds may decide
    price: float = 0.0  # share of random play's regret that comparisons may cost; absent in older records


@dataclass
class State:
    pulls: list[int]  # N
    run_pulls: list[int]  # n, of the last run
    run_sums: list[float]  # S, seen in the last run
    owed: list[float]  # H, owed to the last run at most; -1 unknown
    kept: list[int]  # washed steps, young ones of all arms, then old ones
    sums: list[float]  # seen in them
    batches: list[int]  # batches of them
    squares: list[float]  # of (sum of a batch)^2 / its steps
    values: list[float]  # U, when it was last needed
    clock: int  # t, steps played
    washout: int  # d - 1, longer after an alarm
    arm: int  # in play
    last: int  # arm of the run before, -1 if none
    age: int  # steps of the run in play
    until: int  # age at which its hold ends
    faded: int  # age at which its arm lost the lead, 0 if it has not
    stage: int  # evidence behind the last decision: 0 proved, 1 estimated noise, 2 ordinary, 3 a comparison


def start(settings: Settings) -> State:
    K, w = settings.arms, settings.window - 1
    none, nil = [0] * K, [0.0] * K
    return State(
        pulls=none[:], run_pulls=none[:], run_sums=nil[:], owed=[UNKNOWN] * K, kept=none * 2, sums=nil * 2,
        batches=none * 2, squares=nil * 2, values=nil[:], clock=0, washout=w, arm=0, last=-1, age=0,
        until=w + settings.first, faded=0, stage=0,
    )  # fmt: skip


def credit(settings: Settings, state: State, steps: int, split: int, head: float, body: float) -> None:
    """Add the steps of a hold to the run in play; those behind the split are one batch of washed steps."""
    arm = state.arm
    if steps > split:
        place = arm if state.age + split <= 2 * state.washout else settings.arms + arm
        state.kept[place] += steps - split
        state.sums[place] += body
        state.batches[place] += 1
        state.squares[place] += body * body / (steps - split)
    state.clock += steps
    state.age += steps
    state.pulls[arm] += steps
    state.run_pulls[arm] += steps
    state.run_sums[arm] += head + body


def kept_steps(settings: Settings, state: State, arm: int) -> int:
    return state.kept[arm] + state.kept[settings.arms + arm]


def kept_sum(settings: Settings, state: State, arm: int) -> float:
    return state.sums[arm] + state.sums[settings.arms + arm]


def washed_mean(settings: Settings, state: State, arm: int) -> float:
    """The mean of an arm's washed steps, of which there must be some."""
    return kept_sum(settings, state, arm) / kept_steps(settings, state, arm)


def capped_mean(settings: Settings, state: State, arm: int) -> float:
    """M: the washed mean, but not above what the pulls of the last run can have earned; -1 without washed steps.

    Where totals are adjusted they don't bound what pulls earned, so there is no such cap.
    """
    if kept_steps(settings, state, arm) == 0:
        return UNKNOWN
    if settings.proof == 0:
        return washed_mean(settings, state, arm)
    total, count = state.run_sums[arm], state.run_pulls[arm]
    value = min(washed_mean(settings, state, arm), total / max(1, count - settings.window + 1))
    return min(value, (total + state.owed[arm]) / count) if state.owed[arm] >= 0.0 else value


def lengthen(settings: Settings, state: State) -> None:
    """Double the washout: only old steps stay, as young ones, because none is known to be old."""
    state.washout = 2 * state.washout + 1
    for young in range(settings.arms):
        old = settings.arms + young
        state.kept[young] = state.kept[old]
        state.sums[young] = state.sums[old]
        state.batches[young] = state.batches[old]
        state.squares[young] = state.squares[old]
        state.kept[old] = 0
        state.sums[old] = 0.0
        state.batches[old] = 0
        state.squares[old] = 0.0


def begin(settings: Settings, state: State, arm: int, steps: int) -> None:
    """Start a run."""
    state.run_pulls[arm] = 0
    state.run_sums[arm] = 0.0
    state.owed[arm] = UNKNOWN
    state.last = state.arm
    state.arm = arm
    state.age = 0
    state.faded = 0
    hold(settings, state, steps)


def hold(settings: Settings, state: State, steps: int) -> None:
    """Play on for so many washed steps, in whole batches, one at least."""
    state.until = max(state.washout, state.age) + settings.batch * max(1, -(-steps // settings.batch))
