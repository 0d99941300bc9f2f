"""`afterglow run`: run a study into a folder; resumes after interruption."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from afterglow.cli import options
from afterglow.cli.values import count
from afterglow.errors import BadValue

if TYPE_CHECKING:
    from afterglow.lab.study.results import Results

File = Annotated[Path, Argument(metavar="STUDY.toml", help="The study; `afterglow init` writes an example.")]
Folder = Annotated[Path | None, Option("--out", metavar="DIR", help="Folder for results; default: `results/NAME`.")]
Dask = Annotated[str | None, Option(metavar="ADDRESS", help="Run on the workers of this Dask scheduler instead.")]
WARNINGS = 3  # that are shown in full
Seed = Annotated[str | None, Option(metavar="S", help="Replaces the study's own seed.")]


def command(
    study: File,
    out: Folder = None,
    threads: options.Threads = None,
    dask: Dask = None,
    seed: Seed = None,
    json: options.Json = False,
) -> None:
    """Run a study, or what is missing of it. Resumes after interruption."""
    if threads is not None and dask is not None:
        raise BadValue("give --threads or --dask, not both; a Dask worker has threads of its own", field="dask")
    workers = None if threads is None else count("threads", threads)
    number = None if seed is None else count("seed", seed, 0)

    from afterglow.cli.messages import one_line  # noqa: PLC0415
    from afterglow.cli.study_runs import play  # noqa: PLC0415
    from afterglow.lab.study.study import Study  # noqa: PLC0415  Numba takes a second to load

    chosen = Study.read(study, number)
    folder = out if out is not None else Path("results") / chosen.name
    runs = sum(cell.runs for cell in chosen.cells)
    for sentence in chosen.left_out:
        one_line(f"left out: {sentence}")
    for sentence in chosen.warned[:WARNINGS]:
        one_line(f"warning: {sentence}")
    if len(chosen.warned) > WARNINGS:
        one_line(f"warning: and {len(chosen.warned) - WARNINGS:,} cells more")
    one_line(f"{chosen.name}: {len(chosen.cells):,} cells, {runs:,} runs, seed {chosen.seed}")
    results = play(chosen, folder, workers, dask)
    if json:
        from afterglow.cli.output import print_json  # noqa: PLC0415

        print_json(to_dict(results))
    else:
        print(results.answer())


def to_dict(results: "Results") -> dict[str, Any]:
    """The summary as plain data, with the study and the versions."""
    found = results.answer()
    head = {"study": results.study, "versions": results.versions, "folder": str(results.folder)}
    return head | {"cells": found.rows, "caption": found.caption}
