"""CSV files of any common form, read into steps, arms and totals."""

from afterglow.lab.reading.panel import Panel, read_panel
from afterglow.lab.reading.tables import Steps, Totals, read_steps, read_totals

__all__ = ["Panel", "Steps", "Totals", "read_panel", "read_steps", "read_totals"]
