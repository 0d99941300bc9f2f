"""Make `former/turns-3.sqlite`: experiments of `random-turns` version 3 with interruptions, stored by commit 4694a0b.

Until version 3 the season stood still in steps that were not learned from. It ran in a checkout of that commit, with
this file copied to it:

    PYTHONPATH=src:tests:. python tests/assets/make_former_turns.py
"""

import json
import math
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import afterglow
from afterglow.live import Experiment, Experiments, follower

HERE = Path(__file__).parent / "former"
ASKED: dict[str, Any] = {
    "variants": ["A", "B", "C"], "window": 4, "horizon": 200, "season": 8, "policy": "random-turns", "reward_max": 50,
}  # fmt: skip


def close(made: Experiment, steps: int) -> None:
    """Steps with a season, waves that don't repeat, and an arm that is better."""
    for _ in range(steps):
        step = made.status().step or 0
        wave = 3 * math.sin(step * math.pi / 4) + math.sin(1.7 * step) + math.sin(0.31 * step * step)
        made.close_step(round(12 + wave + (made.current() == "B"), 3))


def interrupted(experiments: Experiments, name: str, seed: int) -> Experiment:
    """A pin, a void of the current hold, a void of learned steps, and a pause."""
    made = experiments.create(name, **ASKED, seed=seed)
    close(made, 45)
    made.pin("A", "a fair")
    close(made, 5)
    made.unpin("it is over")
    close(made, 30)
    made.void(70, "an outage", last=72)
    close(made, 11)
    made.pause("a holiday")
    close(made, 3)
    made.resume("it is over")
    close(made, 26)
    return made


def served(made: Experiment) -> dict[str, Any]:
    """What an experiment serves and has decided."""
    return {
        "serves": made.current(),
        "recommended": made.recommend(),
        "rows": [[row.step, row.variant, row.role] for row in made.steps()],
    }


def main() -> None:
    follower.EVERY, follower.BYTES = 50, 10**9  # few snapshots, and steps after the last one
    file = HERE / "turns-3.sqlite"
    file.unlink(missing_ok=True)
    with TemporaryDirectory() as folder, afterglow.live.open(f"{folder}/turns.db", clock=lambda: 1e9) as experiments:
        close(interrupted(experiments, "ended", 1), 80)
        interrupted(experiments, "running", 2)
        found = {name: served(experiments[name]) for name in experiments.names()}
        assert all(experiments[name].verify().ok for name in experiments.names())
        experiments.backup(file)
        close(experiments["running"], 40)
        found["running"]["after"] = served(experiments["running"])
    text = json.dumps(found, separators=(",", ":"), sort_keys=True)
    (HERE / "turns-3.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
