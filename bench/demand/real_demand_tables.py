"""The tables of docs/real-demand.md, out of what `real_demand.py` measured."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

Key = tuple[str, str, float, str, str]  # method, series, effect, kernel, form
Cells = Mapping[Key, Any]  # with a list of numbers for everything counted
EFFECTS = (0.02, 0.05, 0.1)
PLACES = ("series", "effect", "kernel", "form")


def values(cells: Cells, method: str, what: str, **where: Any) -> list[list[float]]:
    """What was counted, run by run, for each cell of a method."""
    return [
        getattr(cell, what)
        for (who, *place), cell in cells.items()
        if who == method and all(dict(zip(PLACES, place, strict=True))[key] in value for key, value in where.items())
    ]


def percent(rows: list[list[float]]) -> str:
    """Mean over cells, in percent."""
    known = [np.mean(row) for row in rows if row]
    return f"{100 * np.mean(known):.0f}" if known else "–"


def by_effect(cells: Cells, method: str, what: str, effects: Sequence[float] = EFFECTS, **where: Any) -> str:
    return " / ".join(percent(values(cells, method, what, effect=[effect], **where)) for effect in effects)


def difference(cells: Cells, ours: str, other: str, what: str, **where: Any) -> tuple[float, float]:
    """Ours less the other, paired by run, in percent, with its standard error."""
    pairs = zip(values(cells, ours, what, **where), values(cells, other, what, **where), strict=True)
    apart = np.concatenate([np.subtract(one, two) for one, two in pairs])
    return 100 * float(apart.mean()), 100 * float(apart.std(ddof=1)) / math.sqrt(apart.size)


def against(cells: Cells, ours: str, others: Iterable[str], what: str, **where: Any) -> str:
    """Ours less the best of the others."""
    apart, error = min((difference(cells, ours, other, what, **where) for other in others), key=lambda found: found[0])
    return f"{apart:+.0f} ± {error:.1f}"


def tables(
    cells: Cells, runs: int, ours: str, methods: Sequence[str], practitioner: Iterable[str], held_out: Sequence[str]
) -> Iterator[str]:
    every = list(dict.fromkeys(key[1] for key in cells))
    chosen = [name for name in every if name not in held_out]
    yield (
        f"Runs in each cell (series, effect, kernel, form): {runs}. "
        "`python bench/demand/real_demand.py --write` wrote this."
    )
    for title, names in (("the series that constants were chosen on", chosen), ("the series held out", held_out)):
        yield f"\n**Mean over {title}**, all kernels and forms, for effects of 2 / 5 / 10 %:\n"
        yield "| | best found, % | captured, % |\n|---|---|---|"
        for method in methods:
            found, captured = (by_effect(cells, method, what, series=names) for what in ("found", "captured"))
            yield f"| {method} | {found} | {captured} |"
    yield f"\n`{ours}` less the best of the practitioner's methods, in points, with the standard error of the paired"
    yield "difference, for each effect and for all:\n"
    yield "| series | found 2 % | 5 % | 10 % | all | captured 2 % | 5 % | 10 % | all |"
    yield "|---" * 9 + "|"
    for name in every:
        row = []
        for what in ("found", "captured"):
            for effects in (*([effect] for effect in EFFECTS), EFFECTS):
                row.append(against(cells, ours, practitioner, what, series=[name], effect=effects))
        yield f"| {name}{' (held out)' if name in held_out else ''} | {' | '.join(row)} |"
    yield from by_series(cells, ours, methods, practitioner, every)


def by_series(
    cells: Cells, ours: str, methods: Sequence[str], practitioner: Iterable[str], names: Sequence[str]
) -> Iterator[str]:
    columns = f"| | {' | '.join(names)} |\n|---|{'---|' * len(names)}"
    for what, title in (("found", "Best found"), ("captured", "Captured")):
        yield f"\n{title}, %, by series, for effects of 2 / 5 / 10 %:\n"
        yield columns
        for method in methods:
            yield f"| {method} | {' | '.join(by_effect(cells, method, what, series=[name]) for name in names)} |"
    yield f"\n`{ours}` less the best of the practitioner's methods, by kernel and form, all series and effects:\n"
    yield "| | best found, points | captured, points |\n|---|---|---|"
    for kind in dict.fromkeys(key[3] for key in cells):
        for form in dict.fromkeys(key[4] for key in cells):
            where = {"kernel": [kind], "form": [form], "effect": EFFECTS}
            row = [against(cells, ours, practitioner, what, **where) for what in ("found", "captured")]
            yield f"| {kind}, {form} | {row[0]} | {row[1]} |"
    yield f"\n`{ours}`: 95 % intervals that hold at the end, for effects of 0 / 2 / 5 / 10 %; runs with equal arms that"
    yield "were ever `clear`; runs that end `clear`, rightly and for an arm that isn't the best, for effects of 2 / 5 /"
    yield "10 %; all in %:\n"
    yield columns
    held = [by_effect(cells, ours, "held", (0.0, *EFFECTS), series=[name]) for name in names]
    yield f"| intervals hold | {' | '.join(held)} |"
    wrong = [by_effect(cells, ours, "wrong", (0.0,), series=[name]) for name in names]
    yield f"| wrongly `clear` | {' | '.join(wrong)} |"
    clear = [by_effect(cells, ours, "clear", series=[name]) for name in names]
    yield f"| rightly `clear` | {' | '.join(clear)} |"
    mistaken = [by_effect(cells, ours, "mistaken", series=[name]) for name in names]
    yield f"| `clear` for another | {' | '.join(mistaken)} |"
