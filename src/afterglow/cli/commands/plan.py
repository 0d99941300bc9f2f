"""`afterglow plan`: simulate an experiment before it starts."""

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
    reward_max: RewardMax = None,
    spread: options.Spread = None,
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
        "noise": amount_of("noise", noise),
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

    reading = {"step": step, "column": column, "decimal": decimal, "zone": zone, "missing": missing}
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
