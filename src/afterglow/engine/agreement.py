"""Check that a policy acts the same in plain Python and compiled, by replaying a compiled run.

A short run is recorded hold by hold, then the plain policy is asked and taught the same. Any difference in a
decision or in the final state, to the bit and the type, is an error: the usual cause is a float stored in an
int field, which plain Python keeps and machine code cuts.
"""

from dataclasses import fields
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterglow import rng
from afterglow.engine.chance import refuse_chance
from afterglow.engine.job import Job, JobResults
from afterglow.engine.layout import unpack
from afterglow.engine.machinery import machinery
from afterglow.engine.policies import content
from afterglow.engine.replay import worded
from afterglow.engine.tiers import STEP
from afterglow.engine.work import share_out
from afterglow.errors import BadValue, Disagreement
from afterglow.policies.policy import Policy
from afterglow.policies.registry import is_ours
from afterglow.worlds.world import World

TRIAL_STEPS = 20_000
MOST = 2**63 - 1
VERBS = {
    "start": ("settings",),
    "next_hold": ("settings", "state", "draws"),
    "learn": ("settings", "state", "arm", "steps", "split", "head", "body"),
}


agreed: set[tuple[Any, str]] = set()  # what was compared in this process: a policy's content and its settings


def check_own(policy: Policy[Any, Any], settings: Any, arms: int) -> None:
    """At first use of a user's policy, see that plain and compiled agree; our own tests show it for ours."""
    key = (content(policy) or policy, repr(settings))
    if not is_ours(policy) and key not in agreed:
        horizon = getattr(settings, "horizon", 0) or TRIAL_STEPS  # 0 stands for a horizon not known
        agree(policy, settings, arms, max(getattr(settings, "window", 4), 1), min(horizon, TRIAL_STEPS))
        agreed.add(key)


def refuse_wrong_returns(policy: Policy[Any, Any], settings: Any, arms: int) -> None:
    """Name verbs that take or return something else than they should, before compiling."""
    for verb, takes in VERBS.items():
        refuse_other_arguments(policy, verb, takes)
    refuse_chance({f"{verb} of {policy.name}": getattr(policy, verb) for verb in ("next_hold", "learn")})
    try:
        state = policy.start(settings)
    except Exception as problem:
        sentence = f"{policy.name} failed: {worded('start', 'the beginning', problem)}"
        raise BadValue(sentence, kind="failed-run", field="policy") from problem
    if not isinstance(state, policy.State):
        what = f"start of {policy.name} must return a {policy.State.__name__}, got {type(state).__name__}"
        raise BadValue(what, kind="wrong-return", field="policy")
    draws = [rng.uniform(rng.key(1, 0, rng.POLICY), j) for j in range(policy.reads(arms))]
    try:
        asked: Any = policy.next_hold(settings, state, draws)
        again = policy.next_hold(settings, policy.start(settings), draws)
    except Exception as problem:
        raise named_failure(policy, "next_hold", 0, problem) from problem
    if not isinstance(asked, tuple) or len(asked) != 3 or not all(isinstance(one, int | np.generic) for one in asked):
        what = f"next_hold of {policy.name} must return (arm, steps, split), three whole numbers, got {asked!r}"
        raise BadValue(what, kind="wrong-return", field="policy")
    if again != asked:
        raise Disagreement(
            f"next_hold of {policy.name} returns another hold for the same state and draws: it must not use random or "
            "numpy.random, a clock or a global that changes; set `draws` and use the numbers given"
        )


def refuse_other_arguments(policy: Policy[Any, Any], verb: str, takes: tuple[str, ...]) -> None:
    """Name a verb that can't be called as engines call it."""
    has = signature(getattr(policy, verb))
    try:
        has.bind(*takes)
    except TypeError:
        raise BadValue(
            f"{verb} of {policy.name} must take ({', '.join(takes)}), it takes {has}",
            kind="wrong-signature",
            field="policy",
        ) from None


def refuse_overflow(policy: Policy[Any, Any], state: Any, count: int) -> None:
    """Name a whole number that compiled code can't hold."""
    for one in fields(state):
        value = getattr(state, one.name)
        for number in value if isinstance(value, list) else [value]:
            if isinstance(number, int) and abs(number) > MOST:
                raise Disagreement(
                    f"{policy.name} counts further than 64 bits in {one.name}, by hold {count}: compiled whole numbers "
                    f"end at {MOST:,}; keep it smaller, or in a float"
                )


