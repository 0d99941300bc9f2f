"""`Contrasts`: what a policy's own model of totals says of its arms, for verdicts."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Contrasts:
    """Means of arms by a regression. Only differences between arms have errors; what all share is left out of them."""

    means: tuple[float, ...]
    covariances: tuple[float, ...]  # row by row
    freedom: int  # degrees of freedom
    noise: float  # variance of one row of the regression
    rows: float  # that the horizon has, 0 if it is unknown
    span: float = 1.0  # steps of a row
    final: bool = False  # whether intervals of one look at the fixed end hold well enough to decide a grade
    played: tuple[int, ...] = ()  # steps of each arm
