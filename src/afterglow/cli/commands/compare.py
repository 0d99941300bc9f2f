"""`afterglow compare`: run the default study; print a table and write a report."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from afterglow.cli import options
from afterglow.cli.values import count

if TYPE_CHECKING:
    from rich.table import Table

    from afterglow.lab.report.groups import Group, Groups


def command(
    quick: options.Quick = False,
    out: options.Out = Path("out"),
    seed: options.Seed = "1",
    threads: options.Threads = None,
    json: options.Json = False,
) -> None:
    """Compare all policies over benign and adversarial spreads. Resumes after interruption."""
    number = count("seed", seed, 0)
    workers = None if threads is None else count("threads", threads)
    out.mkdir(parents=True, exist_ok=True)

    from afterglow.cli.messages import one_line  # noqa: PLC0415
    from afterglow.cli.study_runs import play  # noqa: PLC0415
    from afterglow.lab.report import page  # noqa: PLC0415  Numba takes a second to load
    from afterglow.lab.report.groups import Groups  # noqa: PLC0415
    from afterglow.lab.study import compare  # noqa: PLC0415  Numba takes a second to load

    study = compare.comparison(number, compare.QUICK if quick else compare.FULL)
    labels = {cell.label for cell in study.cells}
    spreads = {cell.world.spread.text for cell in study.cells}
    one_line(f"comparing {len(labels)} policies over {len(spreads)} spreads, {study.horizon:,} steps, seed {number}")
    results = play(study, compare.folder_for(study, out), workers)
    groups = Groups(results)
    if json:
        from afterglow.cli.output import print_json  # noqa: PLC0415

        print_json(to_dict(groups))
    else:
        show(groups)
    one_line(f"report: {page.write_report(results, out)}")


def to_dict(groups: "Groups") -> dict[str, Any]:
    """The summary of `afterglow run` with the ranking and the theorem bounds."""
    from afterglow.cli.commands.run_study import to_dict as summary  # noqa: PLC0415
    from afterglow.lab.report.theorem_bounds import theorem_bounds_of  # noqa: PLC0415

    ranking = [
        {"label": one.label, "share": one.share.value, "worst": one.worst_share.value} | spread_of(one.worst)
        for one in groups.ranking
    ]
    bounds = [
        {"label": one.label, "theorem": one.theorem, "bound": one.bound, "regret": one.regret.value}
        | spread_of(one.group)
        for one in theorem_bounds_of(groups)
    ]
    return summary(groups.results) | {"ranking": ranking, "bounds": bounds}


def spread_of(group: "Group") -> dict[str, str]:
    return {"spread": group.place["spread"]}


def show(groups: "Groups") -> None:
    from afterglow.cli.output import console  # noqa: PLC0415

    group, screen = groups.all[0], console()
    place = group.place
    screen.print(
        f"mean regret ± standard error after {place['horizon']:,} steps: Bernoulli arms "
        f"{', '.join(place['rewards'].split())}, window {place['window']}, seed {place['seed']}\n"
    )
    screen.print(table(groups))
    screen.print(
        "\n[dim]sorted by the average; * smallest in its column, not counting the reference attributed-ucb\n"
        f"random play: {group.at_random:,.0f}; hoard, handicap and chameleon are adversaries\n"
        "bound: Theorems 1 and 2 of Garg & Akash as printed, Theorem 1 corrected, ours for trim-ucb;\n"
        "(in brackets: larger than the regret of always playing the worst arm, so not informative)[/dim]"
    )


def table(groups: "Groups") -> "Table":
    """Policies by spreads, the best first."""
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    made = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, pad_edge=False)
    made.add_column("policy", no_wrap=True)
    for title in (*(group.place["spread"] for group in groups.all), "average", "bound"):
        made.add_column(title, justify="right")
    live = [standing.label for standing in groups.ranking if not standing.reference]
    best = [min(live, key=lambda label: groups.regret(group, label).value) for group in groups.all]
    for standing in groups.ranking:
        label = standing.label
        cells = [regret_text(groups, group, label, best[x] == label) for x, group in enumerate(groups.all)]
        average = f"{standing.share.value * groups.all[0].at_random:.0f}"
        made.add_row(
            label, *cells, average, bound_text(groups.all[0], label), style="dim" if standing.reference else None
        )
    return made


def regret_text(groups: "Groups", group: "Group", label: str, best: bool) -> str:
    from afterglow.engine.outcome import Mean  # noqa: PLC0415

    regret = Mean.of(groups.results.runs_of(group.cells[label]["cell"])["regret"])
    text = f"{regret.mean:.0f} ±{regret.se:.0f}"
    return f"[bold green]*{text}[/]" if best else text


def bound_text(group: "Group", label: str) -> str:
    """The theorem's bound, in brackets if it is larger than any regret."""
    from afterglow.lab.report.theorem_bounds import bound  # noqa: PLC0415

    most = bound(group, label)
    text = "" if most is None else f"{most:.0f}"
    return f"({text})" if most is not None and most > group.most else text
