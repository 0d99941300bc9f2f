r"""ARS-EXP3 (after Wang, Wang & Huang 2021): EXP3 on rounds that grow, so the window need not be known.

A pull pays within an unknown window $d$, only pooled totals are seen, and an adversary chooses what is paid. In round
$j$ one arm is drawn and held for $s_j = \lceil \sqrt{j} \rceil$ steps. With $Y_j$ the total seen in the round, cut to
$[0, s_j]$, the loss $s_j - Y_j$ is that of the arm up to less than $d$ at either edge. EXP3 learns from it: with $p_j$
the chance that the arm had,

$$L_i \leftarrow L_i + \frac{s_j - Y_j}{p_j} \text{ for the arm held}, \qquad
p_{j+1} \propto \exp(-\eta_j L_i), \qquad \eta_j = \sqrt{\frac{\log K}{K \sum_{l \le j} s_l^2}}.$$

Why the root: $J$ rounds last $T \approx \frac{2}{3} J^{3/2}$ steps. Their edges cost at most $2dJ$, and EXP3 with
losses of at most $s_j$ costs $2\sqrt{K \log K \sum_j s_j^2} \approx J \sqrt{2 K \log K}$, as for any losses that an
oblivious adversary chose. Both are of order $J$, so the regret is of order $(d + \sqrt{K \log K})\,T^{2/3}$ without
knowing $d$ or $T$. Rounds that grow faster pay more for few decisions, rounds that grow slower pay more for edges. This
argument is a sketch of ours: it treats what is seen as the loss of a bandit without delay, which it is up to the edges.

Siwei Wang, Haoyun Wang, Longbo Huang: Adaptive Algorithms for Multi-armed Bandit with Composite and Anonymous
Feedback, AAAI 2021, the adversarial algorithm. Not checked against the paper's text: the growth of the rounds, the
rate, and whether its bound, which covers adversaries that react, has these terms. Where arms have fixed means, policies
for that case lose far less.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from afterglow.checks import whole
from afterglow.policies.composite import drawn, exponential_weights
from afterglow.policies.index import DRAWN, Index
from afterglow.policies.policy import Policy


@dataclass(frozen=True)
class Settings:
    arms: int


@dataclass
class State:
    losses: list[float]  # L_i
    chances: list[float]  # p_i
    rounds: int  # j - 1, rounds learned
    squares: float  # sum of their squared sizes


def configure(arms: int) -> Settings:
    return Settings(whole("arms", arms, 2))


def start(settings: Settings) -> State:
    arms = settings.arms
    return State([0.0] * arms, [1 / arms] * arms, 0, 0.0)


def next_hold(settings: Settings, state: State, draws: Sequence[float]) -> tuple[int, int, int]:
    size = 1 if state.rounds == 0 else int(math.sqrt(state.rounds)) + 1  # the root of j, rounded up
    return drawn(state.chances, draws[0]), size, 0


def learn(settings: Settings, state: State, arm: int, steps: int, split: int, head: float, body: float) -> None:
    loss = min(max(steps - (head + body), 0.0), float(steps))
    state.losses[arm] += loss / state.chances[arm]
    state.rounds += 1
    state.squares += steps * steps
    rate = math.sqrt(math.log(settings.arms) / (settings.arms * state.squares))
    exponential_weights(state.losses, rate, state.chances)


def index(settings: Settings, state: State, draws: Sequence[float]) -> Index:
    return Index(state.chances[:], DRAWN, "chance")


policy = Policy(
    "ars-exp3", Settings, State, start, next_hold, learn, configure,
    draws=1,
    bounded=True,
    summary="EXP3 on rounds that grow as a root; neither window nor horizon need be known",
    guarantee="O((d + sqrt(K log K)) T^(2/3)), losses chosen by an oblivious adversary (sketch)",
    source="after Wang, Wang & Huang 2021",
    index=index,
)  # fmt: skip
