"""`afterglow report`: write a study's results as a page, a PDF or figures."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from afterglow.cli.values import count
from afterglow.errors import BadValue

Folder = Annotated[Path, Argument(metavar="RESULTS", help="The folder that `afterglow run` wrote, complete or not.")]
Out = Annotated[Path | None, Option(metavar="DIR", help="Folder for the report; default: `report` inside RESULTS.")]
Format = Annotated[str, Option(metavar="html|pdf|png", help="A page, the page as PDF, or the figures as images.")]
Figures = Annotated[bool, Option("--figures", help="Also save every figure as SVG and PDF, with an index.")]
Panels = Annotated[str, Option(metavar="N|all", help="How many figures of a kind the page has at most.")]
Size = Annotated[str | None, Option(metavar="column|page|slide", help="Size of the figures saved by --figures.")]
Style = Annotated[str | None, Option(metavar="STYLE", help="Matplotlib style of these figures: a name or a file.")]


def command(
    results: Folder,
    out: Out = None,
    format: Format = "html",  # noqa: A002
    figures: Figures = False,
    panels: Panels = "9",
    size: Size = None,
    style: Style = None,
) -> None:
    """Write the report of a study: the answer, figures, tables and how to reproduce it."""
    from afterglow.cli.messages import one_line  # noqa: PLC0415
    from afterglow.lab.report.figure_files import save_figures  # noqa: PLC0415
    from afterglow.lab.report.page import write_report  # noqa: PLC0415
    from afterglow.lab.study.results import Results  # noqa: PLC0415  Numba takes a second to load

    found = Results(results)
    most: int | str = panels if panels == "all" else count("panels", panels, 2)
    if (size or style) and not figures:
        raise BadValue("--size and --style are for the files of --figures; add it, or leave them out", field="figures")
    path = write_report(found, out, format, most)
    if figures:
        save_figures(found, (out or results / "report") / "figures", size=size, style=style)
    if not found.complete:
        done, total = found.runs_done()
        one_line(f"incomplete: the report has {done:,} of {total:,} runs; `afterglow run` continues with the others")
    one_line(f"report: {path}")
