r"""Expected totals: demand that was known beforehand is taken out of a total before a policy learns from it.

With $e_t$ the expected total of step $t$, `typical` its usual mean and `trust` a factor, the policy and the differences
between arms are given $x_t - \text{trust}\,(e_t - \text{typical})$ in place of $x_t$. Proved bounds, means and amounts
stay as they were reported.

What is expected must not depend on the variants: it is made before the start, or from things that no variant changes.
Then the adjusted totals are those of a world with another baseline, and differences stay unbiased for every `trust`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from afterglow.addition import added
from afterglow.checks import between, is_number
from afterglow.errors import BadValue, argument
from afterglow.policies.policy import Policy

LONGEST = 10_000  # numbers of a profile
MOST_TRUST = 1.5


@dataclass(frozen=True, slots=True)
class Expected:
    """What totals are expected: a profile that repeats, or numbers given step by step beside a typical one."""

    profile: tuple[float, ...] = ()
    typical: float | None = None
    trust: float = 1.0

    @property
    def adjusts(self) -> bool:
        """Whether anything is taken out."""
        return bool(self.profile) or self.typical is not None

    def surplus(self, step: int, expected: float | None) -> float:
        """What is taken out of the total of a step; nothing if no expectation is given for it."""
        if self.profile:
            if expected is not None:
                raise BadValue(
                    f"{argument('expected')} comes from the profile already, got {expected!r}; leave it out, or create "
                    f"the agent with {argument('typical')} in place of {argument('profile')}"
                )
            middle = added(self.profile) / len(self.profile)
            return self.trust * (self.profile[step % len(self.profile)] - middle)
        if expected is None:
            return 0.0
        if self.typical is None:
            raise BadValue(
                f"{argument('expected')} needs to know what is typical, got {expected!r}; create the agent with "
                f"{argument('typical')}, the usual mean of what is expected"
            )
        if not is_number(expected):
            raise BadValue(f"{argument('expected')} must be a finite number, got {expected!r}; None if it isn't known")
        return self.trust * (float(expected) - self.typical)


def expected_totals(profile: Sequence[float] | None, typical: float | None, trust: float | None) -> Expected:
    """The expectations of an experiment, checked."""
    if profile is None and typical is None:
        if trust is not None:
            raise BadValue(f"{argument('trust')} weighs what is expected, and nothing is; give a profile or typical")
        return Expected()
    if profile is not None and typical is not None:
        raise BadValue(f"{argument('profile')} and {argument('typical')} exclude each other; give one of them")
    weight = between("trust", 1.0 if trust is None else trust, 0, MOST_TRUST)
    if profile is None:
        if not is_number(typical):
            raise BadValue(f"{argument('typical')} must be a finite number, got {typical!r}")
        return Expected((), float(typical), weight)
    numbers = list(profile)
    if not 2 <= len(numbers) <= LONGEST:
        raise BadValue(f"{argument('profile')} must have 2 to {LONGEST:,} numbers, got {len(numbers):,}")
    for place, value in enumerate(numbers):
        if not is_number(value):
            raise BadValue(f"{argument('profile')} must have finite numbers, got {value!r} at place {place:,}")
    return Expected(tuple(float(value) for value in numbers), None, weight)


def stored_expectations(known: Expected) -> dict[str, Any]:
    """What is expected, as it is stored; nothing in an agent that expects nothing."""
    if not known.adjusts:
        return {}
    what = {"profile": list(known.profile)} if known.profile else {"typical": known.typical}
    return {**what, "trust": known.trust}


def refuse_unadjustable(policy: Policy[Any, Any], expected: Expected) -> None:
    """Refuse expectations for a policy whose statements are about totals as they are."""
    if expected.adjusts and not policy.adjustable:
        raise BadValue(
            f"{policy.name} bounds what came in, so nothing can be taken out of it; take thrift-ucb, or leave "
            f"{argument('profile' if expected.profile else 'typical')} out",
            field="profile" if expected.profile else "typical",
        )


def adjusted_policy(policy: Policy[Any, Any], expected: Expected) -> Policy[Any, Any]:
    """The policy for adjusted totals: without decisions by proved bounds, if it has that setting.

    Proved bounds need totals that are sums of rewards. Adjusted totals may be less than the rewards in them.
    """
    if not expected.adjusts or expected.trust == 0.0 or "proof" not in policy.options():
        return policy
    return without_proof(policy)


@cache
def without_proof(policy: Policy[Any, Any]) -> Policy[Any, Any]:
    make: Any = policy.configure or policy.Settings
    return replace(policy, configure=partial(make, proof="never"), bounded=False)
