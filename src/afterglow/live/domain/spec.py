"""The spec of an experiment: its checked settings, stored once at creation and never changed.

It includes the policy's version and the settings that the policy resolved, so that a new release with other defaults or
other decisions can't change a running experiment.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from afterglow import records
from afterglow.addition import added
from afterglow.checks import choice
from afterglow.errors import BadFormat, BadValue, UnknownName, argument
from afterglow.expected import Expected, adjusted_policy, expected_totals, refuse_unadjustable
from afterglow.live.domain import limits, versions
from afterglow.live.domain.actor import Actor
from afterglow.live.domain.amounts import LEAST, MICRO, MOST, micros, signed_micros
from afterglow.live.domain.arguments import known_unit, known_variant
from afterglow.live.domain.guards.settings import REWARD, Guard, metrics_of, stored_guards
from afterglow.live.domain.settings_table import BY_NAME, SETTINGS, split
from afterglow.live.domain.units.spec import UNITS_POLICY, levels_of, resolve_rounds
from afterglow.policies.default import default_policy
from afterglow.policies.policy import Policy
from afterglow.policies.registry import (
    WHERE,
    AnyPolicy,
    known_options,
    playable,
    round_names,
    round_version,
    version_of,
)
from afterglow.policies.rounds import RoundPolicy
from afterglow.policies.season import seasonal

MODES = ("manual", "clock")


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
    remember: int  # steps for which keys are kept at least, after theirs has closed
    release: str  # that created it
    remember_ms: int = 0  # milliseconds for which keys are kept at least; experiments of release 0.1.0 have steps alone
    unit: str = ""  # of totals, for sentences; experiments of release 0.1.0 have none, nor what follows
    profile: tuple[float, ...] = ()  # expected totals that repeat
    profile_from_ms: int | None = None  # when its first number was expected; None: with step 0
    typical: float | None = None  # usual mean of expected totals that are told step by step
    trust: float = 1.0  # how much of what is expected is taken out
    guards: tuple[Guard, ...] = ()  # limits of secondary totals
    units: tuple[str, ...] = ()  # that have totals of their own
    levels: tuple[float, ...] = ()  # mean totals of the units before the start, if they are told
    lengthened: int = 0  # steps by which the horizon was lengthened since the start
    computed: Mapping[str, int] = field(default_factory=lambda: dict(versions.FIRST))  # numbers of what is computed

    @property
    def first_horizon(self) -> int | None:
        """The horizon at the start, by which time-uniform intervals are tuned: what was seen may not change that."""
        return None if self.horizon is None else self.horizon - self.lengthened

    @property
    def mode(self) -> str:
        return MODES[self.step_ms > 0]

    def unit_number(self, name: object) -> int:
        """The number of a unit; 0 if there are none and none is named."""
        if name is None and not self.units:
            return 0
        return self.units.index(known_unit("unit", name, self.units))

    def series(self, metric: int, unit: int) -> int:
        """The number under which reports of a metric are added up, for each unit."""
        return metric * max(1, len(self.units)) + unit

    def micros(self, name: str, amount: object) -> int:
        """An amount in micro-units, if it can be one of this experiment."""
        return signed_micros(name, amount) if self.units else micros(name, amount, self.most)

    @cached_property
    def most(self) -> int:
        """The largest total of a step, in micro-units."""
        return round(self.window * self.reward_max * MICRO)

    @cached_property
    def scale(self) -> float:
        """Micro-units that make a reward of 1 for the policy."""
        return self.reward_max * MICRO

    @property
    def adjusts(self) -> bool:
        """Whether expected totals are taken out before the policy learns."""
        return bool(self.profile) or self.typical is not None

    @cached_property
    def usual(self) -> int:
        """The usual mean of what is expected, in micro-units."""
        if self.profile:
            return round(added(self.profile) / len(self.profile) * MICRO)
        return round((self.typical or 0.0) * MICRO)

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """Names of the totals of a step: the reward, then those that guards watch beside it."""
        return (REWARD, *metrics_of(self.guards))

    def metric(self, name: object) -> int:
        """The number of a metric; 0 is the reward."""
        if name is None:
            return 0
        if name not in self.metrics:
            way_out = f"it has {', '.join(self.metrics)}" if self.guards else "it has no guards, so leave it out"
            raise UnknownName("metric", str(name), self.metrics, way_out, field="metric")
        return self.metrics.index(str(name))

    def variant(self, name: object) -> int:
        """The number of a variant."""
        return self.variants.index(known_variant("variant", name, self.variants))

    def text(self) -> str:
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":"), allow_nan=False)


def specify(name: str, variants: Iterable[str], window: int, horizon: int | None = None, **settings: Any) -> Spec:
    """A checked spec of what `Experiments.create` is given; `starts` and `step_seconds` are in seconds."""
    return spec_of({"name": name, "variants": variants, "window": window, "horizon": horizon, **settings})


def spec_of(given: Mapping[str, Any], release: str = "") -> Spec:
    """A checked spec; names that are no settings of experiments are options of the policy."""
    settings = split(given)
    values = {one.name: one.read(settings.get(one.name, one.default)) for one in SETTINGS}
    names, window, horizon, season = values["variants"], values["window"], values["horizon"], values["season"]
    check_unit(values["reward_max"], window)
    values["units"] = values["units"] or ()
    if settings.get("policy") is None:
        values["policy"] = (
            UNITS_POLICY if values["units"] else default_policy(len(names), window, horizon, season, values["options"])
        )
    expected = expected_totals(values["profile"], values["typical"], values["trust"])
    found, resolved = resolved_policy(values, expected)
    control, (steps, duration) = values["control"], remembered(values["remember"])
    refuse_unused_phase(values)
    refuse_many_guards(values)
    return Spec(
        values["name"], names, window, horizon, values["reward_max"], values["policy"], found.version,
        values["options"], resolved, values["seed"],
        values["confidence"], season, 0 if control is None else names.index(known_variant("control", control, names)),
        milliseconds(values["step_seconds"]), milliseconds(values["starts"]), values["heartbeat"], values["shadow"],
        steps, release, duration, values["unit"] or "", expected.profile,
        None if values["profile_from"] is None else milliseconds(values["profile_from"]), expected.typical,
        expected.trust, values["guards"], computed=versions.of_new(values["units"]), units=values["units"],
        levels=levels_of(values["units"], values["levels"]),
    )  # fmt: skip


def resolved_policy(values: Mapping[str, Any], expected: Expected) -> tuple[AnyPolicy, dict[str, Any]]:
    """The policy and its resolved settings as plain values."""
    if values["units"]:
        return resolve_rounds(values, list(BY_NAME))
    if values["levels"]:
        levels_of((), values["levels"])
    policy, options = values["policy"], values["options"]
    arms, window, horizon = len(values["variants"]), values["window"], values["horizon"]
    found, settings = resolve_policy(policy, values["season"], arms, window, horizon, options, expected)
    refuse_unadjustable(found, expected)
    return found, records.settings_plain(settings, f"settings of {policy}:")


def refuse_many_guards(values: Mapping[str, Any]) -> None:
    """Refuse more guards than can be looked at when a step is closed."""
    pairs = len(values["guards"]) * len(values["variants"])
    if pairs > limits.GUARDED:
        raise BadValue(
            f"{argument('guards')} times variants must be at most {limits.GUARDED:,}, got {pairs:,}; take fewer",
            field="guards",
        )


def refuse_unused_phase(values: Mapping[str, Any]) -> None:
    """Refuse a time of the profile's first number that nothing would use."""
    if values["profile_from"] is not None and (values["profile"] is None or values["step_seconds"] is None):
        raise BadValue(
            f"{argument('profile_from')} must be left out unless {argument('profile')} and {argument('step_seconds')} "
            "are given: it is for steps on a schedule",
            field="profile_from",
        )


