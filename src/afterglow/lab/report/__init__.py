"""Reports of studies: pages, PDF files and figures."""

from afterglow.lab.report.figure_files import save_figures
from afterglow.lab.report.lemmas import observe, observe_all
from afterglow.lab.report.page import write_report

__all__ = ["observe", "observe_all", "save_figures", "write_report"]
