"""The tables of policies in the guide, generated from the policies' own records.

`python docs/tables/policies.py` writes them into the guide; a test compares.
"""

import re
from inspect import Parameter
from pathlib import Path
from typing import Any

from afterglow.policies import Policy, RoundPolicy, named, names, round_names, round_policy

Anyone = Policy[Any, Any] | RoundPolicy[Any, Any]
GUIDE = Path(__file__).parents[2] / "docs/guides/policies.md"
BEGIN, END = "<!-- written by docs/tables/policies.py -->\n", "<!-- end -->\n"


def tables() -> str:
    """What each policy does, needs and guarantees; then its settings and source."""
    policies: list[Anyone] = [*map(named, names()), *map(round_policy, round_names())]
    first = ["| policy | what it does | must know | promises |", "|---|---|---|---|"]
    first += [f"| `{one.name}` | {one.summary} | {knows(one)} | {one.guarantee} |" for one in policies]
    second = ["| policy | settings and their defaults | source |", "|---|---|---|"]
    second += [f"| `{one.name}` | {settings(one)} | {one.source} |" for one in policies]
    return "\n".join([*first, "", *second]) + "\n"


def knows(policy: Anyone) -> str:
    return ", ".join(policy.needs()).replace("_", " ") or "nothing"


def settings(policy: Anyone) -> str:
    shown = []
    for name in policy.options():
        default = policy.parameters()[name].default
        if default is Parameter.empty:
            shown.append(f"`{name}`")
        else:
            shown.append(f"`{name}` ({'by formula' if default is None else default})")
    return ", ".join(shown) or "none"


def drawn(guide: str) -> str:
    """The guide with its tables generated again."""
    return re.sub(f"(?<={BEGIN}).*?(?={END})", lambda _: tables(), guide, flags=re.DOTALL)


if __name__ == "__main__":
    GUIDE.write_text(drawn(GUIDE.read_text(encoding="utf-8")), encoding="utf-8")
