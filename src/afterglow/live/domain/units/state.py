"""The state of an experiment with units: one lane for each unit, one plan for all."""

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from afterglow.live.domain import versions
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import RARE, VERSION, AnyState, GuardStop, Notified, Phase, Role, rare, restored_stop
from afterglow.live.domain.units import round_plan as plans
from afterglow.live.domain.units.guard_blocks import GuardBlocks
from afterglow.live.domain.units.round_plan import RoundPlan


@dataclass(slots=True)
class Lane:
    """One unit."""

    served: int  # the variant of the current step, or after the end
    planned: int
    role: Role = Role.PLAN
    pinned: int = -1
    reported: bool = False  # whether anything was ever reported
    silent: int = 0  # steps since the last report


@dataclass(slots=True, kw_only=True)
class UnitsState(AnyState):
    """`served` and `planned` are the control until the end, then the variant to keep; `lanes` have each unit's own."""

    plan: RoundPlan
    lanes: list[Lane] = field(default_factory=list)
    guarded: GuardBlocks | None = None  # totals of metrics that guards watch
    stops: dict[int, GuardStop] = field(default_factory=dict)  # by variant
    exceeded: list[tuple[int, int]] = field(default_factory=list)  # guards and variants that were told, not stopped

    def text(self, version: int = VERSION) -> str:
        """The state as JSON, for a snapshot."""
        values = {
            "version": version,
            "plan": self.plan.values(),
            "lanes": [[*asdict(lane).values()] for lane in self.lanes],
            "told": asdict(self.told),
            **{name: getattr(self, name) for name in PLAIN},
            **{name: getattr(self, name) for name in RARE if getattr(self, name)},
            **({"computed": versions.named()} if versions.named() else {}),
        }
        if self.guarded is not None:
            values |= {"guards": self.guarded.values(), "stops": sorted(self.stops.items()), "exceeded": self.exceeded}
        return json.dumps(values, separators=(",", ":"), sort_keys=True)


PLAIN = ("step", "starts", "phase", "served", "planned", "shadow", "disabled", "restarts", "learned", "excluded")


def empty_blocks(spec: Spec) -> GuardBlocks | None:
    """What guards count before the first step; None if there are none."""
    if not spec.guards:
        return None
    return GuardBlocks(sorted({spec.metric(guard.metric) for guard in spec.guards}), len(spec.units), spec.window)


def initial(spec: Spec) -> UnitsState:
    """The state before the first event."""
    plan = plans.fresh(spec, list(range(len(spec.variants))), 0, 0, spec.control)
    lanes = [Lane(spec.control, spec.control) for _ in spec.units]
    return UnitsState(
        plan=plan, lanes=lanes, served=spec.control, planned=spec.control, shadow=spec.shadow,
        guarded=empty_blocks(spec),
    )  # fmt: skip


def restored(spec: Spec, text: str) -> UnitsState:
    """The state that `UnitsState.text` stored."""
    values: dict[str, Any] = json.loads(text)
    plain = {name: values[name] for name in PLAIN}
    plain |= {"phase": Phase(values["phase"]), "disabled": tuple(values["disabled"])}
    lanes = [
        Lane(served, planned, Role(role), pinned, reported, silent)
        for served, planned, role, pinned, reported, silent in values["lanes"]
    ]
    plan = plans.resumed(spec, values["plan"])
    made = UnitsState(plan=plan, lanes=lanes, told=Notified(**values["told"]), **plain, **rare(values))
    made.guarded = empty_blocks(spec)
    if made.guarded is not None:
        made.guarded.restore(values["guards"])
        made.stops = {arm: restored_stop(stop) for arm, stop in values["stops"]}
        made.exceeded = [(place, arm) for place, arm in values["exceeded"]]
    return made
