"""`simulate`: many runs of a policy in a world."""

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterglow.checks import any_seed, at_most, choice, is_number, whole
from afterglow.engine.agreement import check_own
from afterglow.engine.job import Job, JobResults
from afterglow.engine.machinery import machinery
from afterglow.engine.outcome import Outcome
from afterglow.engine.rounds.simulate import simulate_units
from afterglow.engine.tiers import HOLD, SKIP, STEP
from afterglow.engine.work import share_out
from afterglow.errors import AfterglowWarning, BadValue, argument
from afterglow.expected import Expected, adjusted_policy, refuse_unadjustable
from afterglow.policies.policy import Policy
from afterglow.policies.registry import DEFAULT, AnyPolicy, is_ours, merged_options, named, round_policy
from afterglow.policies.season import seasonal
from afterglow.worlds.explained import explained as less_expected
from afterglow.worlds.units_world import UnitsWorld
from afterglow.worlds.world import World

TIERS = {"step": STEP, "hold": HOLD, "skip": SKIP}
ROUNDING = 1e-9
MOST_MARKS = 100_000  # checkpoints of a curve
MOST_NUMBERS = 250_000_000  # of all runs of one simulation: 2 GB
LONGEST = 10**15  # beyond this float sums no longer count single rewards


def simulate(
    policy: str | AnyPolicy = DEFAULT,
    world: World | UnitsWorld | None = None,
    horizon: float | None = None,
    runs: int = 100,
    seed: int = 1,
    options: Mapping[str, Any] | None = None,
    engine: str = "auto",
    threads: int | None = None,
    checkpoints: int | Sequence[int] = (),
    first: int = 0,
    recommend: bool = False,
    told_window: int | None = None,
    told_horizon: bool = True,
    season: int = 1,
    explained: float | str | None = None,
    progress: Callable[[int], None] | None = None,
    keep: str | None = None,
) -> Outcome:
    """Simulate `runs` independent runs of a policy in a world, exactly.

    `world` and `horizon` must be given; without a `policy` it is the default: `simulate(world=..., horizon=...)`.
    `engine` is `step`, `hold`, `skip` or `auto` (the fastest that fits). In `step` and `hold`, run r of a seed has
    the same rewards for every policy, so outcomes can be compared run by run; `skip` draws sums of its own. `options`
    are the policy's settings. `checkpoints` are the steps at which regret is recorded, or how many, evenly spaced in
    the logarithm; `first` is the number of the first run; `progress` is called with the number of finished runs. The
    policy is given the world's window unless `told_window` replaces it, and the horizon unless `told_horizon` is
    False. With a `season` the counted parts of its holds are whole seasons. `explained` is the share of the
    baseline's noise that expected totals explain, or "season": that much is taken out before the policy. `keep` names
    a field of the policy's state, whose final values are then in `kept`.
    """
    steps = checked_horizon(horizon)
    runs, first, seed = whole("runs", runs, 1), whole("first", first, 0), any_seed(seed)
    marks = checked_marks(checkpoints, steps)
    if isinstance(world, World | UnitsWorld):
        refuse_many(runs, world.arms, marks.size)
    if isinstance(world, UnitsWorld):
        if explained is not None:
            raise BadValue(f"{argument('explained')} is for one total a step, got a world with units; leave it out")
        for_units = round_policy(policy)
        tier = tier_for(engine, for_units, world.pulls)
        return simulate_units(
            for_units, world, steps, runs, seed, options, (tier, TIERS[tier]), threads, marks.tolist(), first,
            recommend, told_window, season, progress,
        )  # fmt: skip
    base, world = for_one_total(policy, world)
    if explained is not None:
        world, base = less_expected(world, explained), adjusted_for_lab(base)
    policy = seasonal(base, season)
    window = world.window if told_window is None else told_window
    given = merged_options(options, {})
    settings = policy.settings(world.arms, window, steps if told_horizon else None, given)
    tier = tier_for(engine, policy, world)
    if explained is None and not is_ours(base):
        check_own(policy, settings, world.arms)
    if keep is not None and keep not in [one.name for one in fields(policy.State)]:
        raise BadValue(f"{argument('keep')} must be a field of the state of {policy.name}, got {keep!r}")
    job = Job(
        policy, settings, machinery(world, policy.privileged), steps, seed, TIERS[tier], first, keep=keep or ""
    ).compiled()
    results = JobResults.empty(runs, world.arms, marks, recommend, keep is not None)
    began = time.perf_counter()
    used = share_out(runs, partial(job.play, results), threads, progress)
    seconds = time.perf_counter() - began
    return Outcome(
        policy.name, asdict(settings), given, world, steps, runs, seed, first, tier, used, seconds,
        **results.columns(), checkpoints=marks, curves=results.curves, shares=results.shares, pulls=results.pulls,
        recommended=results.recommended,
        kept=None if results.kept is None else np.array([results.kept[run] for run in range(runs)]),
    )  # fmt: skip


