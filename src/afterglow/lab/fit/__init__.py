"""Fits of recorded steps: means, differences and lag kernels of arms, and a test of the window."""

from afterglow.lab.fit.design_test import DesignTest, design_test
from afterglow.lab.fit.fitting import ArmMean, Fit, FitDifference, fit

__all__ = ["ArmMean", "DesignTest", "Fit", "FitDifference", "design_test", "fit"]
