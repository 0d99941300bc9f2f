"""Make `former/units-1.sqlite`: experiments with units of version 1, and what they served, stored by commit d021e5f.

Only one unit reports: in version 1 the policy's choice was served as soon as a round was learned, though no two units
could be compared. It ran in a checkout of that commit, with this file copied to it:

    PYTHONPATH=src:tests:. python tests/assets/make_former_units.py
"""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import afterglow
from afterglow.live import Experiment, Experiments, follower

HERE = Path(__file__).parent / "former"
ASKED: dict[str, Any] = {"variants": ["A", "B", "C"], "window": 2, "horizon": 40, "units": ["north", "south", "east"]}


def close(made: Experiment, steps: int) -> None:
    """Steps of which only the first unit's total is known."""
    for step in range(steps):
        made.close_step({"north": 10.0 + step % 3})


def served(made: Experiment) -> dict[str, Any]:
    """What an experiment serves and has decided."""
    return {
        "serves": [made.current(unit) for unit in made.spec.units],
        "recommended": made.recommend(),
        "rows": [[row.step, row.unit, row.variant, row.role] for row in made.steps()],
    }


def fill(experiments: Experiments) -> None:
    """Ended, begun afresh with too little time left, voided after the end, and running."""
    close(experiments.create("ended", **ASKED, seed=1), 40)
    made = experiments.create("restarted", **ASKED, seed=2)
    close(made, 38)
    made.disable("A", "it fails")
    close(made, 2)
    made = experiments.create("voided", **ASKED, seed=1)
    close(made, 40)
    made.void(5, "a fair", last=6, unit="north")
    close(experiments.create("running", **ASKED, seed=3), 30)


def main() -> None:
    follower.EVERY, follower.BYTES = 15, 10**9  # few snapshots, and steps after the last one
    file = HERE / "units-1.sqlite"
    file.unlink(missing_ok=True)
    with TemporaryDirectory() as folder, afterglow.live.open(f"{folder}/units.db", clock=lambda: 1e9) as experiments:
        fill(experiments)
        found = {name: served(experiments[name]) for name in experiments.names()}
        assert all(experiments[name].verify().ok for name in experiments.names())
        experiments.backup(file)
        close(experiments["running"], 10)
        found["running"]["after"] = served(experiments["running"])
    text = json.dumps(found, separators=(",", ":"), sort_keys=True)
    (HERE / "units-1.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