def checked_horizon(horizon: object) -> int:
    """The number of steps."""
    steps = whole("horizon", horizon, 1)
    if steps > LONGEST:
        raise BadValue(
            f"{argument('horizon')} must be at most {LONGEST:.0e}, got {steps:.3g}; sums would lose single rewards"
        )
    return steps


def for_one_total(policy: object, world: object) -> tuple[Policy[Any, Any], World]:
    """The policy and the world of experiments with one total a step."""
    base: object = named(policy) if isinstance(policy, str) else policy
    if not isinstance(base, Policy):
        raise BadValue(f"{argument('policy')} must be a Policy or the name of one, got {base!r}")
    if not isinstance(world, World):
        raise BadValue(f"{argument('world')} must be a World, got {world!r}; World.of(rewards, window) makes one")
    return base, world


def refuse_many(runs: int, arms: int, marks: int) -> None:
    """Refuse runs whose results don't fit into memory."""
    each = 10 + arms + 2 * marks
    if runs * each > MOST_NUMBERS:
        why = f"{MOST_NUMBERS:,} numbers, {each:,} for each run"
        at_most("runs", runs, MOST_NUMBERS // each, why)


def adjusted_for_lab(policy: Policy[Any, Any]) -> Policy[Any, Any]:
    """The policy for totals less what is expected; refused if it bounds what came in."""
    told = Expected(typical=0.0)
    refuse_unadjustable(policy, told)
    return adjusted_policy(policy, told)


def tier_for(engine: str, policy: AnyPolicy, world: World) -> str:
    """The tier to use; asking for one that can't be used is refused with the reason."""
    choice("engine", engine, ["auto", *TIERS])
    warn_of_income(policy, world)
    if world.spread.memory and engine not in ("auto", "step"):
        raise BadValue(
            f"{argument('engine')} {engine} can't run spread {world.spread.text}: it keeps memory between pulls, so it "
            f"must see every pull; use {argument('engine', 'step')}"
        )
    if engine != "auto":
        return engine
    return "step" if policy.every_step or world.spread.memory else "skip"


def warn_of_income(policy: AnyPolicy, world: World) -> None:
    """Warn where a baseline makes totals that rewards of at most 1 can't explain, to a policy that relies on them."""
    if policy.bounded and world.baseline.parts and world.most > 1 + ROUNDING:
        most = f"{world.most:.4g}"
        warnings.warn(
            f"a pull and the baseline bring up to {most} a step together, but {policy.name} relies on at most 1: its "
            "guarantee is void and its regret may grow in proportion to the horizon; simulate "
            f"world.divided({most}), which is what reward_max={most} does in an agent",
            AfterglowWarning,
            stacklevel=3,
        )


def checked_marks(checkpoints: Any, horizon: int) -> NDArray[np.int64]:
    """Checkpoints as whole numbers, increasing, within the horizon."""
    if is_number(checkpoints):
        checkpoints = log_marks(horizon, whole("checkpoints", checkpoints, 1))
    marks = [whole("checkpoints", mark, 1, "each of them") for mark in checkpoints]
    if marks != sorted(set(marks)) or (marks and marks[-1] > horizon):
        raise BadValue(
            f"{argument('checkpoints')} must increase and lie within the horizon of {horizon:,}, got {marks}"
        )
    return np.array(marks, np.int64)


def log_marks(horizon: int, count: int) -> list[int]:
    """Up to `count` checkpoints, evenly spaced in the logarithm, the horizon last."""
    count = at_most("checkpoints", whole("checkpoints", count, 1), MOST_MARKS)
    if count == 1:
        return [horizon]
    return sorted({int(round(mark)) for mark in np.geomspace(min(10, horizon), horizon, count)} | {horizon})
