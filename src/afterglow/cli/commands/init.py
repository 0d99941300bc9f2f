"""`afterglow init`: write an example study."""

import json
from pathlib import Path
from shlex import quote
from typing import Annotated

from typer import Argument

from afterglow.cli.messages import one_line
from afterglow.errors import BadValue

EXAMPLE = """\
# A study for `afterglow run`. Where a value is a list, the study has one cell for each element.

name = {name}  # results go to results/NAME unless --out is given
question = "Which policy loses least?"  # title of the report
horizon = [1_000, 10_000]    # steps of a run; 1e6 is accepted
runs = 50                    # of each cell; with engine = "hold", run r has the same rewards for every policy
seed = 1
checkpoints = 30             # points of a curve, evenly spaced in the logarithm; or a list of steps

# told_window = ["x1/2", "world", "x2"]   # window given to the policies: steps, or a multiple of the true window
# told_horizon = false                    # don't give the horizon to policies that don't need it
# refused = "leave out"                   # skip cells that a policy refuses, instead of stopping

# Policies by name (`afterglow policies` lists them), or the path of a Python file. Other keys are settings of the
# policy, an optional `label` for tables, and optional `runs` in place of those above.
[[policies]]
policy = ["trim-ucb", "leak-ucb"]

[[policies]]
policy = "phased-ucb"
constants = ["paper", "corrected"]

# Worlds. A reward is the mean of a Bernoulli reward, or a text such as "beta:2,3"; a list of lists gives several sets.
# `arms = [3, 6, 12]` repeats the last reward for all further arms.
[[worlds]]
rewards = [0.9, 0.8, 0.7]
window = [4, 16]                       # steps over which one pull pays, including its own
spread = ["uniform", "last", "hoard"]  # when a reward arrives within its window
"""


def command(
    file: Annotated[Path, Argument(metavar="FILE", help="The file to write.")] = Path("study.toml"),
) -> None:
    """Write a commented example study that can be run as it is."""
    try:
        with file.open("x", encoding="utf-8") as made:
            made.write(EXAMPLE.format(name=json.dumps(name_for(file), ensure_ascii=False)))
    except FileExistsError:
        sentence = f"{file} exists already; give another name or remove it"
        raise BadValue(sentence, kind="file-exists", field="file") from None
    one_line(f"wrote {file}; run it with `afterglow run {quote(str(file))}`")


def name_for(file: Path) -> str:
    """A study's name from the name of its file.

    >>> name_for(Path('.say "hi".toml')), name_for(Path("..toml"))
    ('say "hi"', 'study')
    """
    stem = file.name.rpartition(".")[0] or file.name  # that of pathlib depends on the version of Python
    plain = "".join("-" if not letter.isprintable() or letter == "\\" else letter for letter in stem)
    return plain.lstrip(".") or "study"
