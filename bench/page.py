"""The page of figures, `docs/speed.md`: nothing on it is typed by hand but the words."""

from figures import Item, table

OPENING = """# Speed

What a simulation costs, beside C and beside other libraries, and what a running experiment costs, beside a bare route
and bare loops of commits. `make bench` takes every figure anew, prints this page and writes it with the numbers as JSON
to `bench/out/`; `python bench/run.py --write-docs` puts it here.
"""
ENGINE = """## Simulation

Figures are ratios of what ran in turns, in one process, on one machine: least CPU time over several rounds on one
core, with the ratio of the wall clock beside it. Where the two differ much, the machine was doing other things.
"""
LIVE = """## Running experiments

`afterglow serve` as a process of its own, and whatever it is held against as another, under load from a third, all on
one machine and over loopback. So ratios are of what callers see, by the wall clock: medians over rounds in turns. The
disk is real, and every commit waits for it. The load takes its share of the processors too; beside each rate is the CPU
time that the server alone took for a request. What needs no server is timed in process, by CPU time.
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
