r"""The noise of an arm with few batches, given that of all arms: their ratio of deviations is taken for log-normal.

An arm with $f$ degrees of freedom of its own and sum of squares $S$, in units of the variance of all arms, has a
standard deviation $r$ times theirs. A priori $\log r$ is normal with deviation `SPREAD`; its posterior has the density

$$p(r) \propto r^{-f} e^{-S / 2 r^2} e^{-(\log r)^2 / 2 \tau^2},$$

and the arm's mean is a mixture of normal laws with these deviations. `comparison` reads Student's t, so the mixture is
given the variance and degrees of freedom of the t with the same tails at `NEAR` and `FAR`. Both are computed at whole
multiples of `APART` in $\log S$, when they are first needed, and interpolated.
"""

import math
from collections.abc import Callable, Sequence
from functools import cache

from afterglow.addition import added

ROOT = math.sqrt(0.5)
SPREAD = 0.8  # tau: of 95 % of arms the deviation is within a factor of five of that of all
NEAR, FAR = 0.025, 0.0005  # tails in which Student's t and the mixture agree
APART = 0.5  # of the values of log S that are computed
LEAST, MOST = 1e-4, 1e4  # values of S
GRID = [0.1 * place for place in range(-80, 81)]  # of log r, in deviations
FEWEST, LARGEST = 1.2, 200.0  # degrees of freedom
HALVINGS = 40


def spread_of(squares: float, freedom: int) -> tuple[float, float]:
    """Variance of the arm over that of all, and degrees of freedom; `squares` is its sum over the variance of all."""
    place = math.log(min(max(squares, LEAST), MOST)) / APART
    below = math.floor(place)
    share = place - below
    low, high = at_place(below, freedom), at_place(below + 1, freedom)
    value, degrees = ((1 - share) * one + share * other for one, other in zip(low, high, strict=True))
    return math.exp(value), degrees


@cache
def at_place(place: int, freedom: int) -> tuple[float, float]:
    """Logarithm of the variance, and degrees of freedom, at a multiple of `APART`."""
    squares = math.exp(APART * place)
    logs = [SPREAD * one for one in GRID]
    weights = [
        math.exp(-0.5 * one * one - freedom * log - 0.5 * squares * math.exp(-2 * log))
        for one, log in zip(GRID, logs, strict=True)
    ]
    return student_like(weights, [math.exp(log) for log in logs])


def student_like(weights: Sequence[float], deviations: Sequence[float]) -> tuple[float, float]:
    """Logarithm of the variance, and degrees of freedom, of the Student's t with the tails of a normal mixture."""
    whole = added(weights)

    def beyond(value: float) -> float:
        terms = zip(weights, deviations, strict=True)
        return 0.5 * added(weight * math.erfc(value / deviation * ROOT) for weight, deviation in terms) / whole

    near, far = quantile(NEAR, beyond), quantile(FAR, beyond)
    fewest, most = FEWEST, LARGEST
    for _ in range(HALVINGS):
        middle = math.sqrt(fewest * most)
        of_student = [quantile(one, lambda value: tail(value, middle)) for one in (NEAR, FAR)]  # noqa: B023
        if of_student[1] / of_student[0] > far / near:
            fewest = middle
        else:
            most = middle
    return 2 * math.log(near / quantile(NEAR, lambda value: tail(value, most))), most


def quantile(probability: float, beyond: Callable[[float], float]) -> float:
    """The value beyond which lies this probability, by halving."""
    near, far = 0.0, 1e4
    for _ in range(HALVINGS):
        middle = 0.5 * (near + far)
        if beyond(middle) > probability:
            near = middle
        else:
            far = middle
    return far


def tail(value: float, freedom: float) -> float:
    """P(T > value) of Student's t: the normal tail at Wallace's transform (1959), right within 4 % of 1 - 95 %."""
    z = (8 * freedom + 1) / (8 * freedom + 3) * math.sqrt(freedom * math.log1p(value * value / freedom))
    return 0.5 * math.erfc(math.copysign(z, value) * ROOT)
