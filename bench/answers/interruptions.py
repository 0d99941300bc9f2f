"""What pins, voids and gaps do to `random-turns` in a live experiment: the table in docs/real-demand.md.

Hours of 150 EUR with a day of plus and minus 18 %, noise of 6 % an hour, a window of 6, one of three variants better
by 4 %, for 1,000 steps. Version 3 of the policy, whose season stood still in steps that it didn't learn from, is played
beside the present one.

    python bench/answers/interruptions.py [--runs 100]
"""

import argparse
import math
from dataclasses import replace
from random import Random
from typing import Any, NamedTuple

from afterglow.live.domain import commands
from afterglow.live.domain.commands import Event
from afterglow.live.domain.spec import Spec, specify
from afterglow.live.domain.state import ExperimentState, initial
from afterglow.live.domain.transitions import apply
from afterglow.live.domain.verdict import verdict
from afterglow.policies.registry import named

MEANS, BEST = (150.0, 156.0, 150.0), "B"
WINDOW, STEPS, DAY, WEEK = 6, 1000, 24, 168
CYCLE, NOISE = 0.18, 9.0
WAYS = {
    "none": "none",
    "pins": "a pin of 10 hours every week",
    "voids": "one hour in twenty void, at random",
    "gaps": "an absence of 31 hours every fortnight",
}


class Run(NamedTuple):
    found: bool
    clear: bool
    holds: bool | None  # whether the interval of the best to the control has the true difference


def happen(spec: Spec, state: ExperimentState, events: list[Event]) -> None:
    for event in events:
        apply(spec, state, *event)


def total(random: Random, step: int, served: list[int]) -> float:
    level = sum(MEANS[arm] for arm in served[-WINDOW:]) / WINDOW
    return max(0.0, round(level * (1 + CYCLE * math.sin(step * math.tau / DAY)) + random.gauss(0, NOISE), 3))


def play(seed: int, version: int, way: str) -> Run:
    spec = specify("shop", list("ABC"), WINDOW, STEPS, policy="random-turns", season=DAY, reward_max=400.0, seed=seed)
    spec = replace(spec, policy_version=version)
    state, random, served = initial(spec), Random(seed), [0] * (WINDOW - 1)
    happen(spec, state, commands.start(spec, state, spec.starts_ms))
    while state.step < STEPS:
        step = state.step
        if way == "pins" and step % WEEK == 50:
            happen(spec, state, commands.pin(spec, state, "A", "a fair"))
        elif way == "pins" and step % WEEK == 60:
            happen(spec, state, commands.unpin(spec, state, "it is over"))
        elif way == "gaps" and step % (2 * WEEK) == 200:
            happen(spec, state, [Event("missed", {"count": 31})])
            served += [state.served] * 31
        served.append(state.served)
        body: dict[str, Any] = {"step": state.step, "served": state.served}
        body["total"] = round(1_000_000 * total(random, state.step, served))
        body["void"] = way == "voids" and random.random() < 0.05
        happen(spec, state, [Event("close", body)])
    said = verdict(spec, state)
    lift, found = said.to_control, said.recommended == BEST
    known = found and lift is not None and lift.low is not None and lift.high is not None
    holds = lift.low <= MEANS[1] - MEANS[0] <= lift.high if known else None  # type: ignore[union-attr,operator]
    return Run(found, said.grade == "clear", holds)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--runs", type=int, default=100)
    runs = asked.parse_args().runs
    present = named("random-turns").version
    print(f"| interruptions, {runs} runs | version | found | clear | 95 % interval holds |\n|---|--:|--:|--:|--:|")
    for way, words in WAYS.items():
        for version in (3, present):
            played = [play(seed, version, way) for seed in range(runs)]
            given = [one.holds for one in played if one.holds is not None]
            shares = [sum(one.found for one in played) / runs, sum(one.clear for one in played) / runs]
            shares.append(sum(given) / max(1, len(given)))
            print(f"| {words} | {version} |", " | ".join(f"{100 * share:.0f} %" for share in shares), "|", flush=True)


if __name__ == "__main__":
    main()
