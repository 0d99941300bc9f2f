"""The result of a plan: `Plan` and its parts."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from afterglow.lab.plan.rule import Rule
from afterglow.lab.plan.scenario import Forecast
from afterglow.pictures import card, curve

CONFIDENCE = 0.95  # of the simulation's own intervals


@dataclass(frozen=True)
class Tried:
    """One candidate. Intervals are the simulation's own, of 95 %."""

    policy: str
    settings: dict[str, Any]
    season: int  # length of the cycle that it is told, 1 = none; holds cover it whole, but for random-turns
    profile: bool  # whether it is told the profile of the cycle
    found: float  # probability that the best arm is recommended
    found_interval: tuple[float, float]
    lost: float  # expected loss compared with always playing the best arm
    lost_interval: tuple[float, float]
    switches: float
    first_hold: int  # steps on the first arm
    tested: float | None  # probability that an exact test calls the best arm; None for policies without one


@dataclass(frozen=True)
class StandsOut:
    """Outliers: totals far from those of their phase, and their effect."""

    steps: int
    when: list[str]  # the longest stretches
    found_without: float  # probability that the best arm is recommended if such steps are paused or void
    found_without_interval: tuple[float, float]


@dataclass(frozen=True)
class Plan:
    """The plan. Amounts are in the unit of the totals, gaps are relative to the mean, intervals have 95 %."""

    verdict: str  # yes, probably, gamble or hopeless
    answer: str  # in a sentence
    ending: str | None  # how the experiment will most likely end, in a sentence; None if too few runs were played
    policy: str
    settings: dict[str, Any]
    season: int  # length of the cycle that the policy is told, 1 = none; holds cover it whole, but for random-turns
    profile: list[float] | None  # that the policy is told, from the step after the history on
    forecast: Forecast | None  # expected totals of the history, and how much they explain
    agent: str  # Python that makes the agent to use
    live: str  # Python that begins a live experiment
    profile_from: float | None  # time of the profile's first number, in seconds since 1970; None if it isn't known
    first_hold: int
    found: float
    found_interval: tuple[float, float]
    found_range: tuple[float, float] | None  # with the noise at the upper and at the lower end of its range
    confidence: float  # of all intervals of the simulation
    proved: float | None  # share of runs whose bounds are disjoint at the end; None if that wasn't simulated
    proved_runs: int  # runs behind `proved`
    proof: str  # the same in a sentence
    grades: dict[str, int]  # runs by the grade of their verdict at the end
    graded_runs: int  # runs behind `grades`; 0 if a run is too long to play step by step
    sure_after: int | None  # steps at which half of the runs that end clear or better were so
    verdicts: str  # the same in a sentence
    lost: float
    lost_share: float  # of the total of the best arm
    lost_by_schedule: float  # with every arm for the same time to the end
    purpose: str  # earning or knowing
    tested: float | None  # probability that the exact test of the schedule calls the best arm; None without a schedule
    testing: str  # the same in a sentence, or what a schedule to the end would have
    switches: float
    smallest_gap: dict[str, float | None]  # by probability: "80 %", "95 %"
    shortest_horizon: dict[str, int | None]
    longest_tried: int  # horizon
    gap_curve: list[tuple[float, float]]  # gaps that were tried, with the probability that the best arm is found
    horizon_curve: list[tuple[int, float]]
    rule: Rule
    why: str
    why_season: str | None  # why cycles of this length, if there was a choice
    advice: list[str]
    candidates: list[Tried]
    seasons: list[Tried]  # the best candidate for each length of cycles
    arms: int
    window: int
    horizon: int
    gap: float
    mean: float
    noise: float  # of one pull, as planned with
    noise_range: tuple[float, float, float] | None  # of a history: low end, estimate, high end of 80 %
    noise_known: bool
    cycle: int  # length of the cycle in the totals, 1 = none
    swing: float | None  # amplitude of the assumed cycle, relative to the mean; None with a history
    reward_max: float
    spread: str
    history: dict[str, Any] | None
    read: str | None  # what was read of a history
    step_seconds: float | None  # of a history with times
    stands_out: StandsOut | None
    source: dict[str, str] | None  # the history's file and how it was read
    notes: list[str]
    runs: int
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return asdict(self)

    def _repr_html_(self) -> str:
        text = f"probability that the best arm is found after {self.horizon:,} steps, by the gap in %"
        points = [(100 * gap, found) for gap, found in self.gap_curve]
        title = f"Plan for {self.arms} arms, window {self.window:,}, {self.horizon:,} steps: {self.verdict}"
        return card(title, curve(points, text, 0.0), self.answer, f"The curve: {text}.", self.proof)

    def to_json(self) -> str:
        """The same as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
