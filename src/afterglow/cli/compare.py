"""`afterglow compare`: the default study, a table here and a report in a folder."""

from pathlib import Path
from typing import TYPE_CHECKING

from afterglow.cli import options
from afterglow.cli.values import count

if TYPE_CHECKING:
    from rich.table import Table

    from afterglow.lab.compare import Comparison


def command(
    quick: options.Quick = False,
    out: options.Out = Path("out"),
    seed: options.Seed = "1",
    threads: options.Threads = None,
    json: options.Json = False,
) -> None:
    """Compare all policies over benign and adversarial spreads: a table, and a report with figures."""
    number = count("seed", seed, 0)
    workers = None if threads is None else count("threads", threads)
    out.mkdir(parents=True, exist_ok=True)

    from afterglow.cli.messages import one_line  # noqa: PLC0415
    from afterglow.cli.progress import progress  # noqa: PLC0415
    from afterglow.lab.compare import QUICK, Study, compare  # noqa: PLC0415  Numba takes a second to load

    study = QUICK if quick else Study()
    one_line(
        f"comparing {len(study.entries)} policies over {len(study.spreads)} spreads, "
        f"{study.horizon:,} steps, seed {number}"
    )
    with progress() as tell:
        comparison = compare(study, number, workers, tell)

    from afterglow.lab.report import results, write  # noqa: PLC0415

    if json:
        from afterglow.cli.output import print_json  # noqa: PLC0415

        print_json(results(comparison))
    else:
        show(comparison)
    page = write(comparison, out)
    one_line(f"report: {page}")


def show(comparison: "Comparison") -> None:
    from afterglow.cli.output import console  # noqa: PLC0415

    study, screen = comparison.study, console()
    screen.print(
        f"mean regret ± standard error after {study.horizon:,} steps: Bernoulli arms "
        f"{', '.join(f'{mean:g}' for mean in study.means)}, window {study.window}, seed {comparison.seed}\n"
    )
    screen.print(table(comparison))
    screen.print(
        "\n[dim]in the order of the worst spread; * least of its column, the reference attributed-ucb apart\n"
        f"playing at random: {study.random_play:,.0f}; hoard, handicap and chameleon are adversaries\n"
        "bound: Theorems 1 and 2 of Garg & Akash as printed, Theorem 1 corrected, ours for trim-ucb;\n"
        "(in brackets: above what playing the worst arm throughout would lose, so it says nothing yet)[/dim]"
    )


def table(comparison: "Comparison") -> "Table":
    """Policies by spreads, the best first."""
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    study = comparison.study
    best = {spread: comparison.best(spread) for spread in study.spreads}
    worst = (max(study.means) - min(study.means)) * study.horizon
    made = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, pad_edge=False)
    made.add_column("policy", no_wrap=True)
    for spread in study.spreads:
        made.add_column(spread, justify="right")
    made.add_column("bound", justify="right")
    for standing in comparison.ranking():
        label = standing.entry.label
        cells = []
        for spread in study.spreads:
            regret = comparison.cell(label, spread).regret
            text = f"{regret.mean:.0f} ±{regret.se:.0f}"
            cells.append(f"[bold green]*{text}[/]" if best[spread] == label else text)
        reference = standing.entry.kind == "reference"
        bound = "" if standing.bound is None else f"{standing.bound:.0f}"
        if standing.bound is not None and standing.bound > worst:
            bound = f"({bound})"
        made.add_row(label, *cells, bound, style="dim" if reference else None)
    return made
