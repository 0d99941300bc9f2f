"""JSON views of experiments, steps, events, estimates and explanations."""

import math
from dataclasses import asdict, fields, replace
from datetime import UTC, datetime
from typing import Any

from afterglow import live
from afterglow.errors import BadValue, argument
from afterglow.estimation.differences import Difference
from afterglow.estimation.estimates import Estimates
from afterglow.estimation.panel import PanelEstimates
from afterglow.estimation.randomisation import Test
from afterglow.estimation.sentences import says_nothing
from afterglow.estimation.verdict import Verdict, Versus
from afterglow.live.domain.limits import LATEST
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.status import Explanation, Status
from afterglow.live.past_steps import Step


def moment(seconds: float) -> str:
    """Seconds since 1970 as RFC 3339."""
    at = datetime.fromtimestamp(round(1000 * seconds) / 1000, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def seconds_of(text: str, name: str = "starts") -> float:
    """RFC 3339 as seconds since 1970."""
    try:
        at = datetime.fromisoformat(text)
        seconds = at.timestamp() if at.tzinfo else -1.0
    except (ValueError, OverflowError):
        seconds = -1.0
    if not 0 <= seconds <= LATEST:
        raise BadValue(
            f"{argument(name)} must be a time between 1970 and 2200 such as 2026-11-16T01:30:00Z, with its offset; "
            f"got {text!r}"
        )
    return seconds


TOO_WIDE = "its interval contains every difference that reward_max allows"
LAZY = ("judge", "examine", "watch")  # functions that make what a status has


def status_view(status: Status, spec: Spec) -> dict[str, Any]:
    plain = {one.name: getattr(status, one.name) for one in fields(status) if one.name not in LAZY}
    return (
        plain
        | {"status": status.status, "leader": status.leader}
        | {"disabled": list(status.disabled), "verdict": verdict_view(status.verdict, spec)}
        | {"test": None if status.test is None else exact_test_view(status.test)}
        | {"guards": [asdict(one) for one in status.guards]}
        | {"units": [asdict(one) for one in status.units]}
        | {"units_test": None if status.units_test is None else asdict(status.units_test)}
    )


def exact_test_view(test: Test) -> dict[str, Any]:
    pairs = [{"variant": made.pop("arm"), "over": made.pop("other")} | made for made in map(asdict, test.pairs)]
    return test.to_dict() | {"pairs": pairs}


def verdict_view(verdict: Verdict, spec: Spec) -> dict[str, Any]:
    made = verdict.to_dict()
    for name in ("to_control", "to_runner_up"):
        row = getattr(verdict, name)
        if row is not None and not spec.units and says_nothing(row, spec.reward_max):
            row = replace(row, mean=None, low=None, high=None, percent=None, missing=TOO_WIDE)
        made[name] = None if row is None else versus_view(row)
    return made | {"assumes": list(verdict.assumes)}


def versus_view(row: Versus) -> dict[str, Any]:
    made = asdict(row)
    percent = None if row.percent is None else dict(zip(("mean", "low", "high"), row.percent, strict=True))
    return {"variant": made.pop("arm"), "over": made.pop("other")} | made | {"percent": percent}


def difference_view(one: Difference) -> dict[str, Any]:
    return {
        "variant": one.arm, "over": one.other, "mean": one.mean, "low": one.low, "high": one.high,
        "missing": one.missing,
    }  # fmt: skip


def experiment_view(experiment: live.Experiment) -> dict[str, Any]:
    """The experiment as it was created, with its status."""
    return settings_view(experiment.spec) | {"status": status_view(experiment.status(), experiment.spec)}


def listed_view(experiment: live.Experiment, patience: float) -> dict[str, Any]:
    """The same, without waiting for locks for longer than `patience` seconds."""
    found = experiment.listed(patience=patience)
    return settings_view(experiment.spec) | {"status": status_view(found.status, experiment.spec)}


def settings_view(spec: Spec) -> dict[str, Any]:
    """The settings of an experiment, as calls name them."""
    made = asdict(spec)
    for name in ("step_ms", "starts_ms", "remember_ms", "profile_from_ms", "lengthened", "computed"):
        del made[name]
    return made | {
        "variants": list(spec.variants),
        "control": spec.variants[spec.control],
        "mode": spec.mode,
        "remember": spec.remember_ms / 1000,
        "remember_steps": spec.remember,
        "step_seconds": spec.step_ms / 1000 if spec.step_ms else None,
        "starts": moment(spec.starts_ms / 1000) if spec.step_ms else None,
        "profile": list(spec.profile),
        "profile_from": None if spec.profile_from_ms is None else moment(spec.profile_from_ms / 1000),
        "guards": {one.name: one.asked() for one in spec.guards},
        "units": list(spec.units),
        "levels": dict(zip(spec.units, spec.levels, strict=False)),
        "options": finite(made["options"]),
        "settings": finite(made["settings"]),
    }


def current_view(name: str, decision: live.Decision) -> dict[str, Any]:
    until = None if decision.valid_until is None else moment(decision.valid_until)
    return {
        "experiment": name, "variant": decision.variant, "step": decision.step, "role": decision.role,
        "valid_until": until, "unit": decision.unit,
    }  # fmt: skip


def step_view(step: Step) -> dict[str, Any]:
    return step._asdict()


def estimates_view(estimates: Estimates) -> dict[str, Any]:
    items = [{"variant": one.arm, **finite(asdict(one))} for one in estimates]
    for item in items:
        del item["arm"]
    compared = () if estimates.best is None else estimates.against(estimates.best)
    return {
        "confidence": estimates.confidence, "alarm": estimates.alarm, "items": items,
        "differences": [difference_view(one) for one in compared],
    }  # fmt: skip


def differences_view(found: PanelEstimates) -> dict[str, Any]:
    items = [{"variant": one.arm, **finite(asdict(one))} for one in found]
    for item in items:
        del item["arm"]
    return {"best": found.best, "confidence": found.confidence, "items": items}


def explanation_view(one: Explanation) -> dict[str, Any]:
    return {
        "step": one.step, "variant": one.variant, "planned": one.planned, "role": one.role, "why": one.why,
        "policy": one.policy, "hold": list(one.hold) if one.hold else None, "figures": finite(one.figures),
        **({"estimates": estimates_view(one.estimates), "differences": None} if one.unit is None else
           {"estimates": None, "differences": differences_view(one.estimates)}),
        "unit": one.unit, "because": one.because, "index": finite(dict(one.index)),
        "index_name": one.index_name, "index_unit": one.index_unit,
    }  # fmt: skip


def finite(value: Any) -> Any:
    """Infinity becomes null, which JSON can write."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [finite(one) for one in value]
    return value
