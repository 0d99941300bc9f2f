r"""The chance that an arm is the best, and what is lost on average by keeping one.

Arms have independent normal posteriors with mean $m_i$ and deviation $s_i$. With $F = \prod_j \Phi_j$, the chance of
arm $i$ is $\int \prod_{j \ne i} \Phi_j\,d\Phi_i$ and the mean of the best is $\int x\,dF$, both summed over the places
$m_i + s_i z$ of all arms together, so that narrow and wide ones are seen alike. No random numbers.

Posteriors of differences come from a mixture in which arms may be correlated. The $s_i^2$ are those whose sums come
closest to the variances of the differences: with $R_i = \sum_{j \ne i} V_{ij}$ and $S = \sum R_i / (2 (K - 1))$, least
squares give $s_i^2 = (R_i - S)/(K - 2)$, and $V/2$ each for two arms.
"""

import math
from collections.abc import Sequence

from afterglow.addition import added

PLACES = [0.25 * step for step in range(-20, 21)]  # z
LEAST = 0.02  # of a difference's variance, that an arm has at least
ROOT = math.sqrt(0.5)


def deviations(variances: Sequence[Sequence[float]]) -> list[float]:
    """Standard deviations of independent arms that give differences of about these variances."""
    count = len(variances)
    if count == 1:
        return [0.0]
    if count == 2:
        return [math.sqrt(0.5 * variances[0][1])] * 2
    rows = [added(value for other, value in enumerate(row) if other != arm) for arm, row in enumerate(variances)]
    whole = added(rows) / (2 * (count - 1))
    return [math.sqrt(max((row - whole) / (count - 2), LEAST * row / (count - 1))) for row in rows]


def chances(means: Sequence[float], sigmas: Sequence[float]) -> tuple[list[float], float]:
    """The chance of each arm to be the best, and the mean of the best."""
    if len(means) == 1:
        return [1.0], means[0]
    places = sorted({mean + sigma * z for mean, sigma in zip(means, sigmas, strict=True) for z in PLACES})
    found = [0.0] * len(means)
    best = 0.0
    before = [0.0] * len(means)
    others_before, all_before, place_before = [0.0] * len(means), 0.0, places[0]
    for place in places:
        below = [
            0.5 * math.erfc((mean - place) / sigma * ROOT) if sigma > 0 else float(place >= mean)
            for mean, sigma in zip(means, sigmas, strict=True)
        ]
        others = products(below)
        for arm, value in enumerate(below):
            found[arm] += 0.5 * (others[arm] + others_before[arm]) * (value - before[arm])
        everyone = others[0] * below[0]
        best += 0.5 * (place + place_before) * (everyone - all_before)
        before, others_before, all_before, place_before = below, others, everyone, place
    total = added(found)
    return [value / total for value in found], best / all_before


def products(values: Sequence[float]) -> list[float]:
    """For each value the product of all others."""
    found, product = [1.0] * len(values), 1.0
    for place, value in enumerate(values):
        found[place] = product
        product *= value
    product = 1.0
    for place in range(len(values) - 1, -1, -1):
        found[place] *= product
        product *= values[place]
    return found
