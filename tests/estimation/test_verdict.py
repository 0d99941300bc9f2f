"""The graded verdict: grades, numbers and sentences."""

from random import Random

import pytest

from afterglow import Agent
from afterglow.estimation import Verdict
from afterglow.estimation.batch_means import Batches
from afterglow.estimation.comparison import compare
from afterglow.estimation.sentences import remedy
from afterglow.estimation.verdict import Gained, Versus, is_clear, judge


def played(
    means: dict[str, float], steps: int, policy: str = "lean-ucb", sd: float = 120.0, horizon: int = 1_000
) -> Agent:
    """Totals in a window of 6 whose long sums vary by `sd` a step."""
    chance = Random(2)
    agent = Agent(list(means), 6, horizon, policy, reward_max=1_200)
    for _ in range(steps):
        agent.update(max(0.0, chance.gauss(means[str(agent.select())], sd / 6**0.5)))
    return agent


def verdict_of(agent: Agent, **how: object) -> Verdict:
    known, compared = agent.estimates(), compare(agent._bounds.batches, agent.horizon)
    return judge(known, compared, agent.recommend(), "49", **how)  # type: ignore[arg-type]


def test_a_doubling_is_clear_with_numbers_in_the_unit_and_in_percent() -> None:
    verdict = played({"49": 400, "59": 800}, 500).verdict("49", "EUR")
    assert (verdict.grade, verdict.recommended, verdict.over) == ("clear", "59", False)
    row = verdict.to_control
    assert row is not None
    assert row == verdict.to_runner_up
    assert row.low is not None
    assert row.percent is not None
    assert 0 < row.low < 400 < (row.high or 0)
    assert row.percent[0] == pytest.approx(100, abs=15)
    assert row.valid == "at any time"
    assert verdict.chance is not None
    assert verdict.chance > 0.99
    assert verdict.gained is not None
    assert (verdict.gained.low or 0) > 0
    assert verdict.sentence.startswith("59 is clearly the best; over 49, which comes closest, it brings +")
    assert " EUR)" in verdict.sentence


def test_nothing_is_clear_while_an_alarm_stands() -> None:
    verdict = verdict_of(played({"49": 400, "59": 800}, 500), alarm="reward_max is too small")
    assert verdict.grade == "leading"
    assert verdict.sentence.endswith("Nothing is called clear while an alarm stands: reward_max is too small.")


def test_an_end_without_a_grade_is_inconclusive_or_stopped_and_says_what_would_tell() -> None:
    agent = played({"49": 400, "59": 402}, 400)
    over, stopped = verdict_of(agent, over=True), verdict_of(agent, over=True, stopped=True)
    assert {over.grade, stopped.grade} <= {"inconclusive", "stopped", "leading"}
    assert over.to_runner_up is not None
    assert stopped.to_runner_up is not None
    assert over.to_runner_up.valid == "one look at the fixed end"
    assert stopped.to_runner_up.valid == "at any time"
    extended = verdict_of(agent, over=True, extended=True)  # its end was moved while it ran: no look was fixed
    assert extended.to_runner_up is not None
    assert extended.to_runner_up.valid == "at any time"
    assert stopped.sentence.endswith(" The experiment was stopped before its end.")
    assert "more steps" in over.sentence


def test_an_interval_is_not_wider_than_rewards_can_differ() -> None:
    agent = played({"49": 400, "59": 800}, 45)
    row = agent.verdict("49").to_runner_up
    assert row is not None
    assert row.low is not None
    assert row.high is not None
    assert row.low >= -1_200
    assert row.high <= 1_200


def test_what_is_missing_is_told_with_the_steps_that_cure_it() -> None:
    verdict = played({"49": 400, "59": 800}, 8).verdict("49")
    assert verdict.grade == "exploring"
    assert verdict.to_runner_up is not None
    assert verdict.to_runner_up.mean is None
    assert verdict.to_runner_up.missing
    assert verdict.to_runner_up.more_steps


def test_bounds_that_are_apart_prove_only_where_noise_does_not_linger() -> None:
    """A drift that all arms share: the bounds are apart, and nothing is proven."""
    chance, level = Random(5), 0.0
    agent = Agent(["49", "59"], 6, 4_000, "trim-ucb", reward_max=1_200)
    for _ in range(4_000):
        level = 0.998 * level + 12 * chance.gauss(0, 1)
        mean = {"49": 100, "59": 900}[str(agent.select())]
        agent.update(min(max(0.0, mean + level + chance.gauss(0, 20)), 1_200.0))
    verdict = agent.verdict("49")
    known = agent.estimates()
    assert known["59"].low > known["49"].high
    assert verdict.lingers is not None
    assert verdict.grade != "proven"
    steady = played({"49": 100, "59": 900}, 2_000, "trim-ucb", 20, 2_000).verdict("49")
    assert steady.grade == "proven"
    assert steady.assumes[0] == "an arm's expected reward, given all that happened before, is its mean"


