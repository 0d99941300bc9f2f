"""Options shared by several commands. Values are read as text and checked in `values`."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

Policy = Annotated[str, Option(metavar="NAME", help="A policy of `afterglow policies`.")]
PolicyOrFile = Annotated[
    str, Option("--policy", metavar="NAME|FILE.py", help="A policy of `afterglow policies`, or a file with a `policy`.")
]
Settings = Annotated[
    list[str] | None, Option("--set", metavar="KEY=VALUE", help="A setting of the policy; can be repeated.")
]
Arms = Annotated[str, Option(metavar="K", help="Number of arms.")]
Horizon = Annotated[str, Option(metavar="T", help="Number of steps; 1e6 is accepted.")]
Window = Annotated[str, Option(metavar="D", help="Steps over which one pull pays, including its own.")]
WindowIfAny = Annotated[
    str | None, Option("--window", metavar="D", help="Steps over which one pull pays, including its own.")
]
Gaps = Annotated[str | None, Option(metavar="G,G,…", help="Gaps to the best mean; default: bounds for any gaps.")]
Means = Annotated[str | None, Option(metavar="M,M,…", help="Means of Bernoulli rewards, one for each arm.")]
Reward = Annotated[
    list[str] | None,
    Option("--arm", metavar="REWARD", help="An arm's reward, such as beta:2,3 or 0.8; repeat it for each arm."),
]
WorldFile = Annotated[
    str | None,
    Option("--world", metavar="FILE.toml", help="A file with the arms, and optionally window and spread."),
]
Spread = Annotated[
    str | None, Option(metavar="NAME", help="When a reward arrives: uniform (the default), last, hoard, …")
]
Baseline = Annotated[
    str | None,
    Option(metavar="TEXT", help="Income not caused by arms, such as seasonal:0.1,0.3 or constant:0.2."),
]
Units = Annotated[str | None, Option(metavar="M", help="Several units at once, each with its own total: 2 to 200.")]
Common = Annotated[
    str | None, Option(metavar="TEXT", help="Income that all units share, such as noise:0.04,0.9; with --units.")
]
Own = Annotated[str | None, Option(metavar="TEXT", help="Income of each unit alone, such as noise:0.04; with --units.")]
Interaction = Annotated[
    str | None,
    Option(metavar="SHARE", help="How much an arm's effect differs between units, of its mean; with --units."),
]
Season = Annotated[
    str | None, Option(metavar="P", help="Length of a cycle in steps; arms are compared over whole cycles.")
]
Runs = Annotated[str, Option(metavar="N", help="Number of independent runs.")]
Seed = Annotated[str, Option(metavar="S", help="Random seed; the same seed gives the same results.")]
Engine = Annotated[str, Option(metavar="TIER", help="auto, skip, hold or step.")]
Threads = Annotated[
    str | None, Option(metavar="N", help="Threads; default: all processors. Results don't depend on it.")
]
Curve = Annotated[
    str | None, Option(metavar="N", help="Also print the regret at up to N steps, evenly spaced in the logarithm.")
]
Quick = Annotated[bool, Option("--quick", help="Fewer steps and runs: about ten seconds.")]
Out = Annotated[Path, Option(metavar="DIR", help="Folder for the report; results go to a folder inside it.")]
Step = Annotated[str | None, Option("--step", metavar="NAME", help="The column of the steps: numbers, or times.")]
Column = Annotated[str | None, Option(metavar="NAME", help="The column of the totals, if the file has several.")]
Decimal = Annotated[str | None, Option(metavar=". or ,", help="The decimal sign of the file, if it is ambiguous.")]
Zone = Annotated[str | None, Option(metavar="NAME", help="Zone of times without an offset, such as Europe/Berlin.")]
Database = Annotated[
    str, Argument(metavar="DATABASE", help="A SQLite file or a postgresql:// address.", show_default=False)
]
One = Annotated[str, Argument(metavar="NAME", help="The experiment.", show_default=False)]
OneOrAll = Annotated[str | None, Option("--experiment", metavar="NAME", help="One experiment; default: all.")]
Json = Annotated[bool, Option("--json", help="Print JSON instead of text.")]
Expected = Annotated[
    str | None,
    Option(metavar="NAME", help="The column with what was expected of each step beforehand, whatever the variant."),
]
