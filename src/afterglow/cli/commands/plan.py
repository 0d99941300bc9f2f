"""`afterglow plan`: simulate an experiment before it starts."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from afterglow.checks import number_of
from afterglow.cli import options
from afterglow.cli.values import count
from afterglow.errors import BadValue, argument

Gap = Annotated[str, Option(metavar="G", help="Lead of the best arm, relative to the mean: 0.05 or 5%.")]
Mean = Annotated[str | None, Option(metavar="M", help="Mean total of a step today; default: half of --reward-max.")]
Noise = Annotated[
    str | None, Option(metavar="SD", help="Standard deviation of one pull's reward; default: the largest possible.")
]
Swing = Annotated[str | None, Option(metavar="S", help="Amplitude of the cycle, relative to the mean; default: 0.2.")]
History = Annotated[
    Path | None, Option(metavar="FILE.csv", help="Past totals, from which mean, noise and season are estimated.")
]
Missing = Annotated[str | None, Option(metavar="nan|zero", help="Steps without a total are unknown (nan) or 0 (zero).")]
RewardMax = Annotated[
    str | None, Option(metavar="R", help="Maximum reward of one pull; default: 1, or estimated from the history.")
]
Units = Annotated[
    str | None,
    Option(metavar="M", help="Several units at once, each with its own total; noise is a share of the level."),
]
Unit = Annotated[str | None, Option("--unit", metavar="NAME", help="The history's column of units, with --units.")]
SharedNoise = Annotated[
    str | None, Option(metavar="SD", help="Deviation of what all units share, of the level; with --units.")
]
SharedCorrelation = Annotated[
    str | None, Option(metavar="R", help="Correlation of what units share from step to step; with --units.")
]
Purpose = Annotated[
    str, Option("--for", metavar="earning|knowing", help="Lose little, or a schedule whose exact test tells.")
]
Out = Annotated[Path | None, Option(metavar="DIR", help="Also write a report page and plan.json to this folder.")]


def command(
    arms: options.Arms,
    window: options.Window,
    horizon: options.Horizon,
    gap: Gap,
    mean: Mean = None,
    noise: Noise = None,
    season: options.Season = None,
    swing: Swing = None,
    history: History = None,
    step: options.Step = None,
    column: options.Column = None,
    decimal: options.Decimal = None,
    zone: options.Zone = None,
    missing: Missing = None,
    expected: options.Expected = None,
    reward_max: RewardMax = None,
    spread: options.Spread = None,
    units: Units = None,
    unit: Unit = None,
    shared_noise: SharedNoise = None,
    shared_correlation: SharedCorrelation = None,
    purpose: Purpose = "earning",
    runs: options.Runs = "600",
    seed: options.Seed = "1",
    threads: options.Threads = None,
    out: Out = None,
    json: options.Json = False,
) -> None:
    """Simulate an experiment before it starts: how often is the best arm found, and how much is lost?"""
    if purpose not in ("earning", "knowing"):
        raise BadValue(f"--for must be earning or knowing, got {purpose!r}", field="for")
    given: dict[str, Any] = {
        "arms": count("arms", arms, 2),
        "window": count("window", window),
        "horizon": count("horizon", horizon),
        "gap": share("gap", gap),
        "mean": amount_of("mean", mean),
        "noise": None if units is not None else amount_of("noise", noise),
        "season": None if season is None else count("season", season),
        "swing": None if swing is None else share("swing", swing),
        "reward_max": amount_of("reward_max", reward_max),
        "spread": spread or "uniform",
        "purpose": purpose,
        "runs": count("runs", runs, 2),
        "seed": count("seed", seed, 0),
        "threads": None if threads is None else count("threads", threads),
    }

    from afterglow.cli.progress import progress  # noqa: PLC0415
    from afterglow.lab.plan.planner import plan  # noqa: PLC0415  Numba takes a second to load

    for_units = {"unit": unit, "shared_noise": shared_noise, "shared_correlation": shared_correlation}
    how = {"step": step, "column": column, "decimal": decimal, "zone": zone}
    if units is not None:
        single = {
            "mean": mean,
            "swing": swing,
            "season": season,
            "reward_max": reward_max,
            "missing": missing,
            "expected": expected,
        }
        refuse(single | {"out": out}, "is for one total, not for a plan with --units; leave it out")
        if purpose == "knowing":
            sentence = "--for knowing is for one total; every plan with --units ends in an exact test, leave it out"
            raise BadValue(sentence, field="for")
        plan_of_units(given, units, noise, for_units, {**how, "history": history}, json)
        return
    refuse(for_units, "describes units; give --units too")
    reading = {**how, "missing": missing, "expected": expected}
    said = {name: value for name, value in reading.items() if value is not None}
    with progress() as show_progress:
        found = plan(**given, history=history, reading=said, progress=lambda done, what: show_progress(done, what, ""))
    if json:
        from afterglow.cli.output import print_json  # noqa: PLC0415

        print_json(found.to_dict())
    else:
        from afterglow.cli.plan_output import show  # noqa: PLC0415

        show(found)
    if out is not None:
        from afterglow.cli.messages import one_line  # noqa: PLC0415
        from afterglow.lab.plan.page import write  # noqa: PLC0415

        one_line(f"report: {write(found, out)}")


def plan_of_units(
    given: Mapping[str, Any], units: str, noise: str | None, for_units: Mapping[str, str | None],
    reading: Mapping[str, Any], json: bool,
) -> None:  # fmt: skip
    """The plan of an experiment over several units."""
    from afterglow.cli.units_output import print_plan  # noqa: PLC0415

    asked = {name: given[name] for name in ("arms", "window", "horizon", "gap", "spread", "runs", "seed", "threads")}
    for name, text in (("noise", noise), ("shared_noise", for_units["shared_noise"])):
        asked |= {} if text is None else {name: share(name, text)}
    asked["shared_correlation"] = amount_of("shared_correlation", for_units["shared_correlation"])
    said = {**reading, "unit": for_units["unit"]}
    asked |= {name: value for name, value in said.items() if value is not None}
    print_plan(asked | {"units": count("units", units, 2)}, json)


def refuse(given: Mapping[str, object], why: str) -> None:
    """Refuse options that don't fit the kind of plan."""
    for name, value in given.items():
        if value is not None:
            raise BadValue(f"{argument(name)} {why}")


def share(name: str, text: str) -> float:
    """A share as a number or in percent."""
    plain = text.strip()
    percent = plain.endswith("%")
    value = amount_of(name, plain.removesuffix("%").strip()) or 0.0
    if value >= 1 and not percent:
        rule = "must be a share, such as 0.05 or 5%"
        raise BadValue(f"{argument(name)} {rule}, got {plain}; did you mean {plain}%?")
    return value / (100 if percent else 1)


def amount_of(name: str, text: str | None) -> float | None:
    if text is None:
        return None
    value = number_of(text.strip())
    if isinstance(value, str):
        way_out = "; the decimal sign is a point, and there are no thousands signs" if "," in value else ""
        raise BadValue(f"{argument(name)} must be a number, got {text!r}{way_out}")
    return float(value)
