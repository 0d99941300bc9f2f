"""What totals say about arms: bounds, batch means, differences between arms, and estimates as users read them."""

from afterglow.estimation.estimates import Difference, Estimate, Estimates

__all__ = ["Difference", "Estimate", "Estimates"]
