"""The answer of a study in sentences: the first paragraph of its page."""

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from afterglow.lab.rendering.rounding import joined, percent, to_error, whole_percent
from afterglow.lab.report.error_figure import ErrorRow, not_told_apart
from afterglow.lab.report.groups import Group, Groups, Standing, span
from afterglow.lab.report.growth import Winner, succession
from afterglow.lab.report.winner_grid import WinnerGrid
from afterglow.lab.statistics import LEVEL

MOST_SHARES, MOST_TURNS = 3, 4


def headline(
    groups: Groups,
    rivals: Sequence[Standing],
    errors: Sequence[ErrorRow],
    found: Sequence[Winner],
    grid: WinnerGrid | None,
) -> list[Markup]:
    """Sentences on the least error, on who wins where, on the ranking and on the worst case, as the study has them."""
    said = [least_errors(groups, errors)] if errors else []
    where = who_wins(found, grid)
    said += [where] if where else []
    if groups.focus or not errors:
        said += smallest(groups, rivals, found)
    return [sentence.replace(" %", "\u00a0%") for sentence in said]


def strong(label: str) -> Markup:
    return Markup("<strong>{}</strong>").format(label)


def all_of(labels: Iterable[str]) -> Markup:
    """Labels in a row; `joined` keeps what is markup."""
    return Markup(joined([str(strong(label)) for label in labels]))


def end_of(groups: Groups) -> str:
    """Where policies are ranked: the largest of what varies, or empty."""
    return groups.shared[0].said(groups.focus) if groups.focus and groups.end is not None else ""


def least_errors(groups: Groups, errors: Sequence[ErrorRow]) -> Markup:
    """Who recommends a wrong arm least often: all whose intervals overlap with the first."""
    rows = [row for row in errors if not row.reference] or list(errors)
    tied = not_told_apart(rows)
    end = end_of(groups)
    at = f" (at {end})" if end else ""
    if not tied:
        first = rows[0].error
        shares = f"{percent(first.value)} of the runs ({percent(first.low)} to {percent(first.high)})"
        return Markup("{} recommends a wrong arm least often{}: in {}.").format(strong(rows[0].label), at, shares)
    same = [row for row in rows if row is rows[0] or row.label in tied]
    values = [percent(row.error.value) for row in same]
    each = joined(values) if len(same) <= MOST_SHARES else f"{values[0]} to {values[-1]}"
    shares = values[0] if values[0] == values[-1] else each
    text = Markup("{} recommend a wrong arm least often{}: in {} of the runs. Their {} intervals overlap.")
    return text.format(all_of(row.label for row in same), at, shares, whole_percent(LEVEL))


def who_wins(found: Sequence[Winner], grid: WinnerGrid | None) -> Markup | None:
    """Who has the smallest regret where, if what varies is a number; None if one policy has it everywhere."""
    turns = succession(found)
    if grid is not None and len(grid.won) > 1:
        axes = f"{grid.down.partition(',')[0]} and {grid.across.partition(',')[0]}"
        parts = [
            Markup("{}{} in {}{}").format(
                strong(one.label), "" if number else " has the smallest regret", one.places,
                f" ({one.where})" if one.where else "",
            )
            for number, one in enumerate(grid.won)
        ]  # fmt: skip
        return Markup("Of {} combinations of {}, {}.").format(len(found), axes, Markup(joined(parts)))
    if len(turns) <= 1:
        return None
    if len(turns) > MOST_TURNS:
        text = "The smallest regret changes hands {} times; the table below has who wins where."
        return Markup(text).format(len(turns) - 1)
    parts = []
    for number, (label, first, last) in enumerate(turns):
        where = f"at {first}" if first == last else span(first, last)
        parts.append(Markup("{}{} {}").format(strong(label), "" if number else " has the smallest regret", where))
    return Markup("{}.").format(Markup(", then ").join(parts))


def smallest(groups: Groups, rivals: Sequence[Standing], found: Sequence[Winner]) -> list[Markup]:
    """The first of the ranking, who is not distinguishable from it, and who is safer."""
    winner, turns = rivals[0], succession(found)
    end = end_of(groups)
    if len(turns) == 1 and turns[0][0] == winner.label:
        where = span(turns[0][1], turns[0][2])
        said = Markup("{} has the smallest regret everywhere, {}: {}.")
        first = said.format(strong(winner.label), where, lost(groups, winner, f" at {end}"))
    else:
        begin = f"At {end}, " if end else ""
        first = Markup("{}{} has the smallest regret: {}.").format(begin, strong(winner.label), lost(groups, winner))
    return [first, *undecided(groups, rivals), *safer(groups, rivals)]


def lost(groups: Groups, winner: Standing, at: str = "") -> str:
    """The regret of the first, as a mean over setups or with its error."""
    steps = groups.shared[0].place["horizon"]
    at = "" if at == f" at {steps:,} steps" else at  # said already
    if len(groups.shared) > 1:
        scales = {group.at_random for group in groups.shared}
        scale = f" ({scales.pop():,.0f} in {steps:,} steps)" if len(scales) == 1 else ""
        share = f"on average {percent(winner.share.value)} of that of random play{scale}"
        return f"{share}{at}, over {len(groups.shared)} setups"
    regret = winner.worst_regret
    value, error = to_error(regret.value, regret.high - regret.value) if regret.high == regret.high else ("", "")
    text = f"{value}\u00a0±\u00a0{error}" if value else f"{regret.value:,.0f}"
    text = f"{value} in every run" if value and error == "0" else text
    return f"{text} over {steps:,} steps{at}, {percent(winner.share.value)} of that of random play"


def undecided(groups: Groups, rivals: Sequence[Standing]) -> list[Markup]:
    """The policies whose difference from the first may be 0."""
    found = tied(groups, rivals)
    if not found:
        return []
    if max(cell["runs"] for group in groups.all for cell in group.cells.values()) == 1:
        why = "a single run has no interval"
    else:
        why = f"the {whole_percent(LEVEL)} interval of {'each' if len(found) > 1 else 'the'} difference contains 0"
    return [Markup("It is not distinguishable from {}: {}.").format(joined(found, "or"), why)]


def safer(groups: Groups, rivals: Sequence[Standing]) -> list[Markup]:
    """The policy of the best worst case, if it isn't the first."""
    least = safest(rivals)
    if least is None:
        return []
    text = Markup("But in its worst setup ({}) it has {}; {} never has more than {} ({}).")
    first = rivals[0]
    worst = percent(first.worst_share.value), percent(least.worst_share.value)
    own, other = (setup(groups, one.worst) for one in (first, least))
    return [text.format(own, worst[0], strong(least.label), worst[1], other)]


def setup(groups: Groups, group: Group) -> str:
    return groups.title(group, *groups.focus)


def tied(groups: Groups, rivals: Sequence[Standing]) -> list[str]:
    """Policies not distinguishable from the first: the interval of the difference contains 0, or there is none."""
    return [one.label for one in rivals[1:] if not groups.behind(one.label, rivals[0].label).low > 0]


def safest(rivals: Sequence[Standing]) -> Standing | None:
    """The policy with the best worst case, if it is not the first and the intervals are disjoint."""
    least = min(rivals, key=lambda one: one.worst_share.value)
    return least if least.worst_share.high < rivals[0].worst_share.low else None
