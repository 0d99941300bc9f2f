"""What a plan recommends against `random-turns`, on what followed: found and captured on real series.

At places of each series of `studies/series`, a plan is made from a stretch (twelve weeks of hours, or 364 days) for an
experiment as long. What it recommends and `random-turns` with the season of the history then play the same runs on what
followed, which begin within four weeks: a gap of 5 %, of the demand in the step of the pull in one half of the runs, of
the mean demand in the other. Captured is the share of what the best arm would have brought beyond the others. The table
goes into docs/real-demand.md.

    python bench/demand/plan_choice.py [--places 6] [--plan-runs 300] [--runs 60] [--series shop] [--write]
"""

import argparse
import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from afterglow.engine.layout import pack, unpack
from afterglow.engine.policies import compiled
from afterglow.lab.history.estimate import estimate
from afterglow.lab.plan.alignment import compare_alignments
from afterglow.lab.plan.inputs import PlanInputs, scenario_of
from afterglow.lab.plan.rule import EARNING
from afterglow.lab.plan.scenario import Scenario
from afterglow.lab.plan.trials import Candidate, Effort, Trial, policy_of, unwarned
from afterglow.policies.default import IN_SEASON
from afterglow.policies.season import seasonal
from bench.demand.real_demand import ARMS, ROOT, Series, all_series, drive, kernel

GAP, WEEKS = 0.05, 4
PAGE = ROOT / "docs/real-demand.md"
FIRST, LAST = "<!-- written by bench/demand/plan_choice.py -->\n", "<!-- end of plans -->"


@dataclass
class Row:
    """Of a series: for each place promised and achieved shares of the recommended policy and of `random-turns`."""

    recommended: list[tuple[float, float, float, float]] = field(default_factory=list)  # found, captured; both again
    turns: list[tuple[float, float, float, float]] = field(default_factory=list)
    others: int = 0  # plans that recommend another policy


def played(candidate: Candidate, scenario: Scenario, series: Series, begin: int, runs: int) -> tuple[float, float]:
    """Shares found and captured on what followed; the history ended where step `begin` of the series begins."""
    history, steps = scenario.history, scenario.horizon
    assert history is not None
    policy = seasonal(policy_of(candidate, scenario), scenario.align)
    with unwarned():
        settings = policy.settings(ARMS, scenario.window, steps, candidate.options)
    verbs, row, fresh = compiled(policy), pack(settings), pack(policy.start(settings))
    profile = np.array(history.expected) / scenario.reward_max
    latest = min(WEEKS * series.season, len(series.values) - begin - steps + 1)
    found, captured = [], []
    for run in range(runs):
        random, best = np.random.default_rng([begin, run]), run % ARMS
        late = int(random.integers(max(1, latest)))
        demand = series.values[begin + late : begin + late + steps] / scenario.reward_max
        base = demand if run // ARMS % 2 == 0 else np.full(steps, demand.mean())
        phases = (history.steps + late + np.arange(steps)) % history.season
        seen = demand - profile[phases] if scenario.told else demand
        effects, state = np.where(np.arange(ARMS) == best, GAP, 0.0), fresh.copy()
        draws = np.zeros(max(1, policy.reads(ARMS)))
        arms, _ = drive(
            *verbs, row, state, random.random(draws.size * steps), draws, seen, effects,
            kernel("uniform", scenario.window), base, np.zeros((0, state.size)), 1,
        )  # fmt: skip
        assert policy.recommend is not None
        found.append(policy.recommend(settings, unpack(policy.State, state)) == best)
        captured.append(base[arms == best].sum() / base.sum())
    return float(np.mean(found)), float(np.mean(captured))


def measured(series: Series, places: int, effort: Effort, runs: int) -> Row:
    row, total = Row(), len(series.values)
    steps = min(series.steps, total // 2 - 1 - series.season)
    for place in range(places):
        first = round(place * (total - 2 * steps) / max(1, places - 1))
        history = estimate(series.values[first : first + steps].tolist(), window=series.window)
        asked = PlanInputs(ARMS, series.window, steps, GAP, None, None, None, None, None, "uniform")
        best, ways, _ = compare_alignments(scenario_of(asked, history, []), True, effort, EARNING)
        every = [(trial, way.scenario) for way in ways for trial in way.trials]
        turns = next((pair for pair in every if pair[0].candidate.name == IN_SEASON), None)
        if turns is None:
            continue  # no season was found
        kept = with_promise(*turns, series, first + steps, runs)
        same = best.chosen is turns[0]
        row.turns.append(kept)
        row.recommended.append(kept if same else with_promise(best.chosen, best.scenario, series, first + steps, runs))
        row.others += not same
    return row


def with_promise(used: Trial, scenario: Scenario, series: Series, begin: int, runs: int) -> Any:
    promised = 1 - used.lost / (scenario.gain * scenario.horizon)
    return (used.found, promised, *played(used.candidate, scenario, series, begin, runs))


def table(rows: dict[str, Row], places: int, runs: int) -> str:
    lines = [
        f"Found / captured, %, gap 5 %, {places} plans of a series, {runs} runs each on what followed:\n",
        "| series | recommended: promised | achieved | `random-turns`: promised | achieved | plans with another |",
        "|---|---|---|---|---|---|",
    ]
    both = [np.array([row.recommended, row.turns]).mean(axis=1) for row in rows.values()]
    for (name, row), means in zip(rows.items(), both, strict=True):
        lines.append(line(name, means, row.others))
    lines.append(line("**mean**", np.mean(both, axis=0), sum(row.others for row in rows.values())))
    return "\n".join(lines) + "\n"


def line(name: str, means: Any, others: int) -> str:
    pairs = [f"{100 * each[at]:.0f} / {100 * each[at + 1]:.0f}" for each in means for at in (0, 2)]
    return f"| {name} | {' | '.join(pairs)} | {others} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--places", type=int, default=6)
    parser.add_argument("--plan-runs", type=int, default=300)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--series", nargs="*", default=[])
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    effort, rows = Effort(asked.plan_runs, 1, None, lambda _: None), {}
    for series in all_series():
        if not asked.series or series.name in asked.series:
            rows[series.name] = measured(series, asked.places, effort, asked.runs)
            print(f"{series.name} is measured", file=sys.stderr, flush=True)
    made = table(rows, asked.places, asked.runs)
    print(made)
    if asked.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(FIRST)
        PAGE.write_text(before + FIRST + "\n" + made + "\n" + rest[rest.index(LAST) :], encoding="utf-8")


if __name__ == "__main__":
    main()