def refuse_scalars(policy: Policy[Any, Any], asked: tuple[Any, ...], count: int) -> None:
    """Name NumPy numbers, which print like others and are not."""
    odd = [type(part).__name__ for part in asked if isinstance(part, np.generic)]
    if odd:
        raise Disagreement(
            f"next_hold of {policy.name} returns NumPy's {odd[0]} at hold {count}, where plain Python needs an int; "
            "write int(...), or compute without NumPy"
        )


def refuse_kept_scalars(policy: Policy[Any, Any], state: Any) -> None:
    """Name NumPy numbers in a state, where plain numbers are stored and compared."""
    for one in fields(state):
        value = getattr(state, one.name)
        for number in value if isinstance(value, list) else [value]:
            if isinstance(number, np.generic):
                raise Disagreement(
                    f"{policy.name} keeps NumPy's {type(number).__name__} in {one.name} in plain Python, a plain "
                    "number compiled; write int(...) or float(...), or compute without NumPy"
                )


def named_failure(policy: Policy[Any, Any], verb: str, count: int, problem: Exception) -> BadValue:
    """What plain Python raised where compiled code didn't, such as the root of a negative number."""
    sentence = f"{policy.name} failed: {worded(verb, f'hold {count}', problem)}"
    return BadValue(sentence, kind="failed-run", field="policy")


def played_compiled(
    policy: Policy[Any, Any], settings: Any, arms: int, window: int, horizon: int, seed: int
) -> tuple[NDArray[np.float64], Any]:
    """A compiled run: what each hold asked for and was taught, row by row, and the final state."""
    world = World.of([round(0.2 + 0.6 * arm / max(arms - 1, 1), 6) for arm in range(arms)], window, "uniform")
    trace = np.full((horizon, 5), np.nan)
    job = Job(policy, settings, machinery(world, policy.privileged), horizon, seed, STEP).compiled()
    results = JobResults.empty(1, arms, np.zeros(0, np.int64), recommend=False)
    finals: list[Any] = []
    share_out(1, lambda begin, end, stop: finals.append(job.play(results, begin, end, stop, trace)), 1, None)
    return trace, unpack(policy.State, finals[0][0])  # played in a thread: Ctrl-C ends a verb that never returns


def agree(policy: Policy[Any, Any], settings: Any, arms: int, window: int, horizon: int, seed: int = 1) -> int:
    """Raise unless a run is the same plain and compiled; the number of holds compared."""
    refuse_wrong_returns(policy, settings, arms)
    trace, final = played_compiled(policy, settings, arms, window, horizon, seed)
    state, clock, reads = policy.start(settings), 0, policy.reads(arms)
    stream = rng.key(seed, 0, rng.POLICY)
    count = 0
    while clock < horizon:
        draws = [rng.uniform(stream, count * reads + j) for j in range(reads)]
        try:
            arm, steps, split = policy.next_hold(settings, state, draws)
        except Exception as problem:
            raise named_failure(policy, "next_hold", count, problem) from problem
        steps = min(steps, horizon - clock)
        asked = (arm, steps, min(split, steps))
        refuse_scalars(policy, asked, count)
        compiled = tuple(int(number) for number in trace[count, :3])
        if asked != compiled or any(type(part) is not int for part in asked):
            refuse_overflow(policy, state, count)
            raise Disagreement(
                f"{policy.name} differs at hold {count}: plain Python asks for (arm, steps, split) = {asked}, "
                f"compiled for {compiled}; look for a float where a whole number should be"
            )
        try:
            policy.learn(settings, state, *asked, float(trace[count, 3]), float(trace[count, 4]))
        except Exception as problem:
            raise named_failure(policy, "learn", count, problem) from problem
        clock, count = clock + steps, count + 1
    refuse_kept_scalars(policy, state)
    if repr(state) != repr(final):
        refuse_overflow(policy, state, count)
        raise Disagreement(
            f"{policy.name} ends in another state compiled than in plain Python; look for a float kept in an int "
            f"field: plain {state}, compiled {final}"
        )
    return count
