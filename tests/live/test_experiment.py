"""A running experiment, used from Python."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from random import Random
from typing import Any

import pytest

import afterglow
from afterglow.errors import BadFormat, BadValue, Conflict, OutOfTurn, UnknownName
from afterglow.live import Experiment, Experiments
from afterglow.policies import registry
from support.service.live_fixtures import ASKED


def test_an_experiment_serves_one_variant_until_its_step_is_closed(experiment: Experiment) -> None:
    assert [experiment.current() for _ in range(3)] == ["49"] * 3
    experiment.close_step(3.0)
    assert experiment.current() == "59"
    assert experiment.decision() == (1, "59", "59", "plan", None, None)


def test_amounts_of_a_step_add_up_exactly_in_any_order(experiments: Experiments) -> None:
    amounts = [0.1, 0.2, 0.3, 1e-6, 7.7] * 4
    totals = []
    for name, order in (("forward", amounts), ("backward", amounts[::-1])):
        experiment = experiments.create(name, **ASKED)
        for amount in order:
            experiment.reward(amount)
        experiment.close_step()
        totals.append(experiment.steps(count=1)[0].total)
    assert totals == [33.200004, 33.200004]


def test_a_reward_sent_again_with_its_key_counts_once(experiment: Experiment) -> None:
    assert experiment.reward(2.5, "key") == (0, 1, 0)
    assert experiment.reward(2.5, "key") == (0, 0, 1)
    with pytest.raises(Conflict, match=r"key 'key' came with amount 2.5 before, now with 2.6; a new reward needs"):
        experiment.reward(2.6, "key")
    assert experiment.rewards([("a", 1), ("a", 1), ("key", 2.5), ("b", 0)]) == (0, 2, 2)
    experiment.close_step()
    assert experiment.reward(2.5, "key") == (1, 0, 1)  # one step later it is still known
    experiment.close_step()
    assert [one.total for one in experiment.steps()] == [3.5, 0.0, None]


def test_amounts_of_money_may_be_decimals(experiment: Experiment) -> None:
    for _ in range(3):
        experiment.reward(Decimal("0.10"))
    experiment.close_step(Decimal("0.30"))
    assert experiment.steps(count=1)[0].total == 0.3


def test_a_batch_is_taken_whole_or_not_at_all(experiment: Experiment) -> None:
    experiment.reward(1.0, "known")
    for batch in ([("new", 1.0), ("known", 2.0)], [("new", 1.0), ("x", -1.0)], [("new", 1.0), ("", 1.0)]):
        with pytest.raises((BadValue, Conflict)):
            experiment.rewards(batch)
    experiment.close_step()
    assert experiment.steps(count=1)[0].total == 1.0


@pytest.mark.parametrize(
    ("amount", "said"),
    [
        (-0.5, "amount must not be negative, got -0.5; report what is left after refunds"),
        (Decimal("-0.5"), r"amount must not be negative, got Decimal\('-0.5'\)"),
        (Decimal("NaN"), "amount must be a number, got"),
        (Decimal("sNaN"), "amount must be a number, got"),
        (float("nan"), "amount must be a number, got nan"),
        (float("inf"), r"amount must be at most window x reward_max = 40, got inf"),
        (40.001, r"amount must be at most window x reward_max = 40, got 40.001"),
        ("3", "amount must be a number, got '3'"),
        (True, "amount must be a number, got True"),
    ],
)
def test_an_impossible_amount_is_refused_by_value(experiment: Experiment, amount: Any, said: str) -> None:
    with pytest.raises(BadValue, match=said):
        experiment.reward(amount)
    with pytest.raises(BadValue, match=said.replace("amount", "total")):
        experiment.close_step(amount)


def test_closing_a_step_again_is_harmless_and_another_total_is_refused(experiment: Experiment) -> None:
    experiment.close_step(3.0, step=0)
    experiment.close_step(3.0, step=0)
    with pytest.raises(Conflict, match=r"step 0 was closed with 3, got 4.0; the first total stays"):
        experiment.close_step(4.0, step=0)
    with pytest.raises(OutOfTurn, match="step 5 can't be closed; the current step is 1"):
        experiment.close_step(4.0, step=5)
    assert experiment.decision().step == 1


def test_a_total_that_contradicts_the_rewards_of_its_step_is_refused(experiment: Experiment) -> None:
    experiment.reward(1.5)
    with pytest.raises(Conflict, match=r"step 0 has 1 rewards that add up to 1.5, got total 2"):
        experiment.close_step(2)
    experiment.close_step(1.5)


def test_a_large_difference_is_explored_then_proven_and_stays_so_after_a_stop(experiments: Experiments) -> None:
    experiment = experiments.create("clear", ["49", "59"], 2, 400, policy="trim-ucb", unit="EUR")
    assert (experiment.status().status, experiment.status().leader) == ("exploring", None)
    random = Random(5)
    while experiment.status().step < 200:
        experiment.close_step(
            round(random.uniform(0.8, 1.0) if experiment.current() == "59" else random.random() / 5, 3)
        )
    assert (experiment.status().status, experiment.status().leader) == ("proven", "59")
    experiment.stop("it is proven", keep="59")
    found = experiment.verdict()
    assert (found.grade, found.over, found.stopped) == ("proven", True, True)
    assert experiment.summary().startswith("clear, ")
    assert " 200 of 400 steps, over: 59 is proven" in experiment.summary()
    assert " The experiment was stopped before its end. " in experiment.summary()


def test_totals_above_what_was_said_are_counted_as_the_most_and_raise_the_alarm(experiments: Experiments) -> None:
    experiment = experiments.create("loud", **ASKED)
    assert experiment.status().alarm is None
    for _ in range(3):
        experiment.reward(30.0)
    experiment.close_step()
    assert experiment.steps(count=1)[0].total == 90.0
    assert "1 step had a total above window x reward_max = 40" in str(experiment.status().alarm)


def test_an_explanation_has_the_numbers_at_the_time_of_the_decision(experiment: Experiment) -> None:
    told = []
    for step in range(30):
        told.append((experiment.explain(step), experiment.current()))
        experiment.close_step(float(step % 3))
    for step, (before, variant) in enumerate(told):
        now = experiment.explain(step)
        assert (now.step, now.variant, now.figures) == (step, variant, before.figures)
        assert str(now.estimates) == str(before.estimates)
        assert sum(now.figures["pulls"].values()) == step
        assert (now.because, now.index) == (before.because, before.index)
        if step >= 3:
            assert now.index[variant] == max(now.index.values())  # ucb1 chooses anew in every step
            assert f"{variant} had the highest index, " in now.because
        else:
            assert now.because == f"{variant} was not tried yet"
    assert (now.index_name, now.index_unit) == ("index", "amount")
    means = {one.arm: one.mean for one in now.estimates}
    assert all(means[name] < value < means[name] + 10 * 10.0 for name, value in now.index.items())  # of reward_max 10
    assert "ucb1 (version 1)" in now.policy
    with pytest.raises(OutOfTurn, match="step 31 of 'shipping' has no decision yet; it is at step 30"):
        experiment.explain(31)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": "a b"}, "name must be 1 to 100 letters, digits, '-' or '_', got 'a b'"),
        ({"variants": ["49"]}, "variants must be at least 2"),
        ({"variants": [49, 59]}, "variants must have strings"),
        ({"window": 0}, "window must be a whole number of at least 1"),
        ({"reward_max": 0}, "reward_max must be a number above 0"),
        ({"reward_max": 1e13}, "window x reward_max at most 1,000,000,000,000, got 1e"),
        ({"reward_max": 1e-5}, "reward_max must be at least 0.001"),
        ({"policy": "trim-ucv"}, "no policy named 'trim-ucv'; did you mean 'trim-ucb'"),
        ({"policy": "attributed-ucb"}, "needs each pull's own reward"),
        ({"rewardmax": 3}, "no setting of thrift-ucb named 'rewardmax'; did you mean 'reward_max'"),
        ({"control": "79"}, "no variant named '79'; did you mean '49'|no variant named '79'"),
        ({"heartbeat": 1}, "heartbeat must be True or False, got 1"),
        ({"step_seconds": 0}, "step_seconds must be a number of at least 0.001"),
    ],
)
def test_a_wrong_spec_is_refused_and_nothing_is_created(
    experiments: Experiments, wrong: dict[str, Any], said: str
) -> None:
    with pytest.raises((BadValue, UnknownName), match=said):
        experiments.create(**{"name": "wrong", **ASKED, **wrong})
    assert experiments.names() == []


def test_an_upgrade_that_decides_otherwise_does_not_touch_a_running_experiment(
    experiments: Experiments, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    experiments.create("old", **ASKED, policy="ucb1").close_step(1.0)
    experiments.close()
    newer = replace(registry.named("ucb1"), version=2)
    monkeypatch.setattr("afterglow.live.domain.spec.version_of", lambda name, version: newer)
    with (
        afterglow.live.open(address) as again,
        pytest.raises(BadFormat, match="runs version 1 of ucb1"),
    ):
        again.get("old")


def test_the_log_names_everything_that_happened_and_why(experiment: Experiment) -> None:
    experiment.pin("59", "a visit")
    experiment.close_step(2.0)
    shown = experiment.events()
    assert [one.kind for one in shown] == ["create", "start", "pin", "close"]
    assert shown[2].body == {"variant": 1, "reason": "a visit"}
    assert shown[3].body == {"step": 0, "served": 0, "total": 2_000_000, "void": False}
    assert [one.kind for one in experiment.events(after=1, count=1)] == ["pin"]
    assert shown[2].at == 1000.0


def test_threads_report_at_the_same_time_and_nothing_is_lost(experiment: Experiment) -> None:
    def report(number: int) -> list[str]:
        return [experiment.current() for turn in range(20) if experiment.reward(0.01, f"{number} {turn}").accepted]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(report, range(8))) == [["49"] * 20] * 8
    experiment.close_step()
    assert experiment.steps(count=1)[0].total == 1.6


def test_a_live_experiment_needs_the_standard_library_alone() -> None:
    code = (
        "import sys, afterglow; from tempfile import TemporaryDirectory\n"
        "with TemporaryDirectory() as folder, afterglow.live.open(folder + '/experiments.db') as experiments:\n"
        "    experiments.create('shipping', ['49', '59'], 4).reward(1.0)\n"
        "print(*(set(sys.modules) & {'numpy', 'numba', 'scipy', 'typer', 'psycopg', 'alembic', 'sqlalchemy'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_experiments_are_listed_and_found_again(experiments: Experiments) -> None:
    for name in ("one", "two"):
        experiments.create(name, **ASKED)
    assert experiments.names() == ["one", "two"]
    assert [repr(one) for one in experiments] == [
        f"<Experiment {name}: 3 variants, thrift-ucb, step 0, running>" for name in ("one", "two")
    ]
    assert experiments["two"] is experiments.get("two")
    assert len(experiments) == 2
    with pytest.raises(UnknownName, match="no experiment named 'on'; did you mean 'one'"):
        experiments.get("on")
    assert all(verdict.ok for verdict in experiments.verify())


def test_options_of_the_policy_may_be_given_by_name_or_as_keywords_but_not_both(experiments: Experiments) -> None:
    asked: dict[str, Any] = {"variants": ["A", "B"], "window": 2, "policy": "leak-ucb"}
    named = experiments.create("named", **asked, options={"C": 0.5})
    short = experiments.create("short", **asked, C=0.5)
    assert named.spec.options == short.spec.options == {"C": 0.5}
    assert named.spec.settings == short.spec.settings
    with pytest.raises(BadValue, match="options has 'C', which is given beside it too; give it once") as twice:
        experiments.create("twice", **asked, options={"C": 0.5}, C=0.5)
    with pytest.raises(BadValue, match="options has the settings of the policy, got 'horizon'"):
        experiments.create("twice", **asked, options={"horizon": 100})
    for name in ("self", "release", "name"):
        with pytest.raises(BadValue):
            experiments.create("twice", **asked, options={name: 1})
    assert (twice.value.field, experiments.names()) == ("options", ["named", "short"])
