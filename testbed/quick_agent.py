"""An agent that is played quickly: several steps of a hold at once, and machine code for what takes most of the time.

The numbers are those of `Agent.select` and `Agent.update`, step by step.
"""

from typing import Any

import numpy as np

from afterglow import Agent
from afterglow.estimation import bounds, lingering, lingering_fit
from afterglow.policies.thrift import bounds as thrift_bounds
from afterglow.policies.trim import bounds as trim_bounds
from afterglow.policy_runner import Hold


def open_hold(agent: Agent) -> Hold:
    """The hold that begins now."""
    agent.select()
    hold = agent._runner.hold
    assert hold is not None
    return hold


def follow(agent: Agent, hold: Hold, totals: list[float]) -> None:
    """`Agent.select` and `Agent.update` for several steps of a hold, without the checks of arguments."""
    seen = [total / agent.reward_max for total in totals]
    adjusted = seen
    if agent.expected.adjusts:
        steps = range(agent.step, agent.step + len(seen))
        surplus = [agent.expected.surplus(step, None) / agent.reward_max for step in steps]
        adjusted = [one - more for one, more in zip(seen, surplus, strict=True)]
    arm = hold.arm
    for total in adjusted:
        agent._runner.take(total)
    agent._bounds.record_all(arm, seen, adjusted)
    agent.step += len(seen)
    agent._selected = False


def compile_kernels() -> None:
    """Compile what most of the time goes into: the same functions, ten times as fast."""
    from afterglow.engine.compiling import jitted

    for name in ("klup", "kldown"):
        compiled = jitted(getattr(bounds, name), {})
        for module in (bounds, trim_bounds, thrift_bounds):
            if hasattr(module, name):
                setattr(module, name, compiled)
    fit = jitted(lingering_fit.fit_all, {})

    def fit_all(blocks: Any, arms: Any, *rest: Any) -> list[float]:
        whole = [np.array(blocks, dtype=np.int64), np.array(arms, dtype=np.int64)]
        return list(fit(*whole, *(np.array(part, dtype=np.float64) for part in rest)))

    setattr(lingering, "fit_all", fit_all)  # noqa: B010
