"""What an experiment is: written down once, when it is created, and never changed.

The settings that the policy resolved and its version are part of it, so that a new release with other defaults or
other decisions can't change an experiment that runs.
"""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from afterglow import records
from afterglow.checks import arm_names, between, choice, number, whole
from afterglow.errors import BadFormat, BadValue, UnknownName
from afterglow.live.domain import limits
from afterglow.live.domain.amounts import LEAST, MICRO, MOST
from afterglow.policies.policy import Policy
from afterglow.policies.registry import WHERE, known_options, named, playable
from afterglow.policies.season import seasonal

MODES = ("manual", "clock")
ARGUMENTS = (
    "variants", "window", "horizon", "reward_max", "policy", "seed", "confidence", "season", "control", "step_seconds",
    "starts", "heartbeat", "shadow", "remember", "start",
)  # fmt: skip


@dataclass(frozen=True)
class Spec:
    name: str
    variants: tuple[str, ...]
    window: int
    horizon: int | None
    reward_max: float
    policy: str
    policy_version: int
    options: Mapping[str, Any]
    settings: Mapping[str, Any]  # as the policy resolved them
    seed: int
    confidence: float
    season: int  # 1 = none
    control: int  # the variant served when the plan is not
    step_ms: int  # 0 = manual: the caller closes each step
    starts_ms: int  # from when on steps are counted, by the clock
    heartbeat: bool  # a step without a report is void
    shadow: bool  # decide and log, serve the control
    remember: int  # steps for which keys are kept after theirs has closed
    release: str  # that created it

    @property
    def mode(self) -> str:
        return MODES[self.step_ms > 0]

    @cached_property
    def most(self) -> int:
        """The largest total of a step, in micro-units."""
        return round(self.window * self.reward_max * MICRO)

    @cached_property
    def unit(self) -> float:
        """Micro-units that make a reward of 1 for the policy."""
        return self.reward_max * MICRO

    def variant(self, name: object) -> int:
        """The number of a variant."""
        if name not in self.variants:
            raise UnknownName("variant", str(name), self.variants, f"they are {', '.join(self.variants)}")
        return self.variants.index(str(name))

    def text(self) -> str:
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":"), allow_nan=False)


def specify(
    name: str,
    variants: Iterable[str],
    window: int,
    horizon: int | None = None,
    *,
    reward_max: float = 1.0,
    policy: str = "trim-ucb",
    seed: int = 0,
    confidence: float = 0.95,
    season: int = 1,
    control: str | None = None,
    step_seconds: float | None = None,
    starts: float = 0.0,
    heartbeat: bool = False,
    shadow: bool = False,
    remember: int = 1,
    release: str = "",
    **options: Any,
) -> Spec:
    """A checked spec; `starts` and `step_seconds` in seconds."""
    names = variant_names(variants)
    window = limits.at_most("window", whole("window", window, 1, "1 = paid at once"), limits.WINDOW)
    limit = None if horizon is None else limits.at_most("horizon", whole("horizon", horizon, 1), limits.HORIZON)
    most = largest_reward(reward_max, window)
    season = limits.at_most("season", whole("season", season, 1, "1 = none"), limits.SEASON)
    if not isinstance(policy, str):
        raise BadValue(f"policy must be the name of one of Afterglow's policies, got {policy!r}")
    found = seasonal(playable(policy), season)
    given = known_options(found, options, ARGUMENTS)
    settings = found.settings(len(names), window, limit, given)
    made = Spec(
        experiment_name(name), names, window, limit, most, policy, found.version, given,
        records.plain(settings, f"settings of {policy}:"), limits.at_most("seed", whole("seed", seed, 0), limits.EXACT),
        number("confidence", confidence, 0, 1), season, 0, length(step_seconds), beginning(starts),
        flag("heartbeat", heartbeat), flag("shadow", shadow),
        limits.at_most("remember", whole("remember", remember, 0), limits.REMEMBER), release,
    )  # fmt: skip
    return made if control is None else with_control(made, control)


def largest_reward(reward_max: object, window: int) -> float:
    most = number("reward_max", reward_max, 0, math.inf, "the most that one step's pull brings in all")
    if most < LEAST or window * most > MOST:
        raise BadValue(
            f"reward_max must be at least {LEAST:g} (amounts are kept in millionths) and window x reward_max at most "
            f"{MOST:,}, got {most:,g} with window {window:,}; take another unit"
        )
    return most


def length(step_seconds: object) -> int:
    """Milliseconds of a step; 0 if no clock ends it."""
    if step_seconds is None:
        return 0
    return round(1000 * between("step_seconds", step_seconds, limits.SHORTEST, limits.LONGEST, "up to 366 days"))


def beginning(starts: object) -> int:
    """When step 0 begins, in milliseconds since 1970."""
    return round(1000 * between("starts", starts, 0, limits.LATEST, "seconds since 1970, until 2200"))


def flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise BadValue(f"{name} must be True or False, got {value!r}")
    return value


def with_control(spec: Spec, control: str) -> Spec:
    return Spec(**{**asdict(spec), "control": spec.variant(control)})


def experiment_name(name: object) -> str:
    """A name that can stand in an address and a file."""
    plain = isinstance(name, str) and 0 < len(name) <= 100 and name.replace("-", "").replace("_", "").isalnum()
    if not plain or not str(name).isascii():
        raise BadValue(f"name must be 1 to 100 letters, digits, '-' or '_', got {name!r}")
    return str(name)


def variant_names(variants: Iterable[str]) -> tuple[str, ...]:
    names = arm_names(variants)
    for name in names:
        if not isinstance(name, str) or not 0 < len(name) <= 100 or not limits.writable(name):
            raise BadValue(f"variants must have strings of 1 to 100 characters as names, got {name!r}")
    limits.at_most("variants", len(names), limits.VARIANTS)
    return tuple(str(name) for name in names)


def read_spec(text: str) -> Spec:
    """The spec that `Spec.text` wrote down."""
    try:
        values = json.loads(text)
        return Spec(**{**values, "variants": tuple(values["variants"])})
    except (ValueError, TypeError, LookupError) as error:
        raise BadFormat(f"the experiment's spec can't be read: {error}; it was stored by other code") from error


def policy_of(spec: Spec) -> Policy[Any, Any]:
    """The policy that the experiment was created with, if this release still decides as it did."""
    choice("policy", spec.policy, list(WHERE))
    policy = seasonal(named(spec.policy), spec.season)
    if policy.version != spec.policy_version:
        raise BadFormat(
            f"experiment {spec.name!r} runs version {spec.policy_version} of {spec.policy}, this release has version "
            f"{policy.version}, which decides otherwise; go on with afterglow {spec.release} or create a new one"
        )
    return policy
