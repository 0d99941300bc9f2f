"""Checks of a stored agent: what no agent can have reached is refused before anything is played with it.

The check sum of a text finds accidents. Whoever changes a text on purpose can renew it, so every value is checked too.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from afterglow.errors import AfterglowError, BadFormat
from afterglow.estimation.bounds import Tally
from afterglow.policies.policy import Policy
from afterglow.policies.registry import WHERE, version_of
from afterglow.policy_runner import Hold, PolicyRunner

MOST = 2**63 - 1  # the whole numbers that compiled policies have


@dataclass(slots=True)
class AgentProgress:
    """The progress of an agent, as it is stored."""

    step: int
    selected: int  # 1 between select and update
    holds: int  # begun so far
    current: int  # arm in play, of the bounds
    look: int


def refuse_odd_numbers(value: Any, where: str) -> None:
    """Refuse what is not a number, and whole numbers that nothing can have counted."""
    if isinstance(value, dict):
        for name, part in value.items():
            refuse_odd_numbers(part, f"{where}.{name}")
    elif isinstance(value, list):
        for part in value:
            refuse_odd_numbers(part, where)
    elif value == "nan" or (isinstance(value, int) and abs(value) > MOST):
        raise BadFormat(f"{where} must have numbers of at most 64 bits, got {value!r:.40}")


def refuse_impossible(hold: Hold | None, tallies: Sequence[Tally], progress: AgentProgress, arms: int) -> None:
    """Refuse a hold, tallies or progress that contradict themselves."""
    if hold is not None and not (
        0 <= hold.arm < arms and 0 <= hold.split <= hold.steps and 0 <= hold.done < hold.steps
    ):
        raise BadFormat(
            f"hold must have an arm below {arms:,} and 0 <= done < steps, 0 <= split <= steps, got arm {hold.arm:,}, "
            f"{hold.done:,} of {hold.steps:,} steps, split {hold.split:,}"
        )
    for tally in tallies:
        if min(tally.pulls, tally.runs, tally.washed_steps, tally.age, tally.gap) < 0:
            raise BadFormat(f"tallies must have counts of at least 0, got {tally!r:.300}")
    counts = (progress.step, progress.selected, progress.holds, progress.look)
    if min(counts) < 0 or progress.selected > 1 or not -1 <= progress.current < arms:
        raise BadFormat(f"progress must have counts of at least 0 and an arm below {arms:,}, got {progress!r:.300}")


def refuse_unplayable(runner: PolicyRunner, left: int | None) -> None:
    """Refuse a state from which the policy can't decide: it is tried on a copy."""
    copy = PolicyRunner(
        runner.policy, runner.settings, deepcopy(runner.state), runner.arms, runner.stream, runner.opened,
        deepcopy(runner.hold),
    )  # fmt: skip
    with playable_state(runner.policy.name, True):
        copy.close()
        if left is None or left > 0:
            copy.current(left)


@contextmanager
def playable_state(name: str, restored: bool) -> Iterator[None]:
    """Name the stored state as the cause if a policy fails with it in any way."""
    try:
        yield
    except AfterglowError:
        raise
    except Exception as error:
        if not restored:
            raise
        raise BadFormat(
            f"the stored state of {name} can't be played: {type(error).__name__}; the text was changed by hand"
        ) from error


def stored_policy(wanted: Mapping[str, Any], given: Policy[Any, Any] | None) -> Policy[Any, Any]:
    """The policy that a stored text was written with."""
    name, version = wanted["name"], wanted["version"]
    if given is None and (wanted["own"] or name not in WHERE):
        raise BadFormat(f"policy {name!r} is not one of Afterglow's; give it: Agent.from_json(text, policy=...)")
    policy = version_of(name, version) if given is None else given
    if policy.name != name:
        raise BadFormat(
            f"the text was stored with policy {name!r}, got {policy.name!r}; give the one it was stored with"
        )
    if policy.version != version:
        raise BadFormat(
            f"the text was stored with version {version} of {name}, this is version {policy.version}, which decides "
            "otherwise; use the release that stored it or start a new agent"
        )
    return policy
