"""`afterglow run`: a study, into a folder that it goes on with if it was stopped."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from afterglow.cli import options
from afterglow.cli.values import count
from afterglow.errors import BadValue

if TYPE_CHECKING:
    from afterglow.lab.study.results import Results

File = Annotated[Path, Argument(metavar="STUDY.toml", help="The study; `afterglow init` writes one to begin with.")]
Folder = Annotated[Path | None, Option("--out", metavar="DIR", help="Where results go; `results/NAME` unless set.")]
Dask = Annotated[str | None, Option(metavar="ADDRESS", help="Play on the workers of this Dask scheduler instead.")]
WARNINGS = 3  # that are told in full
Seed = Annotated[str | None, Option(metavar="S", help="In place of the study's own.")]


def command(
    study: File,
    out: Folder = None,
    threads: options.Threads = None,
    dask: Dask = None,
    seed: Seed = None,
    json: options.Json = False,
) -> None:
    """Play a study, or what is missing of it. Stop it as you like: run again, it goes on."""
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
        print(results.summary())


def to_dict(results: "Results") -> dict[str, Any]:
    """The summary as plain data, with what was played."""
    found = results.summary()
    head = {"study": results.study, "versions": results.versions, "folder": str(results.folder)}
    return head | {"cells": found.rows, "caption": found.caption}
