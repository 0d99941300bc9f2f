"""The reference of all commands, made from the commands themselves: `python -m afterglow.cli.reference`."""

from collections.abc import Iterator
from dataclasses import fields
from textwrap import fill
from typing import Any

from afterglow.cli.app import commands
from afterglow.service.settings import MEANINGS, Settings

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
    "init": "afterglow init small.toml",
    "run": "afterglow run small.toml --out small --threads 2",
    "report": "afterglow report small --out small-report",
    "plan": "afterglow plan --arms 3 --window 24 --horizon 2000 --gap 0.05 --mean 0.4 --noise 0.1 --season 24",
    "fit": "afterglow fit steps.csv --window 2 --reward-max 9",
    "verify": "afterglow verify experiments.db",
    "backup": "afterglow backup experiments.db copy.db",
    "export": "afterglow export experiments.db shipping --format jsonl",
    "migrate": "afterglow migrate copy.db",
    "serve": "afterglow serve --db experiments.db --port 8321",
    "token create": "afterglow token create --scope decide --scope report --experiment shipping --expires 30d "
    "--label shop",
    "token list": "afterglow token list --json",
    "token revoke": "afterglow token revoke 5f3a1c09d2e7",
}
NOTES = {
    "compare": "A study like any other: stopped, it goes on where it was, and called again it plays nothing twice. Its "
    "tables go to a folder of their own in `results/` for every seed, size and version, for `afterglow report` and "
    "`Results`; `index.html`, the page of the study that was asked for last, needs no network. The same seed gives the "
    "same bytes. The JSON object has what that of `afterglow run` has, `ranking` (`share` of random play's regret on "
    "average, and where it is `worst`) and `bounds` beside the `regret` that comes closest to them. See the guide "
    "[Reading a report](../guides/reading-a-report.md).",
    "simulate": "Give the arms in one of three ways: `--means`, `--arm` for each arm, or `--world`. `--window` and "
    "`--spread` take the place of the file's own. The JSON object has `policy`, `settings`, `options`, `rewards`, "
    "`means`, `horizon`, `window`, `spread`, `runs`, `seed`, `engine`, `threads`, `regret` (`mean`, `se`), "
    "`best_arm_share`, `holds` and `switches` a run, `seconds` of simulation after compiling, and with `--curve` a "
    "`curve` (`t`, `mean`, `se`).",
    "bounds": "Without `--gaps` the bounds hold for any gaps. `null` stands for what is not proved. The figures of "
    "phased-ucb are `hold`, `log_delta`, `theorem_1_paper`, `theorem_1_corrected` and `regret_as_set`; those of the "
    "elimination family `schedule` and `theorem_2_paper`, for phased-elimination `theorem_2_sharper` too.",
    "policies": "`needs` is what must be known before the start; `settings` may be given with `--set`.",
    "init": "An existing file is left alone.",
    "run": "Finished runs are in the folder at once. A run that was stopped, killed too, goes on where it was, and the "
    "tables come out byte for byte as if it had not been stopped, whatever `--threads` and `--dask` were. A changed "
    "study is refused, with what differs. The JSON object has `study`, `versions`, `folder`, `cells` (the summary) and "
    "its `caption`. See the guide [Your first study](../guides/first-study.md).",
    "report": "Writes `index.html`, which needs no network, reads on a phone and prints. `--format pdf` writes "
    "`report.pdf` beside it: the page printed by Chromium if one is installed, else the figures, one to a page. "
    "`--format png` writes the figures alone. The same results give the same page. See the guide [Reading a "
    "report](../guides/reading-a-report.md).",
    "plan": "See the guide [Plan an experiment](../guides/plan.md). The JSON object has the fields of "
    "`afterglow.lab.Plan`: `verdict`, `answer`, `policy`, `settings`, `season` (the cycles that holds "
    "count whole), `agent` and `live` (Python that makes them), `first_hold`, `found`, `found_interval`, `confidence` "
    "(of all intervals of the simulation), `proved`, `proved_runs`, `proof`, `lost`, `lost_share`, "
    "`lost_by_rotation`, `switches`, `smallest_gap` and `shortest_horizon` (by probability), `longest_tried`, "
    "`gap_curve`, `horizon_curve`, `rule`, `why`, `why_season`, `advice`, `candidates` and `seasons` (each with "
    "`found_interval` and `lost_interval`), what was planned, `cycle`, `swing`, `history`, what was `read` of it, "
    "`step_seconds`, `stands_out`, its `source` and `notes`. With `--out` it writes "
    "`index.html`, a page that needs no network, and `plan.json`.",
    "fit": "Columns may have other names that say the same, any order, or no header; see the guide [Look into recorded "
    "steps](../guides/fit.md). With `--out` it writes `index.html`, a page that needs no network, `fit.json`, and the "
    "figures `differences`, `kernels`, `means` and `timeline` as SVG and PNG. The JSON object has "
    "`window`, `season`, `reward_max`, `confidence`, `means` (`mean` with `low` and "
    "`high`, `proved_low` and `proved_high`, `pulls`, `runs`), `differences` (of each `arm` to the arm `than`, "
    "`difference` with `low` and `high`; these hold together), `kernels` (by arm and lags the `excess` over the "
    "average arm at each lag), `check` (`verdict`, `p`, `most`, `suggested`, `sentence`, `tests`, `alarm`), "
    "`steps` and `notes`.",
    "verify": "Exits 1 if anything differs. The database may be in use. The JSON list has for each experiment "
    "`records`, `steps`, `snapshots`, `faults` and `ok`.",
    "backup": "The copy is of one moment, and a database like any other. An existing file is left alone; a PostgreSQL "
    "database must be empty, and may be named on either side: to keep a copy in a file, to restore it, or to move.",
    "export": "Steps have `step`, `variant`, `planned`, `role`, `total`, `void` and `reason`; events have `seq`, `at`, "
    "`kind`, `body` and `hash`. A step that is open, was missed, or is void for want of a report has no `total`: empty "
    "in CSV, `null` in JSON. A total above 0 that was told and then voided stays, beside `void`. `afterglow fit` and "
    "`plan --history` take all of these as not known. See the [reference of live experiments](live.md).",
    "migrate": "The copy of a file is beside it, with the old version in its name. PostgreSQL is changed in one "
    "transaction; make a copy with its own tools first. Nobody may be using the database. Needs the extra `live`.",
    "serve": "Prints the address and, the first time, a token that may do everything. Logs go to stderr, one JSON "
    "object a line. Flags come before the environment, the environment before the file, the file before the defaults.",
    "token create": "Prints the token alone; only a digest of it is kept. It works while the service runs.",
    "token list": "The JSON list has for each token `id`, `label`, `scopes`, `experiments` (`null` for all), "
    "`created`, `expires`, `revoked` and `state` (`valid`, `expired` or `revoked`).",
    "token revoke": "A running service refuses it within two seconds; streams that it opened end.",
}

