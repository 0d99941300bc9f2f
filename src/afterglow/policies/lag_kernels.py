r"""Each arm's lag kernel as `lag_ridge_ucb` has learned it: when its pulls pay, with errors.

A weight is what one pull of the arm pays on average at one lag of the bin, $\theta_{a,k}$ over the number of
lags. What the data can tell has a limit: some arm is always played, so adding $c_k$ to bin $k$ of *every* arm,
$\sum_k c_k = 0$, changes no expected total. The means are safe, and so is an arm's `excess` over the average arm
at the same lags, which is what differs between the arms. Of the shape they have in common only the first $d$ steps
tell something; the rest is the ridge's preference for small weights, and the errors of the weights stay wide.

The error of $g'\theta$ is the root of $\sigma^2 g'(V^{-1} - V^{-2})g + g'V^{-2}g$: noise, and the pull of the ridge
towards 0 for weights of about 1 per bin, more than there can be. Steps share pulls, so their noise is correlated:
$\sigma^2$ is its long-run variance, from sums of the standardised forecast errors over $4 d$ steps or more, and 1/4,
the most that rewards in [0, 1] can have, until there are eight sums. For fixed kernels of non-negative parts no
frequency of the noise has more. In simulations the errors of means are about right, those of an excess from a
fifth too narrow (random delays) to three times too wide (one smooth kernel), those of weights two to six times too
wide. A kernel that is not level within a bin adds a bias that they don't show.

Bins are told apart only when the arm changes: the errors of an excess shrink with the number of stays, those of
a mean with the number of steps.
"""

import math
from dataclasses import dataclass

from afterglow.addition import added
from afterglow.policies.lag_ridge_ucb import Settings, State

ENOUGH = 8  # sums of forecast errors


@dataclass(frozen=True)
class Lags:
    """What one pull pays at each of the lags from `first` to `last`."""

    first: int
    last: int
    weight: float
    error: float
    excess: float  # over the average arm
    excess_error: float


@dataclass(frozen=True)
class Kernel:
    """One arm: what a pull pays in all, and when."""

    mean: float
    error: float
    lags: list[Lags]


def kernels(settings: Settings, state: State) -> list[Kernel]:
    """The estimated kernel of every arm."""
    return [kernel(settings, state, arm) for arm in range(settings.arms)]


def kernel(settings: Settings, state: State, arm: int) -> Kernel:
    bins = settings.bins
    lags = []
    for k in range(bins):
        first, end = settings.edges[k], settings.edges[k + 1]
        one = {arm * bins + k: 1.0 / (end - first)}
        excess = {other * bins + k: -1.0 / (settings.arms * (end - first)) for other in range(settings.arms)}
        excess[arm * bins + k] += 1.0 / (end - first)
        lags.append(Lags(first, end - 1, *combined(settings, state, one), *combined(settings, state, excess)))
    return Kernel(*combined(settings, state, {arm * bins + k: 1.0 for k in range(bins)}), lags)


def combined(settings: Settings, state: State, factors: dict[int, float]) -> tuple[float, float]:
    """g' theta and its standard error, g given by its places."""
    size = len(state.weights)
    noise = state.batch_squares / (state.batches * settings.batch) if state.batches >= ENOUGH else 0.25
    value = added(factor * state.weights[i] for i, factor in factors.items())
    row = [added(factor * state.inverse[i * size + j] for i, factor in factors.items()) for j in range(size)]
    shrunk = added(entry * entry for entry in row)
    variance = added(factor * row[i] for i, factor in factors.items())
    return value, math.sqrt(noise * max(0.0, variance - shrunk) + shrunk)
