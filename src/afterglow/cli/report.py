"""`afterglow report`: a study's results as a page, a PDF or figures."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

Folder = Annotated[Path, Argument(metavar="RESULTS", help="The folder that `afterglow run` wrote, finished or not.")]
Out = Annotated[Path | None, Option(metavar="DIR", help="Where the report goes; `report` within RESULTS unless set.")]
Format = Annotated[str, Option(metavar="html|pdf|png", help="A page, the page as PDF, or the figures as pictures.")]
Figures = Annotated[bool, Option("--figures", help="Also every figure as SVG and PDF, for papers.")]


def command(results: Folder, out: Out = None, format: Format = "html", figures: Figures = False) -> None:  # noqa: A002
    """Write the report of a study: the answer first, then figures, tables and how to do it again."""
    from afterglow.cli.messages import one_line  # noqa: PLC0415
    from afterglow.lab.report.page import save_figures, write_report  # noqa: PLC0415
    from afterglow.lab.study.results import Results  # noqa: PLC0415  Numba takes a second to load

    found = Results(results)
    path = write_report(found, out, format)
    if figures:
        save_figures(found, (out or results / "report") / "figures")
    if not found.complete:
        done, total = found.runs_done()
        one_line(f"unfinished: the report has {done:,} of {total:,} runs; `afterglow run` goes on with the others")
    one_line(f"report: {path}")