BEFORE = {
    "serve": "<!-- not run: it serves until it is stopped -->\n",
    "token revoke": "<!-- not run: every id is another -->\n",
    "verify": """\
With an experiment in `experiments.db`, made as in the guide [A first live experiment](../guides/live.md):

```python
import afterglow

with afterglow.live.open("experiments.db") as experiments:
    shipping = experiments.create("shipping", ["49", "59", "69"], window=24, reward_max=1200.0)
    shipping.close_step(310.0)
```

""",
    "fit": """\
<!-- file: steps.csv -->
```text
step,arm,total
0,A,5
1,A,5
2,A,4
3,B,5
4,B,7
5,B,7
6,B,6
7,A,5
8,A,4
9,A,5
10,B,6
11,B,7
```

""",
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
    return HEAD + "".join(chapter(name, command) for name, command in every_command())


def every_command() -> Iterator[tuple[str, Any]]:
    """Names and commands; those of a group with its name."""
    for name, command in commands().commands.items():
        inner = getattr(command, "commands", None)
        if inner is None:
            yield name, command
        else:
            yield from ((f"{name} {each}", one) for each, one in inner.items())


def chapter(name: str, command: Any) -> str:
    """One command: what it does, an example, its options."""
    rows = "".join(
        row(option) for option in command.params if option.name != "help" and not getattr(option, "hidden", False)
    )
    return (
        f"\n## afterglow {name}\n\n{command.help.strip()}\n\n{BEFORE.get(name, '')}```sh\n{EXAMPLES[name]}\n```\n\n"
        f"| option | |\n|---|---|\n{rows}\n{fill(NOTES[name], 120, break_on_hyphens=False)}\n{MORE.get(name, '')}"
        + (settings() if name == "serve" else "")
    )


def row(option: Any) -> str:
    """One option: how it is written, what it does, what it is if left out."""
    flag = "" if option.param_type_name == "argument" else option.opts[0]
    written = " ".join([flag, option.metavar or ""]).strip().replace("|", "\\|")
    default = "Required." if option.required else f"Default: `{option.default}`." if shown(option.default) else ""
    text = " ".join(part for part in (option.help, default) if part)
    return f"| `{written}` | {text} |\n"


def shown(default: Any) -> bool:
    """Whether a default says something."""
    return default not in (None, False, "", [], ())


def settings() -> str:
    """The table of the service's settings."""
    rows = "".join(
        f"| `{each.name}` | `AFTERGLOW_{each.name.upper()}` | {MEANINGS[each.name]} | `{in_toml(each.default)}` |\n"
        for each in fields(Settings)
    )
    return (
        "\nAll settings, as a TOML file (`--config`, or `AFTERGLOW_CONFIG`) and the environment name them:\n\n"
        f"| setting | environment | | default |\n|---|---|---|---|\n{rows}"
    )


def in_toml(default: Any) -> str:
    return str(default).lower() if isinstance(default, bool) else str(default)


if __name__ == "__main__":
    print(reference(), end="")
