"""`Study`: policies × worlds × horizons as a grid of simulations, defined in Python or TOML.

Where a field is a list, the study has a cell for each element. With engine `step` or `hold`, run r of a seed has the
same rewards in every cell of a world, so that comparing cells run by run removes common randomness. `afterglow init`
writes an example in TOML, with comments.
"""

from dataclasses import dataclass
from pathlib import Path

from afterglow.lab.study.definition import StudyDefinition
from afterglow.lab.study.notebook import notebook_progress
from afterglow.lab.study.results import Results
from afterglow.lab.study.runner import OnProgress, run


@dataclass(frozen=True)
class Study(StudyDefinition):
    """A grid of simulations. Any field can be a list.

    `policies` are names, paths of Python files, `Policy` objects, or tables with `policy`, its settings (by name or
    as a table `options`), and `label` and `runs` if you like. `worlds` are `World` objects, or tables with `rewards`
    (one for each arm), `window`, `spread`, `baseline`, and `arms` where the last reward is that of all further arms.
    `checkpoints` is how many points a curve has, or a list of steps. `told_window` is the window that the policies are
    given in place of the world's: steps, or a multiple such as "x1/8". With the `objective` "best-arm" the horizons
    are budgets, and the report leads with the probability of recommending a wrong arm at their end.

    >>> study = Study(policies=["trim-ucb", "leak-ucb"], worlds=[{"rewards": [0.9, 0.8], "window": [4, 8]}],
    ...               horizon=1e4, runs=10)
    >>> [cell.title for cell in study.cells][:2]
    ['trim-ucb, uniform, window 4, 10,000 steps', 'leak-ucb, uniform, window 4, 10,000 steps']
    """

    def run(
        self,
        out: str | Path | None = None,
        threads: int | None = None,
        dask: str | None = None,
        progress: OnProgress | None = None,
    ) -> Results:
        """Run what is missing in the folder `out` (default `results/NAME`), on threads or a Dask cluster.

        In a notebook progress is shown unless `progress` is given. Interrupted, it keeps all finished runs.
        """
        folder = Path(out) if out is not None else Path("results") / self.name
        shown = notebook_progress() if progress is None else None
        try:
            run(self, folder, threads, dask, progress or shown)
        except KeyboardInterrupt:
            if shown is not None:
                shown.interrupted()
            raise
        return Results(folder)
