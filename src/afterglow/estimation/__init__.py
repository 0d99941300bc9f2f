"""Estimates of arms from totals: bounds, batch means, differences, chances, and the graded verdict."""

from afterglow.estimation.differences import Difference
from afterglow.estimation.estimates import Estimate, Estimates
from afterglow.estimation.verdict import Verdict

__all__ = ["Difference", "Estimate", "Estimates", "Verdict"]
