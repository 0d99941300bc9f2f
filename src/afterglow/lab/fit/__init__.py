"""What recorded steps say about arms, their differences and the window."""

from afterglow.lab.fit.fitting import ArmMean, Fit, FitDifference, fit

__all__ = ["ArmMean", "Fit", "FitDifference", "fit"]
