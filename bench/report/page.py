"""The page of figures, `docs/speed.md`: nothing on it is typed by hand but the words."""

import re

from bench.report.figures import Item, table

OPENING = """# Speed

The speed of simulations, compared with C and with other libraries, and the speed of live experiments, compared with a
bare route and bare loops of commits. `make bench` measures everything again, prints this page and writes it, with the
numbers as JSON, to `bench/out/`; `python bench/run.py --write-docs` writes it here.
"""
ENGINE = """## Simulation

Figures are ratios. Both sides run alternately, in one process, on one machine: the least CPU time of several rounds on
one core, with the ratio of wall-clock times beside it. If the two differ much, the machine was busy.
"""
LIVE = """## Running experiments

`afterglow serve` is one process, what it is compared with is another, and a third produces the load, all on one machine
over loopback. So ratios are of what callers see, by the wall clock: medians of alternating rounds. The disk is real,
and every commit waits for it. The load uses the same processors; beside each rate is the CPU time that the server alone
used for a request. What needs no server is measured in process, by CPU time.
"""


def summary(items: list[Item]) -> str:
    """How many goals are met, and which aren't."""
    goals = [(item, figure) for item in items for figure in item.figures if figure.met is not None]
    missed = [f"{item.name}: {figure.what}" for item, figure in goals if not figure.met]
    told = f"{len(goals) - len(missed)} of {len(goals)} goals met."
    return told if not missed else f"{told} Not met: {'; '.join(missed)}."


def page(machine: dict[str, str], engine: list[Item], live: list[Item]) -> str:
    """The whole page."""
    taken_on = table(["", "taken on"], [[name, value] for name, value in machine.items()])
    sections = [ENGINE, *(item.markdown(3) for item in engine)] * bool(engine)
    sections += [LIVE, *(item.markdown(3) for item in live)] * bool(live)
    return "\n".join([OPENING, taken_on, "", summary(engine + live), "", *sections])


def with_section(text: str, item: Item, machine: dict[str, str], after: list[str]) -> str:
    """The page with one item measured again: its section, and the count of goals. `after`: titles that it follows."""
    parts = re.split(r"(?m)^(?=#{2,3} )", text)
    taken = f"\nTaken on {machine['processor']}, Python {machine['Python']}.\n"
    section = item.markdown(3) + (taken if machine["processor"] not in parts[0] else "") + "\n"
    places = {part.partition("\n")[0].lstrip("# "): place for place, part in enumerate(parts)}
    if item.title in places:
        parts[places[item.title]] = section
    else:
        parts.insert(1 + max(places[title] for title in after if title in places), section)
    marks = [(part.partition("\n")[0].lstrip("# "), row) for part in parts for row in part.splitlines()]
    missed = [f"{title}: {row.split('|')[1].strip()}" for title, row in marks if row.endswith("| not met |")]
    met = sum(bool(re.search(r"\| met +\|$", row)) for _, row in marks)
    told = f"{met} of {met + len(missed)} goals met." + f" Not met: {'; '.join(missed)}." * bool(missed)
    parts[0] = re.sub(r"(?m)^[0-9]+ of [0-9]+ goals met.*$", lambda found: told, parts[0])
    return "".join(parts)
