r"""Will my experiment work? A plan simulates it before it starts.

It begins with a rule of thumb (`plan_rule`), builds a world with the level, noise and season to be expected
(`scenario`), plays the candidates in it with every arm as the best in turn (`trials`), and lets the simulation have the
last word. The smallest gap and the shortest horizon are searched for by halving, every point played with the same
random numbers.

>>> from afterglow.lab.plan import plan
>>> small = plan(arms=2, window=4, horizon=400, gap=0.2, mean=0.5, noise=0.1, runs=60)
>>> small.verdict
'yes'
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from afterglow.errors import BadValue
from afterglow.lab.history import History
from afterglow.lab.plan_inputs import Past, estimated, scenario_of, source_of
from afterglow.lab.plan_rule import Rule, decide
from afterglow.lab.plan_words import agent_of, answer, reason, what_helps
from afterglow.lab.scenario import Scenario
from afterglow.lab.trials import Candidate, Effort, Trial, candidates, gap_search, horizon_search, trial
from afterglow.policies.checks import number, whole

LEVELS = {"80 %": 0.8, "95 %": 0.95}
WORK = 16_000_000  # steps that a single point of a search may play, over all its runs
SEARCH_RUNS = 300
LONG = 10_000_000  # steps that a candidate plays over all its runs
FEWEST = 40  # runs all the same


@dataclass(frozen=True)
class Tried:
    """One candidate."""

    policy: str
    settings: dict[str, Any]
    found: float  # probability that the best arm is recommended
    found_interval: tuple[float, float]  # 95 %, of the simulation
    lost: float  # expected reward lost against knowing the best arm
    lost_error: float  # standard error of the simulation
    switches: float
    first_hold: int  # steps on the first arm


@dataclass(frozen=True)
class Plan:
    """The answer. Amounts are in the unit of the totals, gaps relative to the mean."""

    verdict: str  # yes, probably, gamble or hopeless
    answer: str  # in a sentence
    policy: str
    settings: dict[str, Any]
    agent: str  # Python that makes the agent to use
    season: int
    swing: float | None  # half the height of the cycle that was assumed, relative to the mean; None with a history
    first_hold: int
    found: float
    found_interval: tuple[float, float]
    lost: float
    lost_share: float  # of what the best arm would bring
    lost_by_rotation: float  # by giving every arm the same time to the end
    switches: float
    smallest_gap: dict[str, float | None]  # by probability: "80 %", "95 %"
    shortest_horizon: dict[str, int | None]
    longest_tried: int  # horizon
    gap_curve: list[tuple[float, float]]  # gaps that were tried, with the probability that the best arm is found
    horizon_curve: list[tuple[int, float]]
    rule: Rule
    why: str
    advice: list[str]
    candidates: list[Tried]
    arms: int
    window: int
    horizon: int
    gap: float
    mean: float
    noise: float
    noise_known: bool
    reward_max: float
    spread: str
    history: dict[str, Any] | None
    source: dict[str, str] | None  # the history's file and how it was read
    notes: list[str]
    runs: int
    seed: int

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return asdict(self)


def plan(
    arms: int,
    window: int,
    horizon: int,
    gap: float,
    mean: float | None = None,
    noise: float | None = None,
    season: int | None = None,
    swing: float | None = None,
    history: Past | None = None,
    reading: Mapping[str, str] | None = None,
    reward_max: float | None = None,
    spread: str = "uniform",
    runs: int = 600,
    seed: int = 1,
    threads: int | None = None,
    progress: Callable[[float, str], None] | None = None,
) -> Plan:
    """Simulate an experiment before it starts.

    One arm is better than the others by `gap`, relative to `mean`. `noise` is the standard deviation of one pull's
    reward; unknown, it is taken as the largest there is. A `season` is a sine of height `swing`, 0.2 unless set.
    `history` has past totals, as a list, a CSV file or `Totals`, and tells mean, noise and season itself; `reading`
    says how to read a file: `column`, `decimal`, `zone` and `missing` of `read_totals`.
    """
    notes: list[str] = []
    source = source_of(history, reading)
    past = None if history is None else estimated(history, season, window, notes, reading or {})
    scenario = scenario_of(
        whole("arms", arms, 2), whole("window", window, 1, "1 = paid at once"), whole("horizon", horizon, 1),
        number("gap", gap, 0, note="relative to the mean, 0.05 = 5 %"), mean, noise, season, swing, past, reward_max,
        spread, notes,
    )  # fmt: skip
    times = fewer(whole("runs", runs, 2), scenario.horizon, notes)
    effort = Effort(times, whole("seed", seed, 0), threads, Counted(progress))
    known = past is not None or noise is not None
    trials = played(candidates(scenario, known), scenario, effort, notes)
    return decided(scenario, effort, trials, known, source, notes)


def fewer(runs: int, horizon: int, notes: list[str]) -> int:
    """Runs of a candidate: not all that are asked for where the horizon is long, so that a plan stays a plan."""
    most = max(FEWEST, LONG // horizon)
    if runs > most:
        notes.append(f"{most:,} runs are played in place of {runs:,}, for the horizon is long")
    return min(runs, most)


def decided(
    scenario: Scenario, effort: Effort, trials: list[Trial], known: bool, source: dict[str, str] | None,
    notes: list[str],
) -> Plan:  # fmt: skip
    """The answer that the trials give."""
    chosen, rule = decide(scenario, trials)
    unit, past = scenario.reward_max, scenario.history
    coarse = Effort(min(effort.runs, SEARCH_RUNS), effort.seed, effort.threads, effort.tell)
    tried_out = max(scenario.horizon, 2 * scenario.arms * scenario.window)
    longest = max(scenario.horizon, min(64 * tried_out, WORK // coarse.runs))
    gaps, horizons = gap_search(chosen, scenario, coarse), horizon_search(chosen, scenario, coarse, longest)
    smallest = {name: gaps.least(level) for name, level in LEVELS.items()}
    steps = {name: horizons.least(level) for name, level in LEVELS.items()}
    shortest = {name: None if value is None else round(value) for name, value in steps.items()}
    verdict = verdict_of(chosen.found, scenario.arms)
    return Plan(
        verdict=verdict, answer=answer(verdict, scenario, chosen), policy=chosen.candidate.name,
        settings=chosen.candidate.options, agent=agent_of(scenario, chosen.candidate), season=scenario.season,
        swing=scenario.swing if past is None and scenario.season > 1 else None, first_hold=chosen.first_hold,
        found=chosen.found,
        found_interval=chosen.interval(), lost=chosen.lost * unit,
        lost_share=chosen.lost / (scenario.horizon * (scenario.mean + scenario.gain)),
        lost_by_rotation=scenario.gain * scenario.horizon * (scenario.arms - 1) / scenario.arms * unit,
        switches=chosen.switches, smallest_gap=smallest, shortest_horizon=shortest, longest_tried=longest,
        gap_curve=gaps.curve(), horizon_curve=[(round(value), share) for value, share in horizons.curve()], rule=rule,
        why=reason(chosen, trials, rule, unit),
        advice=what_helps(verdict, scenario, chosen, smallest, shortest, longest, coarse),
        candidates=[tried(each, unit) for each in trials], arms=scenario.arms, window=scenario.window,
        horizon=scenario.horizon, gap=scenario.gap, mean=scenario.mean * unit, noise=scenario.noise * unit,
        noise_known=known, reward_max=unit, spread=scenario.spread, history=None if past is None else shown(past),
        source=source, notes=notes, runs=effort.runs, seed=effort.seed,
    )  # fmt: skip


def verdict_of(found: float, arms: int) -> str:
    """How sure one may be: a gamble is right at least half the way from guessing to knowing."""
    if found >= LEVELS["80 %"]:
        return "yes" if found >= LEVELS["95 %"] else "probably"
    return "gamble" if found >= (1 + 1 / arms) / 2 else "hopeless"


class Counted:
    """Passes on what is being played, with a guess of how far the plan is."""

    def __init__(self, progress: Callable[[float, str], None] | None, expected: int = 36) -> None:
        self.progress, self.expected, self.done = progress, expected, 0

    def __call__(self, what: str) -> None:
        self.done += 1
        if self.progress is not None:
            self.progress(1 - math.exp(-2 * self.done / self.expected), what)


def played(wanted: list[Candidate], scenario: Scenario, effort: Effort, notes: list[str]) -> list[Trial]:
    """Every candidate that fits, played."""
    found = []
    for candidate in wanted:
        effort.tell(candidate.name)
        try:
            found.append(trial(candidate, scenario, effort))
        except BadValue as problem:
            if not str(problem).startswith((candidate.name, "season")):
                raise
            notes.append(f"{candidate.name} was left out: {problem}")
    return found


def tried(each: Trial, unit: float) -> Tried:
    return Tried(
        each.candidate.name, each.candidate.options, each.found, each.interval(), each.lost * unit,
        each.lost_error * unit, each.switches, each.first_hold,
    )  # fmt: skip


def shown(past: History) -> dict[str, Any]:
    """The estimates, without the noise itself."""
    return {name: value for name, value in asdict(past).items() if name != "rest"}
