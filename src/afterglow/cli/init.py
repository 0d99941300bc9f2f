"""`afterglow init`: a study to begin with."""

import json
from pathlib import Path
from shlex import quote
from typing import Annotated

from typer import Argument

from afterglow.cli.messages import one_line
from afterglow.errors import BadValue

EXAMPLE = """\
# A study for `afterglow run`. Where a value is a list, the study has a cell for each of its values.

name = {name}  # results go to a folder of this name in results/ unless --out says otherwise
question = "Which policy loses least?"  # the headline of the report
horizon = [1_000, 10_000]    # steps of a run; 1e6 is fine
runs = 50                    # of each cell; with engine = "hold" run r meets the same rewards whatever the policy
seed = 1
checkpoints = 30             # points of a curve, evenly spaced in the logarithm; or a list of steps

# told_window = ["x1/2", "world", "x2"]   # what the policies are told: steps, or a multiple of the true window
# told_horizon = false                    # policies that can do without it are not told the horizon
# refused = "leave out"                   # go on without the cells that a policy refuses, instead of stopping

# Policies by name (`afterglow policies` lists them), or the path of a Python file. What follows are settings of the
# policy, and if you like a `label` for tables and `runs` in place of those above.
[[policies]]
policy = ["trim-ucb", "leak-ucb"]

[[policies]]
policy = "phased-ucb"
constants = ["paper", "corrected"]

# Worlds. A reward is the mean of a Bernoulli reward, or a text such as "beta:2,3"; a list of lists for several sets.
# `arms = [3, 6, 12]` repeats the last reward for all further arms.
[[worlds]]
rewards = [0.9, 0.8, 0.7]
window = [4, 16]                       # steps over which one pull pays, its own included
spread = ["uniform", "last", "hoard"]  # when a reward arrives within its window
"""


def command(
    file: Annotated[Path, Argument(metavar="FILE", help="The file to write.")] = Path("study.toml"),
) -> None:
    """Write a commented study that runs as it is."""
    try:
        with file.open("x", encoding="utf-8") as made:
            made.write(EXAMPLE.format(name=json.dumps(name_for(file), ensure_ascii=False)))
    except FileExistsError:
        sentence = f"{file} exists already; give another name or remove it"
        raise BadValue(sentence, kind="file-exists", field="file") from None
    one_line(f"wrote {file}; play it with `afterglow run {quote(str(file))}`")


def name_for(file: Path) -> str:
    """The file's name as that of a study.

    >>> name_for(Path('.say "hi".toml')), name_for(Path("..toml"))
    ('say "hi"', 'study')
    """
    plain = "".join("-" if not letter.isprintable() or letter == "\\" else letter for letter in file.stem)
    return plain.lstrip(".") or "study"
