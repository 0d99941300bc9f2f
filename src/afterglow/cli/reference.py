"""The reference of all commands, made from the commands themselves: `python -m afterglow.cli.reference`."""

from textwrap import fill
from typing import Any

from afterglow.cli.app import commands

HEAD = """\
# Commands

Results go to stdout, messages and progress to stderr. Numbers may be written like `1e6`. A wrong call exits 2 and a
failure 1, each with one sentence; Ctrl-C exits 130. The first use of a policy compiles it, says so, and keeps the
machine code in the user's cache folder, or in the folder that `AFTERGLOW_CACHE` names.

This page is written by `python -m afterglow.cli.reference`.
"""
EXAMPLES = {
    "compare": "afterglow compare --quick --out report",
    "simulate": "afterglow simulate --policy phased-ucb --set constants=corrected --arm beta:2,3 --arm 0.3 "
    "\\\n    --window 10 --spread hoard --horizon 1e6 --runs 20 --json",
    "bounds": "afterglow bounds --policy phased-ucb --arms 5 --horizon 1e6 --window 10 --gaps 0.1,0.2,0.3,0.4",
    "policies": "afterglow policies --json",
}
NOTES = {
    "compare": "Writes `index.html`, a page that needs no network, `results.json` with every number, setting and "
    "version, and `figures/` as SVG and PNG. The same seed gives the same bytes.",
    "simulate": "Give the arms in one of three ways: `--means`, `--arm` for each arm, or `--world`. `--window` and "
    "`--spread` take the place of the file's own. The JSON object has `policy`, `settings`, `options`, `rewards`, "
    "`means`, `horizon`, `window`, `spread`, `runs`, `seed`, `engine`, `threads`, `regret` (`mean`, `se`), "
    "`best_arm_share`, `holds` and `switches` a run, `seconds` of simulation after compiling, and with `--curve` a "
    "`curve` (`t`, `mean`, `se`).",
    "bounds": "Without `--gaps` the bounds hold for any gaps. `null` stands for what is not proved. The figures of "
    "phased-ucb are `hold`, `log_delta`, `theorem_1_paper`, `theorem_1_corrected` and `regret_as_set`; those of the "
    "elimination family `schedule` and `theorem_2_paper`, for phased-elimination `theorem_2_sharper` too.",
    "policies": "`needs` is what must be known before the start; `settings` may be given with `--set`.",
}

MORE = {
    "simulate": """
A world in a file; a number is the mean of a Bernoulli reward:

<!-- file: world.toml -->
```toml
window = 10
spread = "dirichlet:0.5"

[[arms]]
reward = "beta:2,3"

[[arms]]
reward = 0.3
```

```sh
afterglow simulate --policy trim-ucb --world world.toml --horizon 1e5 --runs 20 --curve 5
```
"""
}


def reference() -> str:
    """The whole page."""
    return HEAD + "".join(chapter(name, command) for name, command in commands().commands.items())


def chapter(name: str, command: Any) -> str:
    """One command: what it does, an example, its options."""
    rows = "".join(row(option) for option in command.params if option.name != "help")
    return (
        f"\n## afterglow {name}\n\n{command.help.strip()}\n\n```sh\n{EXAMPLES[name]}\n```\n\n"
        f"| option | |\n|---|---|\n{rows}\n{fill(NOTES[name], 120, break_on_hyphens=False)}\n{MORE.get(name, '')}"
    )


def row(option: Any) -> str:
    """One option: how it is written, what it does, what it is if left out."""
    written = " ".join([option.opts[0], option.metavar or ""]).strip().replace("|", "\\|")
    default = "Required." if option.required else f"Default: `{option.default}`." if shown(option.default) else ""
    text = " ".join(part for part in (option.help, default) if part)
    return f"| `{written}` | {text} |\n"


def shown(default: Any) -> bool:
    """Whether a default says something."""
    return default not in (None, False, "", [], ())


if __name__ == "__main__":
    print(reference(), end="")
