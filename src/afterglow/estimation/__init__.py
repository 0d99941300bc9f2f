"""Estimates of arms from totals: bounds, batch means, differences."""

from afterglow.estimation.estimates import Difference, Estimate, Estimates

__all__ = ["Difference", "Estimate", "Estimates"]
