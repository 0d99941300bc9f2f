"""`afterglow simulate`: run one policy in one world many times."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from afterglow.checks import at_most, between, number_of
from afterglow.cli import options
from afterglow.cli.progress import progress
from afterglow.cli.values import assignments, count
from afterglow.errors import BadValue
from afterglow.policies.registry import DEFAULT

Explained = Annotated[
    str | None,
    Option(metavar="SHARE|season", help="Share of the baseline's noise that is expected and taken out, or season."),
]

if TYPE_CHECKING:
    from afterglow.engine.outcome import Outcome
    from afterglow.worlds.units_world import UnitsWorld
    from afterglow.worlds.world import World


def command(
    horizon: options.Horizon,
    policy: options.PolicyOrFile = DEFAULT,
    means: options.Means = None,
    arm: options.Reward = None,
    world: options.WorldFile = None,
    window: options.WindowIfAny = None,
    spread: options.Spread = None,
    baseline: options.Baseline = None,
    season: options.Season = None,
    explained: Explained = None,
    units: options.Units = None,
    common: options.Common = None,
    own: options.Own = None,
    interaction: options.Interaction = None,
    settings: options.Settings = None,
    runs: options.Runs = "100",
    seed: options.Seed = "1",
    engine: options.Engine = "auto",
    threads: options.Threads = None,
    curve: options.Curve = None,
    json: options.Json = False,
) -> None:
    """Run one policy in one world many times and print its regret."""
    from afterglow.lab.study.code.policy_files import policy_from  # noqa: PLC0415

    chosen = policy_from(policy)
    given = assignments(chosen, settings or [])
    place = world_of(means, arm, world, window, spread, baseline)
    field = with_units(place, units, common, own, interaction)
    cycle = 1 if season is None else count("season", season)
    share = None if explained is None else number_of(explained)
    steps, times = count("horizon", horizon), count("runs", runs)
    numbered = count("seed", seed, 0)
    workers = None if threads is None else count("threads", threads)
    points = None if curve is None else at_most("curve", count("curve", curve), 100_000)

    from afterglow.engine.simulate import log_marks, simulate  # noqa: PLC0415  Numba takes a second to load

    marks = log_marks(steps, points) if points else ()
    playing = f"{chosen.name}, {steps:,} steps"
    with progress() as show_progress:
        outcome = simulate(
            chosen, field, steps, times, numbered, given, engine, workers, marks, season=cycle, explained=share,
            progress=lambda done: show_progress(done / times, playing, f"{done:,} of {times:,} runs"),
        )  # fmt: skip
    found = outcome.summary() | {"options": given, "rewards": [law.text for law in place.rewards]}
    if points:
        found["curve"] = curve_of(outcome)
    if json:
        from afterglow.cli.output import print_json  # noqa: PLC0415

        print_json(found)
    else:
        show(found)


def world_of(
    means: str | None,
    arm: list[str] | None,
    world: str | None,
    window: str | None,
    spread: str | None,
    baseline: str | None = None,
) -> "World":
    """The world that the options describe."""
    given = [name for name, value in (("--means", means), ("--arm", arm), ("--world", world)) if value]
    if len(given) != 1:
        ways = "--means 0.9,0.8, --arm REWARD --arm REWARD, --world FILE.toml"
        raise BadValue(f"give one of {ways}, got {' and '.join(given) or 'none'}", field="means")
    steps = None if window is None else count("window", window)
    if world:
        from afterglow.worlds.files import read_world  # noqa: PLC0415

        return with_baseline(read_world(world, steps, spread), baseline)
    if steps is None:
        raise BadValue("give --window, the steps over which one pull pays (1 = paid at once)", field="window")
    from afterglow.worlds.world import World  # noqa: PLC0415

    return World.of(arm or bernoulli(means or ""), steps, spread or "uniform", baseline)


def with_units(
    world: "World", units: str | None, common: str | None, own: str | None, interaction: str | None
) -> "World | UnitsWorld":  # fmt: skip
    """The world of one total, or of several units with the same arms."""
    given = [name for name, value in (("--common", common), ("--own", own), ("--interaction", interaction)) if value]
    if units is None:
        if given:
            raise BadValue(f"{given[0]} describes units; give --units too", field=given[0].removeprefix("--"))
        return world
    if world.baseline.parts:
        raise BadValue("--baseline is income of one total; with --units give --common and --own", field="baseline")
    from afterglow.worlds.units_world import UnitsWorld  # noqa: PLC0415

    differ = 0.0 if interaction is None else between("interaction", number_of(interaction), 0, 10)
    return UnitsWorld.of(world.rewards, world.window, count("units", units), world.spread, common, own, differ)


def with_baseline(world: "World", text: str | None) -> "World":
    """The world, with a baseline in place of its own if one is given."""
    from afterglow.worlds.baseline import baseline  # noqa: PLC0415

    return world if text is None else replace(world, baseline=baseline(text))


def bernoulli(text: str) -> list[float]:
    """Means separated by commas."""
    found = []
    for part in text.split(","):
        mean = number_of(part.strip())
        if isinstance(mean, str):
            sentence = f"--means takes numbers, got {mean!r}; write other rewards as --arm beta:2,3 --arm 0.8"
            raise BadValue(sentence, field="means")
        found.append(float(mean))
    return found


def curve_of(outcome: "Outcome") -> dict[str, Any]:
    """Regret at the checkpoints: steps, means and standard errors."""
    from afterglow.engine.outcome import Mean  # noqa: PLC0415

    points = [Mean.of(column) for column in outcome.curves.T]
    alone = outcome.runs == 1
    return {
        "t": outcome.checkpoints.tolist(),
        "mean": [point.mean for point in points],
        "se": [None if alone else point.se for point in points],
    }


def show(found: dict[str, Any]) -> None:
    from rich.table import Table  # noqa: PLC0415

    from afterglow.cli.output import console  # noqa: PLC0415
    from afterglow.lab.rendering.rounding import amount, plus_minus  # noqa: PLC0415

    screen = console()
    table = Table.grid(padding=(0, 2))
    for label, text in (
        ("policy", " ".join([found["policy"], *(f"{name}={value}" for name, value in found["options"].items())])),
        ("rewards", "  ".join(found["rewards"])),
        ("spread", f"{found['spread']}, window {found['window']:,}"),
        *([("units", f"{found['units']:,}")] if "units" in found else []),
        *((name, found[name]) for name in ("common", "own") if name in found),
        *([("baseline", found["baseline"])] if "baseline" in found else []),
        ("steps", f"{found['horizon']:,}, {found['runs']:,} runs, seed {found['seed']}"),
        ("engine", f"{found['engine']}, {found['threads']} threads, {found['seconds']:.3g} s"),
        ("regret", f"[bold]{plus_minus(found['regret']['mean'], found['regret']['se'])}[/bold]"),
        ("best arm", f"{found['best_arm_share']:.2%} of the {'unit-' * ('units' in found)}steps"),
        ("holds", f"{amount(found['holds'])} per run, {amount(found['switches'])} changes of arm"),
    ):
        table.add_row(f"[dim]{label}[/dim]", text)
    screen.print(table)
    if "curve" in found:
        screen.print()
        curve = Table("step", "regret", "±", box=None, padding=(0, 2, 0, 0), header_style="dim")
        for column in curve.columns:
            column.justify = "right"
        for t, mean, se in zip(*found["curve"].values(), strict=True):
            curve.add_row(f"{t:,}", amount(mean), "" if se is None else amount(se))
        screen.print(curve)
