"""Level, trend, cycles and noise of past totals."""

from afterglow.lab.history.estimate import History, estimate

__all__ = ["History", "estimate"]
