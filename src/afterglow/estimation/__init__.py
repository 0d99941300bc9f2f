"""What totals say about arms: bounds, batch means, differences between arms, estimates, and the graded verdict."""

from afterglow.estimation.estimates import Difference, Estimate, Estimates
from afterglow.estimation.verdict import Verdict

__all__ = ["Difference", "Estimate", "Estimates", "Verdict"]