def remembered(seconds: float | None) -> tuple[int, int]:
    """For how many steps and milliseconds keys are kept at least: an hour and three steps by default."""
    if seconds is None:
        return limits.REMEMBERED_STEPS, round(1000 * limits.REMEMBERED)
    return int(seconds > 0), round(1000 * seconds)


def resolve_policy(
    policy: str,
    season: int,
    arms: int,
    window: int,
    horizon: int | None,
    options: Mapping[str, Any],
    expected: Expected,
) -> tuple[Policy[Any, Any], Any]:
    """The policy and its resolved settings; an error has a setting of the experiment as its field."""
    try:
        found = seasonal(adjusted_policy(playable(policy), expected), season)
        return found, found.settings(arms, window, horizon, known_options(found, options, list(BY_NAME)))
    except BadValue as error:
        if error.field in options or (isinstance(error, UnknownName) and error.field != "policy"):
            error.field = "options"
        elif error.field not in BY_NAME:
            error.field = {"arms": "variants"}.get(error.field, "policy")
        raise


def check_unit(reward_max: float, window: int) -> None:
    """Refuse amounts that are too small or too large for whole micro-units."""
    if reward_max < LEAST or window * reward_max > MOST:
        most = argument("reward_max")
        raise BadValue(
            f"{most} must be at least {LEAST:g} (amounts are kept in millionths) and {argument('window')} x {most} at "
            f"most {MOST:,}, got {reward_max:,.12g} with window {window:,}; take another unit"
        )


def milliseconds(seconds: float | None) -> int:
    """Whole milliseconds; 0 for None."""
    return 0 if seconds is None else round(1000 * seconds)


def created(spec: Spec, by: Actor | None) -> str:
    """The body of the event that creates an experiment."""
    if by is None:
        return spec.text()
    values = asdict(spec) | {"by": by.values()}
    return json.dumps(values, sort_keys=True, separators=(",", ":"), allow_nan=False)


def read_spec(text: str) -> Spec:
    """The spec that `created` wrote down."""
    try:
        values = json.loads(text)
        values.pop("by", None)
        lists: dict[str, Any] = {
            name: tuple(values.get(name, ())) for name in ("variants", "profile", "units", "levels")
        }
        lists |= {"guards": stored_guards(values.get("guards", ()))}
        spec = Spec(**{**values, **lists})
        versions.refuse_newer(spec.name, spec.computed, spec.release)
        return spec
    except BadFormat:
        raise
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise BadFormat(f"the experiment's spec can't be read: {error}; it was stored by other code") from error


def round_policy_of(spec: Spec) -> RoundPolicy[Any, Any]:
    """The policy of an experiment with units, if this release still decides as it did."""
    choice("policy", spec.policy, round_names())
    policy = round_version(spec.policy, spec.policy_version)
    refuse_other_version(spec, policy)
    return policy


def policy_of(spec: Spec) -> Policy[Any, Any]:
    """The policy that the experiment was created with, if this release still decides as it did."""
    choice("policy", spec.policy, list(WHERE))
    policy = seasonal(version_of(spec.policy, spec.policy_version), spec.season)
    refuse_other_version(spec, policy)
    return policy


def refuse_other_version(spec: Spec, policy: AnyPolicy) -> None:
    if policy.version != spec.policy_version:
        raise BadFormat(
            f"experiment {spec.name!r} runs version {spec.policy_version} of {spec.policy}, this release has version "
            f"{policy.version}, which decides differently; go on with afterglow {spec.release} or create a new one"
        )
