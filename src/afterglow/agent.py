"""`Agent`: select an arm for a step, then update with the step's total.

    >>> from afterglow import Agent
    >>> agent = Agent(arms=["A", "B", "C"], window=24, seed=7)
    >>> arm = agent.select()  # what to play in this step
    >>> agent.update(3.2)  # all that arrived in it, from any pull
    >>> agent
    <Agent thrift-ucb: 3 arms, window 24, step 1, holding 'A'>

A total is the sum of all rewards that arrived in a step, from pulls of any arm. Standard library only; memory depends
on the number of arms, not on the number of steps.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from afterglow import records
from afterglow.checks import HORIZON, WINDOW, Name, any_seed, arm_names, at_most, number, possible_total, whole
from afterglow.errors import AfterglowError, BadFormat, BadValue, HorizonReached, OutOfTurn
from afterglow.estimation.bounds import Bounds
from afterglow.estimation.comparison import Comparison, compare
from afterglow.estimation.estimates import Estimates, read
from afterglow.estimation.modelled import modelled
from afterglow.estimation.randomisation import Test, randomisation_test
from afterglow.estimation.verdict import Verdict, judge
from afterglow.expected import adjusted_policy, expected_totals, refuse_unadjustable, stored_expectations
from afterglow.pictures import with_estimates
from afterglow.policies.default import default_policy
from afterglow.policies.policy import Policy
from afterglow.policies.registry import is_ours, known_options, merged_options, playable
from afterglow.policies.season import seasonal
from afterglow.policy_runner import Hold, PolicyRunner
from afterglow.rng import POLICY, TEST, key
from afterglow.stored_agent import (
    AgentProgress,
    playable_state,
    refuse_impossible,
    refuse_odd_numbers,
    refuse_unplayable,
    stored_policy,
)

FORMAT, VERSION = "afterglow-agent", 1
ARGUMENTS = ("arms", "window", "horizon", "seed", "run", "reward_max", "confidence", "season")  # that are stored
EXPECTED = ("profile", "typical", "trust")


class Playing(NamedTuple):
    """The current hold: `done` of its `steps` are played."""

    arm: Name
    steps: int
    done: int


class Agent:
    """One experiment: a policy, its state, and estimates of every arm.

    `arms` are names (strings or numbers), or how many there are. `window` is the number of steps over which one
    pull pays, including its own. `reward_max` is the maximum reward of one pull, plus the maximum income of a step
    that no arm causes, if there is any: totals are divided by it. `confidence` is that of `estimates()`. `policy` is a
    name or a Policy of your own; left out, it is `thrift-ucb`, or `random-turns` if there is a season. `options` are
    its settings, which may also be given by name: `Agent(..., options={"C": 0.5})` is `Agent(..., C=0.5)`.
    With a `season`, the length of a cycle in steps, `random-turns` estimates the cycle together with the arms; other
    policies count whole cycles.
    Randomised policies draw from the stream of (`seed`, `run`), like run number `run` of a simulation.
    """

    def __init__(
        self,
        arms: Iterable[Name] | int,
        window: int,
        horizon: int | None = None,
        policy: str | Policy[Any, Any] | None = None,
        *,
        options: Mapping[str, Any] | None = None,
        seed: int = 1,
        run: int = 0,
        reward_max: float = 1.0,
        confidence: float = 0.95,
        season: int = 1,
        profile: Sequence[float] | None = None,
        typical: float | None = None,
        trust: float | None = None,
        **settings: Any,
    ) -> None:
        self.arms = arm_names(arms)
        self.window = at_most("window", whole("window", window, 1, "1 = paid at once"), WINDOW)
        self.horizon = None if horizon is None else at_most("horizon", whole("horizon", horizon, 1), HORIZON)
        self.seed = any_seed(seed)
        self.run = whole("run", run, 0)
        self.reward_max = number("reward_max", reward_max, 0, math.inf, "the maximum reward of one pull")
        self.confidence = number("confidence", confidence, 0, 1)
        self.expected = expected_totals(profile, typical, trust)
        self.season = at_most("season", whole("season", season, 1, "1 = none"), WINDOW)
        given = merged_options(options, settings)
        if policy is None:
            policy = default_policy(len(self.arms), self.window, self.horizon, self.season, given)
        self.policy = playable(policy)
        refuse_unadjustable(self.policy, self.expected)
        self.options = known_options(self.policy, given, (*ARGUMENTS, *EXPECTED))
        played = seasonal(adjusted_policy(self.policy, self.expected), self.season)
        self.settings = played.settings(len(self.arms), self.window, self.horizon, self.options)
        self.step = 0  # steps played
        state = self.policy.start(self.settings)
        for what, record in (("settings", self.settings), ("state", state)):
            records.plain(record, f"{what} of {self.policy.name}:")
        stream = key(self.seed, self.run, POLICY)
        self._runner = PolicyRunner(played, self.settings, state, len(self.arms), stream)
        self._bounds = Bounds(len(self.arms), self.window, self.confidence, self.season)
        self._selected = False  # whether the arm of this step was asked for
        self._restored = False  # from a text, which somebody may have changed; with a policy of ours

    @property
    def finished(self) -> bool:
        """Whether all steps of the horizon are played."""
        return self.step == self.horizon

    @property
    def hold(self) -> Playing | None:
        """The current hold; None between two holds."""
        hold = self._runner.hold
        return None if hold is None else Playing(self.arms[hold.arm], hold.steps, hold.done)

    def select(self) -> Name:
        """The arm to play in this step; the same until `update`."""
        self._refuse_after_horizon()
        with playable_state(self.policy.name, self._restored):
            hold = self._runner.current(None if self.horizon is None else self.horizon - self.step)
        self._selected = True
        return self.arms[hold.arm]

    def update(self, total: float | Decimal, expected: float | None = None) -> None:
        """End the step with the total that arrived in it. If the total is refused, nothing changes.

        `expected` is what was expected of it before the step began, where the agent was created with `typical`.
        """
        self._refuse_after_horizon()
        hold = self._runner.hold
        if not self._selected or hold is None:
            raise OutOfTurn(f"update() ends a step whose arm was asked for, step {self.step:,} has none; call select()")
        seen = possible_total(total, self.window, self.reward_max) / self.reward_max
        adjusted = seen - self.expected.surplus(self.step, expected) / self.reward_max
        arm = hold.arm
        with playable_state(self.policy.name, self._restored):
            self._runner.take(adjusted)
        self._bounds.record(arm, seen, adjusted)
        self.step += 1
        self._selected = False

    def recommend(self) -> Name:
        """The arm recommended so far."""
        if not self.step:
            raise OutOfTurn("recommend() needs at least one step, none is played; call select() and update()")
        learned = self._runner.opened - (self._runner.hold is not None)
        if self.policy.recommend is not None and learned:
            return self.arms[self.policy.recommend(self.settings, self._runner.state)]
        pulls = [tally.pulls for tally in self._bounds.tallies]
        return self.arms[pulls.index(max(pulls))]

    def estimates(self) -> Estimates:
        """Mean and interval of every arm: simultaneous, at any step, for any policy and spread.

        They hold if an arm's expected reward, given all that happened before, is its mean, which demand that lingers
        breaks.
        """
        return read(self._bounds, self.arms, self.window, self.reward_max, self.confidence, horizon=self.horizon)

    def verdict(self, control: Name | None = None, unit: str = "") -> Verdict:
        """The graded answer so far: which arm to keep, by how much it is better, how sure that is, what it assumes.

        `control` is the arm to compare with and to count gains against, `unit` the unit of totals for sentences.
        """
        best = self.recommend() if self.step else None
        compared = self._compared()
        test = None if best is None else self._test()
        tested = None if test is None or best is None else test.better(best)
        return judge(self.estimates(), compared, best, control, over=self.finished, tested=tested, unit=unit)

    def summary(self, control: Name | None = None, unit: str = "") -> str:
        """The verdict in words."""
        return self.verdict(control, unit).sentence

    def explain(self, unit: str = "") -> str:
        """Why the arm of this step was chosen, by the numbers that its policy compares; `unit` is that of totals."""
        self.select()
        hold, runner = self._runner.hold, self._runner
        assert hold is not None
        parts, found = list[str](), runner.index()
        if found is not None:
            parts.append(found.sentence([str(arm) for arm in self.arms], hold.arm, self.reward_max, unit))
        if self.policy.evidence is not None:
            parts.append(f"this rests on {self.policy.evidence(self.settings, runner.state)}")
        chosen = f"{self.policy.name} holds {self.arms[hold.arm]}"
        return "; ".join(parts) if parts else f"{chosen}; it declares no numbers by which it chooses"

    def _compared(self) -> Comparison:
        """The comparison of all arms: by the policy's own model if it has one, else by batches of washed steps."""
        washed = compare(self._bounds.batches, self.horizon)
        if self.policy.contrasts is None:
            return washed
        found = self.policy.contrasts(self.settings, self._runner.state)
        return modelled(found, range(len(self.arms)), washed)

    def test(self) -> Test:
        """The exact test of a randomised schedule, once it has ended; for policies such as `switchback`."""
        if self.policy.test is None:
            raise BadValue(
                f"test() needs a schedule that was drawn at random, {self.policy.name} decides by what it learns; "
                "create the agent with policy='switchback'",
                kind="no-test",
                field="policy",
            )
        test = self._test()
        if test is None:
            ends = self.policy.test(self.settings, self._runner.state).ends
            raise OutOfTurn(f"test() looks once, when the schedule has ended: at step {ends:,}, this is {self.step:,}")
        return test

    def _test(self) -> Test | None:
        """The test, if there is a schedule and it has ended."""
        if self.policy.test is None:
            return None
        blocks = self.policy.test(self.settings, self._runner.state)
        if not blocks.ended:
            return None
        stream = key(self.seed, self.run, TEST)
        return randomisation_test(blocks, self.arms, stream, self.confidence, self.reward_max)

    def to_json(self) -> str:
        """The agent as JSON, at any point; `from_json` continues with the same decisions."""
        runner, bounds, name = self._runner, self._bounds, self.policy.name
        progress = AgentProgress(self.step, int(self._selected), runner.opened, bounds.current, bounds.look)
        values = {
            "format": FORMAT,
            "version": VERSION,
            "policy": {"name": name, "version": self.policy.version, "own": not is_ours(self.policy)},
            **{argument: getattr(self, argument) for argument in ARGUMENTS},
            "options": self.options,
            **stored_expectations(self.expected),
            "settings": records.settings_plain(self.settings, f"settings of {name}:"),
            "state": records.plain(runner.state, f"state of {name}:"),
            "progress": records.plain(progress, "progress:"),
            "hold": runner.hold and records.plain(runner.hold, "hold:"),
            "tallies": [records.plain(tally, "tally:") for tally in bounds.tallies],
            "batches": bounds.batches.values(),
        }
        return records.write(values)

    @classmethod
    def from_json(cls, text: str | bytes, policy: Policy[Any, Any] | None = None) -> "Agent":
        """The agent that `to_json` stored; a policy of your own must be given again."""
        values = records.parse(text, FORMAT, VERSION)
        try:
            for part in ("settings", "state", "progress", "hold", "tallies", "batches"):
                refuse_odd_numbers(values[part], part)
            given = {argument: values[argument] for argument in ARGUMENTS}
            given |= {argument: values[argument] for argument in EXPECTED if argument in values}
            agent = cls(**given, policy=stored_policy(values["policy"], policy), options=values["options"])
            agent._resume(values)
        except BadFormat:
            raise
        except (AfterglowError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise BadFormat(f"the text doesn't make an agent: {error}; it was stored by other code") from error
        return agent

    def _resume(self, values: Mapping[str, Any]) -> None:
        """Restore the stored state, and the settings as they were resolved then."""
        runner, bounds, name = self._runner, self._bounds, self.policy.name
        self.settings = runner.settings = records.settings_like(
            self.settings, values["settings"], f"settings of {name}"
        )
        runner.state = records.like(runner.state, values["state"], f"state of {name}")
        progress = records.like(AgentProgress(0, 0, 0, 0, 0), values["progress"], "progress")
        if values["hold"] is not None:
            runner.hold = records.like(Hold(0, 0, 0), values["hold"], "hold")
        pairs = zip(bounds.tallies, values["tallies"], strict=True)
        tallies = [records.like(tally, value, "tally") for tally, value in pairs]
        if progress.step != sum(tally.pulls for tally in tallies) or progress.selected > (runner.hold is not None):
            raise BadFormat(f"step {progress.step:,} contradicts the tallies or the hold; the text was changed by hand")
        refuse_impossible(runner.hold, tallies, progress, len(self.arms))
        bounds.resume(tallies, progress.current, progress.look)
        bounds.batches.restore(values["batches"], progress.current)
        runner.opened = progress.holds
        self.step, self._selected = progress.step, bool(progress.selected)
        self._restored = is_ours(self.policy)
        if self._restored:
            refuse_unplayable(runner, None if self.horizon is None else self.horizon - self.step)

    def _refuse_after_horizon(self) -> None:
        if self.finished:
            raise HorizonReached(f"all {self.horizon:,} steps are played; recommend() names the arm to keep")

    def __repr__(self) -> str:
        steps = f"step {self.step:,}" + ("" if self.horizon is None else f" of {self.horizon:,}")
        hold = f", holding {self.hold.arm!r}" if self.hold else ", finished" if self.finished else ""
        return f"<Agent {self.policy.name}: {len(self.arms)} arms, window {self.window:,}, {steps}{hold}>"

    _repr_html_ = with_estimates
