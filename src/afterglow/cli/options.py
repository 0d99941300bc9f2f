"""The options of the commands. All arrive as texts, so that `values` can say what is wrong with one."""

from pathlib import Path
from typing import Annotated

from typer import Option

Policy = Annotated[str, Option(metavar="NAME", help="A policy of `afterglow policies`.")]
PolicyOrFile = Annotated[
    str, Option("--policy", metavar="NAME|FILE.py", help="A policy of `afterglow policies`, or a file with a `policy`.")
]
Settings = Annotated[
    list[str] | None, Option("--set", metavar="KEY=VALUE", help="A setting of the policy; may be repeated.")
]
Arms = Annotated[str, Option(metavar="K", help="How many arms.")]
Horizon = Annotated[str, Option(metavar="T", help="How many steps; 1e6 is fine.")]
Window = Annotated[str, Option(metavar="D", help="Steps over which one pull pays, its own included.")]
WindowIfAny = Annotated[
    str | None, Option("--window", metavar="D", help="Steps over which one pull pays, its own included.")
]
Gaps = Annotated[
    str | None, Option(metavar="G,G,…", help="Gaps to the best mean, for bounds that hold for those; else for any.")
]
Means = Annotated[str | None, Option(metavar="M,M,…", help="Means of Bernoulli rewards, one for each arm.")]
Reward = Annotated[
    list[str] | None,
    Option("--arm", metavar="REWARD", help="An arm's reward, such as beta:2,3 or 0.8; repeat it for each arm."),
]
WorldFile = Annotated[
    str | None,
    Option("--world", metavar="FILE.toml", help="A file with the arms, and window and spread if it likes."),
]
Spread = Annotated[
    str | None, Option(metavar="NAME", help="When a reward arrives: uniform (the default), last, hoard, …")
]
Baseline = Annotated[
    str | None, Option(metavar="TEXT", help="Income that no arm causes, such as seasonal:0.1,0.3 or constant:0.2.")
]
Season = Annotated[str | None, Option(metavar="P", help="Length of a cycle in steps: whole cycles are counted.")]
Runs = Annotated[str, Option(metavar="N", help="How many independent runs.")]
Seed = Annotated[str, Option(metavar="S", help="The same seed gives the same results.")]
Engine = Annotated[str, Option(metavar="TIER", help="auto, skip, hold or step.")]
Threads = Annotated[str | None, Option(metavar="N", help="As many as processors unless set; results are the same.")]
Curve = Annotated[
    str | None, Option(metavar="N", help="Also the regret at up to N steps, evenly spaced in the logarithm.")
]
Quick = Annotated[bool, Option("--quick", help="Shorter and with fewer runs: about ten seconds.")]
Out = Annotated[Path, Option(metavar="DIR", help="Where the report goes, and results in a folder within.")]
Step = Annotated[str | None, Option("--step", metavar="NAME", help="The column of the steps: numbers, or times.")]
Column = Annotated[str | None, Option(metavar="NAME", help="The column of the totals, if the file has several.")]
Decimal = Annotated[str | None, Option(metavar=". or ,", help="The decimal sign of the file, if it can't be told.")]
Zone = Annotated[str | None, Option(metavar="NAME", help="Of times without an offset, such as Europe/Berlin.")]
Json = Annotated[bool, Option("--json", help="Print JSON for programs, not text for people.")]
