"""`afterglow report`: write a study's results as a page, a PDF or figures."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

Folder = Annotated[Path, Argument(metavar="RESULTS", help="The folder that `afterglow run` wrote, complete or not.")]
Out = Annotated[Path | None, Option(metavar="DIR", help="Folder for the report; default: `report` inside RESULTS.")]
Format = Annotated[str, Option(metavar="html|pdf|png", help="A page, the page as PDF, or the figures as images.")]
Figures = Annotated[bool, Option("--figures", help="Also save every figure as SVG and PDF.")]


def command(results: Folder, out: Out = None, format: Format = "html", figures: Figures = False) -> None:  # noqa: A002
    """Write the report of a study: the answer, figures, tables and how to reproduce it."""
    from afterglow.cli.messages import one_line  # noqa: PLC0415
    from afterglow.lab.report.page import save_figures, write_report  # noqa: PLC0415
    from afterglow.lab.study.results import Results  # noqa: PLC0415  Numba takes a second to load

    found = Results(results)
    path = write_report(found, out, format)
    if figures:
        save_figures(found, (out or results / "report") / "figures")
    if not found.complete:
        done, total = found.runs_done()
        one_line(f"incomplete: the report has {done:,} of {total:,} runs; `afterglow run` continues with the others")
    one_line(f"report: {path}")