@pytest.mark.parametrize(("better", "grade"), [(0.0, "exploring"), (0.016, "leading"), (0.1, "proven")])
def test_bounds_that_are_apart_prove_only_what_is_clear_by_washed_totals(better: float, grade: str) -> None:
    """A promotion that one arm meets moves bounds apart before noise is seen to linger."""
    known = played({"49": 100, "59": 900}, 2_000, "trim-ucb", 20, 2_000).estimates()
    batches, chance = Batches(2, 6), Random(3)
    for _ in range(40):
        for arm in (0, 1):
            batches.add_all(arm, [chance.gauss(0.4 + better * arm, 0.1) for _ in range(12)])
            batches.end()
    compared = compare(batches, 2_000)
    assert compared.lingers is None
    assert known["59"].low > known["49"].high
    assert is_clear(compared, 1, (0, 1), 0.95, fixed_end=True) == (better > 0)  # by one look, which decides at the end
    assert judge(known, compared, "59", "49").grade == grade
    assert judge(known, compared, "59", "49", over=True).grade == ("proven" if better else "inconclusive")


def test_what_would_help_is_a_number_and_never_said_under_an_alarm_or_without_totals() -> None:
    close, wide = played({"49": 400, "59": 400}, 900, sd=1.0), played({"49": 400, "59": 400}, 500)
    assert "They are so close that more steps hardly help: keep either." in close.verdict("49").sentence
    assert " would tell, if the difference is as large as it looks." in wide.verdict("49").sentence
    alike = Versus("59", "49", 0.1, -40.0, 41.0, (0.02, -10.0, 10.2), "at any time")
    assert remedy(wide.verdict("49"), alike, ["49"], 1_000.0) == (
        "They look alike so far: four times as many steps on both would halve that interval."
    )
    assert "more steps" not in verdict_of(wide, alarm="reward_max is too small").sentence
    assert "more steps would allow a comparison." in played({"49": 400, "59": 400}, 8).verdict("49").sentence
    unpaid = played({"49": 0, "59": 0}, 200, sd=0.0).verdict("49", "EUR")
    assert played({"49": 0, "59": 0}, 200, sd=0.0).summary("49", "EUR") == unpaid.sentence
    assert unpaid.sentence.startswith("Nothing was paid: every total is 0. Check that rewards are reported")
    assert "ahead" not in unpaid.sentence


def test_an_arm_that_is_behind_is_never_said_to_be_ahead() -> None:
    """A policy that was restarted may recommend an arm that is behind by all that was seen."""
    batches, chance = Batches(2, 6), Random(3)
    for _ in range(12):
        for arm, mean in ((0, 0.43), (1, 0.4)):
            batches.add_all(arm, [chance.gauss(mean, 0.1) for _ in range(12)])
            batches.end()
    estimates = Agent(["49", "59"], 6, 1_000, reward_max=1_200).estimates()
    ahead, behind = (judge(estimates, compare(batches, 1_000), name, "49").sentence for name in ("49", "59"))
    assert ahead.startswith("No variant stands out yet; 49 is ahead of 59 (chance ")
    assert behind.startswith("No variant stands out yet; 59 would be kept (chance ")
    assert ", but 49 is ahead of it; 59 less 49: −" in behind


def test_a_sentence_names_the_arm_that_is_in_doubt_not_the_one_that_is_told_apart() -> None:
    """59 is told from 69, which comes closest, but 49 had few batches."""
    batches, chance = Batches(3, 6), Random(3)
    for _ in range(12):
        for arm, mean in ((1, 0.5), (2, 0.4)):
            batches.add_all(arm, [chance.gauss(mean, 0.04) for _ in range(12)])
            batches.end()
    batches.add_all(0, [0.3] * 6)
    estimates = Agent(["49", "59", "69"], 6, 1_000, reward_max=1_200).estimates()
    verdict = judge(estimates, compare(batches, 1_000), "59", "49")
    assert verdict.to_runner_up is not None
    assert (verdict.to_runner_up.other, (verdict.to_runner_up.low or 0) > 0) == ("69", True)
    assert verdict.grade in ("leading", "exploring")
    assert verdict.sentence.startswith("59 is better than 69: +2")
    assert verdict.sentence.endswith(
        ". But it has had too few steps beside 49 to be told from it. More steps on 49 would tell."
    )


def test_an_interval_that_says_nothing_is_not_printed() -> None:
    batches, chance = Batches(2, 6), Random(3)
    batches.add_all(0, [chance.random() for _ in range(60)])
    batches.end()
    batches.add_all(1, [0.3] * 3)
    estimates = Agent(["49", "59"], 6, 1_000, reward_max=1_200).estimates()
    verdict = judge(estimates, compare(batches, 1_000), "49", "49")
    assert verdict.to_runner_up is not None
    assert (verdict.to_runner_up.low, verdict.to_runner_up.high) == (-1_200, 1_200)
    assert "with too few steps for an interval" in verdict.sentence
    assert verdict.sentence.endswith("More steps on 59 would tell.")
    other = judge(estimates, compare(batches, 1_000), "59", "49")
    assert other.gained == Gained(None, None, None)  # before: between about minus and plus all that rewards allow
