"""Make `former/panel-2.json`: 44 units with version 2 of `panel-elimination`, stored by commit eb61773.

One total in 43 is missing, so that most slots have a set of units of their own. It ran in a checkout of that commit,
with this file copied to it:

    PYTHONPATH=src:tests:. python tests/assets/make_former_panel.py
"""

import json
import math
from pathlib import Path
from typing import Any

from afterglow import Units

FILE = Path(__file__).parent / "former" / "panel-2.json"
NAMES = [f"u{place}" for place in range(44)]


def play(team: Units, steps: int) -> list[str]:
    """Play steps, with waves that don't repeat and a better arm; what the units played in each."""
    played = []
    for _ in range(steps):
        plan, step = team.select(), team.step
        totals: dict[str, float] = {}
        for place, name in enumerate(NAMES):
            if (13 * place * place + 7 * step**3 + place * step) % 43:
                wave = math.sin(1.7 * step) + 0.1 * math.sin(0.31 * step * step + place * place)
                totals[name] = (1 + place % 5) * (10 + wave + 0.012 * (plan[name] == "B"))
        team.update(totals)
        played.append("".join(str(plan[name]) for name in NAMES))
    return played


def answers(team: Units) -> dict[str, Any]:
    """What is known at the end."""
    found = team.estimates()
    return {
        "recommended": team.recommend(),
        "differences": [[one.arm, one.difference, one.low, one.high] for one in found],
        "test": [team.test(19).p, team.test(19).statistic],
    }


def main() -> None:
    levels = {name: 10.0 + 10 * (place % 5) for place, name in enumerate(NAMES)}
    team = Units(list("ABCD"), NAMES, 3, 360, levels, seed=4)
    play(team, 120)
    text = team.to_json()
    after = play(team, 240)
    stored = {"units": json.loads(text), "after": after[::9], "answers": answers(team)}
    FILE.write_text(json.dumps(stored, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
