"""Studies: policies, worlds and horizons played as a grid, and their results."""

from afterglow.lab.study.result_table.table import ResultTable
from afterglow.lab.study.results import Results
from afterglow.lab.study.study import Study

__all__ = ["ResultTable", "Results", "Study"]
