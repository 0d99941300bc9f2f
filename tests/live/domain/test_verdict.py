"""The verdict on a live experiment: that of an agent, suppressed by alarms, never for a disabled variant."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from random import Random
from threading import Event
from typing import Any

import pytest

import afterglow
from afterglow import Agent
from afterglow.errors import BadValue
from afterglow.estimation.comparison import MOST
from afterglow.estimation.verdict import Verdict, Versus
from afterglow.live.domain import commands
from afterglow.live.domain.commands import Event as Logged
from afterglow.live.domain.commands import Reported
from afterglow.live.domain.spec import Spec, read_spec, specify
from afterglow.live.domain.state import ExperimentState, Phase, initial
from afterglow.live.domain.status import status
from afterglow.live.domain.transitions import apply
from afterglow.live.domain.verdict import case_of, decided_by, lifts, to_keep, verdict
from afterglow.live.summary import progress, summary
from afterglow.live.verdict_cache import VerdictCache

MEANS = {"49": 20.0, "59": 30.0, "69": 20.0}


def made(**settings: Any) -> tuple[Spec, ExperimentState]:
    given: dict[str, Any] = {"policy": "lean-ucb", "reward_max": 100.0} | settings
    spec = specify("shipping", list(MEANS), 4, given.pop("horizon", 400), **given)
    state = initial(spec)
    happen(spec, state, commands.start(spec, state, spec.starts_ms))
    return spec, state


def happen(spec: Spec, state: ExperimentState, events: list[Logged]) -> None:
    for event in events:
        apply(spec, state, *event)


def play(spec: Spec, state: ExperimentState, steps: int, means: dict[str, float] = MEANS) -> list[float]:
    random, totals = Random(3), list[float]()
    for _ in range(steps):
        totals.append(max(0.0, round(means[spec.variants[state.served]] + random.gauss(0, 3.0), 3)))
        happen(spec, state, [commands.close(spec, state, totals[-1], Reported(0, 0))])
    return totals


@pytest.mark.parametrize(("policy", "season"), [("lean-ucb", 1), ("random-turns", 8)])
def test_a_live_experiment_and_an_agent_give_the_same_verdict(policy: str, season: int) -> None:
    spec, state = made(unit="EUR", seed=1, policy=policy, season=season)
    agent = Agent(list(MEANS), 4, 400, policy, reward_max=100.0, season=season)
    totals = play(spec, state, 330)
    for total in totals:
        agent.select()
        agent.update(total)
    mine, its = verdict(spec, state).to_dict(), agent.verdict("49", "EUR").to_dict()
    assert flat(mine) == pytest.approx(flat(its), rel=1e-9)


def flat(value: Any, name: str = "") -> dict[str, Any]:
    """Numbers by their place, and texts as they are."""
    if isinstance(value, dict):
        return {key: one for part in value for key, one in flat(value[part], f"{name}.{part}").items()}
    if isinstance(value, list | tuple):
        return {key: one for place, part in enumerate(value) for key, one in flat(part, f"{name}.{place}").items()}
    return {name: value} if isinstance(value, int | float) else {f"{name}={value}": 1}


def test_a_policy_of_its_own_model_compares_the_variants_that_it_chooses_among() -> None:
    spec, state = made(policy="random-turns", season=8, horizon=800)
    play(spec, state, 300)
    happen(spec, state, commands.disable(spec, state, "69", "sold out"))
    play(spec, state, 300)
    found = verdict(spec, state)
    assert (found.recommended, found.grade) == ("59", "clear")
    assert found.chances.keys() == {"49", "59"}
    assert found.to_control is not None
    assert found.to_control.mean == pytest.approx(10.0, abs=4.0)  # three of its errors
    assert found.to_control.low is not None
    assert found.to_control.high is not None
    assert found.to_control.low < 10.0 < found.to_control.high


def test_a_stop_before_the_end_is_not_inconclusive() -> None:
    spec, state = made(horizon=100)
    play(spec, state, 12)
    happen(spec, state, commands.stop(spec, state, Reported(0, 0), "enough"))
    assert status(spec, state).status == "stopped"
    spec, state = made(horizon=12, policy="trim-ucb")
    play(spec, state, 12)
    assert state.phase is Phase.OVER
    assert status(spec, state).status == "inconclusive"


def test_an_alarm_suppresses_what_was_proven() -> None:
    spec, state = made(policy="trim-ucb", horizon=1000, reward_max=40.0)
    play(spec, state, 500, {"49": 0.0, "59": 36.0, "69": 0.0})
    assert verdict(spec, state).grade == "proven"
    happen(spec, state, [Logged("close", {"step": 500, "served": state.served, "total": 10**9, "void": False})])
    found = verdict(spec, state)
    assert found.alarm is not None
    assert found.grade not in ("clear", "proven")
    assert "Find the cause of the alarm before you decide." in summary(spec, found, progress(spec, state, 0))


@pytest.mark.parametrize("policy", ["lean-ucb", "random-turns"])
def test_a_shadow_compares_no_variants_because_all_totals_are_of_the_control(policy: str) -> None:
    spec, state = made(policy=policy, season=8, shadow=True, unit="EUR")
    play(spec, state, 300)
    found = verdict(spec, state)
    assert (found.grade, found.chances) == ("exploring", {})
    assert all(row.mean is None for row in lifts(case_of(spec, state)))
    assert found.sentence == (
        "Shadow mode: 49 is served whatever is planned, so variants can't be compared before it goes live."
    )
    said = summary(spec, found, progress(spec, state, 0))
    assert said.endswith("Go live to compare variants: in shadow mode nothing is learned about them.")
    assert "EUR" not in said


def test_advice_names_what_keeps_an_experiment_from_learning() -> None:
    spec, state = made(unit="EUR")
    play(spec, state, 60)
    for events, advised in (
        (
            commands.pin(spec, state, "69", "a fair"),
            "Only 69 is served while it is pinned: unpin it to go on comparing.",
        ),
        (commands.pause(spec, state, "a break"), "It is paused and learns nothing: resume it, or stop it."),
    ):
        happen(spec, state, events)
        found = verdict(spec, state)
        assert found.grade in ("exploring", "leading")
        assert advised in summary(spec, found, progress(spec, state, 0))


@pytest.mark.parametrize(("scale", "most"), [(1, "21 EUR"), (100_000, "2,100,000 EUR")])
def test_an_alarm_says_which_setting_is_wrong_in_the_unit_of_totals(scale: int, most: str) -> None:
    spec, state = made(reward_max=21.0 * scale, unit="EUR", policy="trim-ucb")
    play(spec, state, 200, {variant: scale * mean for variant, mean in MEANS.items()})
    alarm = verdict(spec, state).alarm
    assert alarm is not None
    assert alarm.startswith(
        f"totals exceed what reward_max, the maximum value of one step's decision ({most}), allows by "
    )
    assert " EUR: it is too small; " in alarm
    assert "e+" not in alarm


@pytest.mark.parametrize(
    ("low", "high", "more", "alike"),
    [(-2.0, 2.4, None, True), (-2.0, 2.4, 300, False), (0.1, 2.4, None, False), (-20.0, 22.0, None, False)],
)
def test_only_variants_that_look_alike_may_be_left_alone(low: float, high: float, more: int, alike: bool) -> None:
    spec, state = made()
    play(spec, state, 60)
    row = Versus("59", "49", 0.2, low, high, (1.0, 2 * low, 2 * high), "at any time", None, more)
    found = replace(verdict(spec, state), grade="exploring", recommended="59", to_runner_up=row)
    said = summary(spec, found, progress(spec, state, 0))
    assert ("stop and keep 59 or 49 if a difference within these limits doesn't matter." in said) == alike
    assert ("Let it run: this decides nothing yet." in said) != alike


@pytest.mark.parametrize(("horizon", "few"), [(400, False), (359, True), (None, False)])
def test_the_advice_says_when_too_few_steps_are_left(horizon: int | None, few: bool) -> None:
    spec, state = made()
    play(spec, state, 60)
    row = Versus("59", "49", 0.2, -2.0, 2.4, (1.0, -4.0, 4.8), "at any time", None, 300)
    found = replace(verdict(spec, state), grade="exploring", recommended="59", to_runner_up=row)
    said = summary(spec, found, progress(replace(spec, horizon=horizon), state, 0))
    assert ("decides nothing yet. Probably too few steps are left: 299." in said) == few


def test_a_disabled_variant_is_neither_recommended_nor_compared() -> None:
    spec, state = made()
    play(spec, state, 200)
    assert to_keep(spec, state) == "59"
    happen(spec, state, commands.disable(spec, state, "59", "withdrawn"))
    found = verdict(spec, state)
    assert found.recommended in ("49", "69")
    assert "59" not in found.chances
    assert found.to_runner_up is None or found.to_runner_up.other != "59"


def test_a_model_that_started_afresh_says_so() -> None:
    spec, state = made(policy="random-turns", season=8)
    play(spec, state, 200)
    assert all(row.mean is not None for row in lifts(case_of(spec, state)))
    happen(spec, state, commands.disable(spec, state, "69", "sold out"))
    afresh = "too little of the season has been seen since the policy started afresh"
    assert verdict(spec, state).sentence == f"Not known yet which is best: {afresh}."
    reasons = [row.missing for row in lifts(case_of(spec, state))]
    assert reasons == [afresh, "the policy started afresh without 69"]
    happen(spec, state, commands.enable(spec, state, "69", "back"))
    assert [row.missing for row in lifts(case_of(spec, state))] == [afresh, afresh]


def test_a_shadow_whose_control_is_disabled_recommends_another() -> None:
    spec, state = made(shadow=True)
    play(spec, state, 20)
    happen(spec, state, commands.disable(spec, state, "49", "withdrawn"))
    assert to_keep(spec, state) in ("59", "69")


def test_a_summary_has_numbers_unit_dates_advice_and_assumptions() -> None:
    spec, state = made(unit="EUR", step_seconds=3600, starts=1_790_000_000, horizon=400, policy="trim-ucb")
    play(spec, state, 300)
    said = summary(spec, verdict(spec, state), progress(spec, state, 0))
    assert said.startswith("shipping, 21 Sep 2026 to 4 Oct 2026, 300 of 400 steps: 59 is ")
    assert "Compared with the control 49, 59 brings +" in said
    assert " EUR an hour (+49.6 %), between +5.2 and +14.5." in said
    assert "So far the experiment has brought +" in said
    assert "This assumes that effects arrive alike all the time, and that " in said


def test_a_summary_shows_no_interval_that_is_all_that_totals_allow() -> None:
    spec, state = made(unit="EUR")
    play(spec, state, 300)
    found = verdict(spec, state)
    assert found.to_control is not None
    assert (found.to_control.low, found.to_control.high) == (-100.0, 100.0)
    said = summary(spec, found, progress(spec, state, 0))
    assert "There are too few steps for an interval of 59 compared with the control 49" in said
    assert "between" not in said
    assert "has brought +" not in said
    alarmed = summary(spec, replace(found, alarm="reward_max is too small"), progress(spec, state, 0))
    assert "too few steps for an interval of" not in alarmed  # it isn't for want of steps
    happen(spec, state, commands.pause(spec, state, "stocktaking"))
    assert "It is paused and learns nothing" in summary(spec, verdict(spec, state), progress(spec, state, 0))


def test_before_the_start_a_summary_claims_nothing() -> None:
    spec = specify("shipping", list(MEANS), 4, 400)
    state = initial(spec)
    assert (
        summary(spec, verdict(spec, state), progress(spec, state, 0)) == "shipping: not started. Nothing is known yet."
    )


def test_a_spec_without_a_unit_is_read_and_a_unit_is_short_text() -> None:
    spec = specify("shipping", list(MEANS), 4, unit=" EUR ")
    assert spec.unit == "EUR"
    values = json.loads(spec.text())
    del values["unit"]
    assert read_spec(json.dumps(values)).unit == ""
    for wrong in ("", " ", "x" * 21, 3):
        with pytest.raises(BadValue, match="unit must be a text of at most 20 characters"):
            specify("shipping", list(MEANS), 4, unit=wrong)


def test_every_variant_is_compared_with_the_control() -> None:
    spec, state = made(control="59")
    play(spec, state, 300)
    rows = lifts(case_of(spec, state))
    assert [(row.arm, row.other) for row in rows] == [("49", "59"), ("69", "59")]
    assert all((row.mean or 0.0) < 0 for row in rows)


def test_more_variants_than_can_be_compared_get_a_verdict_that_says_so() -> None:
    names = [str(number) for number in range(MOST + 1)]
    spec = specify("many", names, 1, policy="ucb1")
    state = initial(spec)
    happen(spec, state, commands.start(spec, state, 0))
    for _ in range(3 * len(names)):
        happen(spec, state, [commands.close(spec, state, 0.5, Reported(0, 0))])
    found = verdict(spec, state)
    assert found.to_runner_up is not None
    assert found.to_runner_up.missing == "more than 50 variants are not compared with each other; disable some"
    assert found.chances == {}


def test_a_verdict_is_computed_once_for_each_record_and_only_if_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    spec, state = made()
    play(spec, state, 20)
    asked = list[int]()
    real = decided = verdict(spec, state)

    def count(case: object) -> Verdict:
        asked.append(1)
        return decided

    monkeypatch.setattr("afterglow.live.domain.verdict.decided_by", count)
    cache = VerdictCache()
    now = [status(spec, state, cache.judge((seq, b""))) for seq in (7, 7, 8)]
    assert asked == []
    assert [one.verdict for one in now] == [real, real, real]
    assert now[0].verdict is real
    assert len(asked) == 2


def test_rewards_and_the_current_variant_do_not_wait_for_a_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with afterglow.live.open(tmp_path / "experiments.db") as experiments, ThreadPoolExecutor(1) as pool:
        experiment = experiments.create("shipping", list(MEANS), 4, policy="ucb1")
        computing, may_end = Event(), Event()

        def slow(case: Any) -> Verdict:
            computing.set()
            assert may_end.wait(60)
            return decided_by(case)

        monkeypatch.setattr("afterglow.live.domain.verdict.decided_by", slow)
        asked = pool.submit(experiment.verdict)
        assert computing.wait(60)
        experiment.reward(0.5)
        experiment.close_step()
        assert experiment.decision().step == 1
        may_end.set()
        assert asked.result().recommended is None  # of the state when it was asked
        assert experiment.verdict().recommended == "49"


def test_a_verdict_is_not_about_a_variant_that_the_current_hold_has_shown_to_be_worse() -> None:
    spec = specify("two", ["49", "59"], 2, 400, policy="trim-ucb")
    state, random, contradicted = initial(spec), Random(5), 0
    happen(spec, state, commands.start(spec, state, 0))
    for _ in range(60):
        low = 0.8 * state.served
        happen(spec, state, [commands.close(spec, state, round(random.uniform(low, low + 0.2), 3), Reported(0, 0))])
        found = verdict(spec, state)
        if found.chances.get("59", 0.0) >= 0.9:
            assert found.recommended == "59"
            contradicted += to_keep(spec, state) == "49"  # the policy has not learned its hold yet
    assert contradicted > 0
