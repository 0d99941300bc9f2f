"""The spec of an experiment: its checked settings, stored once at creation and never changed.

It includes the policy's version and the settings that the policy resolved, so that a new release with other defaults or
other decisions can't change a running experiment.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from afterglow import records
from afterglow.checks import choice
from afterglow.errors import BadFormat, BadValue, UnknownName, argument
from afterglow.expected import Expected, adjusted_policy, expected_totals, refuse_unadjustable
from afterglow.live.domain import limits
from afterglow.live.domain.actor import Actor
from afterglow.live.domain.amounts import LEAST, MICRO, MOST
from afterglow.live.domain.arguments import known_variant
from afterglow.live.domain.settings_table import BY_NAME, SETTINGS, split
from afterglow.policies.default import default_policy
from afterglow.policies.policy import Policy
from afterglow.policies.registry import WHERE, known_options, named, playable
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

    @property
    def mode(self) -> str:
        return MODES[self.step_ms > 0]

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
            return round(sum(self.profile) / len(self.profile) * MICRO)
        return round((self.typical or 0.0) * MICRO)

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
    if settings.get("policy") is None:
        values["policy"] = default_policy(len(names), window, horizon, season, values["options"])
    expected = expected_totals(values["profile"], values["typical"], values["trust"])
    found, resolved = resolve_policy(values["policy"], season, len(names), window, horizon, values["options"], expected)
    control, (steps, duration) = values["control"], remembered(values["remember"])
    refuse_unadjustable(found, expected)
    refuse_unused_phase(values)
    return Spec(
        values["name"], names, window, horizon, values["reward_max"], values["policy"], found.version,
        values["options"], records.plain(resolved, f"settings of {values['policy']}:"), values["seed"],
        values["confidence"], season, 0 if control is None else names.index(known_variant("control", control, names)),
        milliseconds(values["step_seconds"]), milliseconds(values["starts"]), values["heartbeat"], values["shadow"],
        steps, release, duration, values["unit"] or "", expected.profile,
        None if values["profile_from"] is None else milliseconds(values["profile_from"]), expected.typical,
        expected.trust,
    )  # fmt: skip


def refuse_unused_phase(values: Mapping[str, Any]) -> None:
    """Refuse a time of the profile's first number that nothing would use."""
    if values["profile_from"] is not None and (values["profile"] is None or values["step_seconds"] is None):
        raise BadValue(
            f"{argument('profile_from')} is the time of the first number of a {argument('profile')}, for steps on a "
            f"schedule; leave it out, or give both and {argument('step_seconds')}",
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
    for name in ("units", "levels"):
        if name in options:
            raise BadValue(
                f"{argument(name)} must be left out: a live experiment has one total a step; run several units with "
                "afterglow.Units, and store what its to_json returns",
                kind="needs-units",
                field="options",
            )
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
            f"most {MOST:,}, got {reward_max:,g} with window {window:,}; take another unit"
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
        lists = {"variants": tuple(values["variants"]), "profile": tuple(values.get("profile", ()))}
        return Spec(**{**values, **lists})
    except (ValueError, TypeError, LookupError) as error:
        raise BadFormat(f"the experiment's spec can't be read: {error}; it was stored by other code") from error


def policy_of(spec: Spec) -> Policy[Any, Any]:
    """The policy that the experiment was created with, if this release still decides as it did."""
    choice("policy", spec.policy, list(WHERE))
    policy = seasonal(named(spec.policy), spec.season)
    if policy.version != spec.policy_version:
        raise BadFormat(
            f"experiment {spec.name!r} runs version {spec.policy_version} of {spec.policy}, this release has version "
            f"{policy.version}, which decides differently; go on with afterglow {spec.release} or create a new one"
        )
    return policy
