r"""The composite wrapper (Cesa-Bianchi, Gentile & Mansour 2018) around EXP3 and Tsallis-INF.

Losses may be chosen by an adversary and spread over the $d$ steps of a window; only their pooled sums are
seen. The wrapper turns a bandit algorithm for immediate losses into one for this setting: it draws an arm from
the algorithm's distribution $p$, holds it for $2d + G$ steps and feeds back one number, so that the algorithm
believes it has played one step.

$G$ is geometric on $\{0, 1, \dots\}$ with success probability $q = 1/(4d - 2)$: nobody can know when a
hold will end. The last $d$ steps of a hold see only what the hold itself generated, because it is at least $2d$
long; their sum lies in $[0, 2d]$, and $\ell = 1 - \text{sum}/(2d)$ is the loss fed back. (Where a hold is made longer
than asked, the last $c$ steps lie in $[0, c + d]$ and are divided by that.) It is divided by $p(\text{arm})$ and added
to the arm's $\hat L$, which keeps the estimates unbiased.

- `composite-exp3`: $p_i \propto e^{-\eta \hat L_i}$ with $\eta = \min(1, 4 \sqrt{d \ln K / ((4K + 1) T)})$, uniform at
  first and without mixing.
- `composite-tsallis`: $p_i = 4 / (\eta_u (\hat L_i - x))^2$, $\eta_u = 2/\sqrt u$ for the $u$-th
  distribution, $u = 1, 2, \dots$, and $x$ such that $\sum p_i = 1$. It needs no horizon.

For Tsallis-INF write $y = \min \hat L - x$ and $D_i = \hat L_i - \min \hat L$: then $\sum u/(D_i + y)^2 = 1$
falls and is convex in $y$, and $y = \sqrt u$ lies left of the root, so Newton's method climbs to it from the left
and can't overshoot, however far apart the losses are.

The price of being safe against adversaries is one number every $6d - 3$ steps, the mean of $2d + G$: in a stochastic
world these two learn slowly. A hold cut by the horizon teaches nothing.

The adversary is oblivious: losses and their division are fixed before the first step. Against spreads that react to
what is played (`hoard`, `chameleon`) there is no guarantee; with such delays every policy can be made to lose the order
of $T^{2/3}$, logarithms aside (Wan, Sun & Zhang 2022).

Nicolò Cesa-Bianchi, Claudio Gentile, Yishay Mansour: Nonstochastic Bandits with Composite Anonymous Feedback,
COLT 2018; with Tommaso Cesari and Roberto Colomboni, and Tsallis entropy, JMLR 23 (2022). Julian Zimmert, Yevgeny
Seldin: Tsallis-INF, JMLR 22 (2021), for the rate $2/\sqrt u$; the 2022 bound is proved for a tuned rate. Zongqi Wan,
Xiaoming Sun, Jialin Zhang: Bounded Memory Adversarial Bandits with Composite Anonymous Delayed Feedback, IJCAI 2022
(abstract read only).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from afterglow.checks import whole
from afterglow.policies.index import DRAWN, Index
from afterglow.policies.policy import Policy

NEWTON_STEPS = 100  # about ten are taken


@dataclass(frozen=True)
class Settings:
    arms: int
    window: int  # d


@dataclass(frozen=True)
class RatedSettings(Settings):
    rate: float  # eta


@dataclass
class State:
    losses: list[float]  # L-hat, importance-weighted
    chances: list[float]  # p
    updates: int  # holds learned from


def configure_exp3(arms: int, window: int, horizon: int) -> RatedSettings:
    arms, window = whole("arms", arms, 2), whole("window", window, 1, "1 = paid at once")
    return RatedSettings(arms, window, exp3_rate(arms, window, whole("horizon", horizon, 1)))


def configure_tsallis(arms: int, window: int) -> Settings:
    return Settings(whole("arms", arms, 2), whole("window", window, 1, "1 = paid at once"))


def exp3_rate(arms: int, window: int, horizon: int) -> float:
    """eta of EXP3 under the wrapper."""
    return min(1.0, 4 * math.sqrt(window * math.log(arms) / ((4 * arms + 1) * horizon)))


def start(settings: Settings) -> State:
    arms = settings.arms
    return State([0.0] * arms, [1 / arms] * arms, 0)


def next_hold(settings: Settings, state: State, draws: Sequence[float]) -> tuple[int, int, int]:
    window = settings.window
    extra = geometric(1 / (4 * window - 2), draws[1])  # G
    return drawn(state.chances, draws[0]), 2 * window + extra, window + extra


def learn_exp3(
    settings: RatedSettings, state: State, arm: int, steps: int, split: int, head: float, body: float
) -> None:
    if charge(settings, state, arm, steps - split, body):
        exponential_weights(state.losses, settings.rate, state.chances)


def learn_tsallis(settings: Settings, state: State, arm: int, steps: int, split: int, head: float, body: float) -> None:
    if charge(settings, state, arm, steps - split, body):
        tsallis_weights(state.losses, state.updates + 1, state.chances)


def charge(settings: Settings, state: State, arm: int, seen: int, total: float) -> bool:
    """Add the loss of a hold to its arm; False if the horizon cut the hold, which leaves fewer than d steps to see."""
    if seen < settings.window:
        return False
    loss = 1 - total / (settings.window + seen)
    state.losses[arm] += loss / state.chances[arm]
    state.updates += 1
    return True


def drawn(chances: Sequence[float], uniform: float) -> int:
    """The arm at `uniform` on the cumulated chances; rounding never draws an arm without a chance."""
    arm = 0
    reached = 0.0
    for candidate in range(len(chances)):
        if chances[candidate] > 0.0:
            arm = candidate
            reached += chances[candidate]
            if uniform < reached:
                return arm
    return arm


def geometric(success: float, uniform: float) -> int:
    """Failures before the first success: at least g with probability (1 - success)**g."""
    return int(math.log1p(-uniform) / math.log1p(-success))


def lowest(values: Sequence[float]) -> float:
    least = values[0]
    for value in values:
        least = min(least, value)
    return least


def exponential_weights(losses: list[float], rate: float, chances: list[float]) -> None:
    """Set `chances` in proportion to exp(-rate * loss)."""
    least = lowest(losses)
    total = 0.0
    for arm in range(len(losses)):
        chances[arm] = math.exp(-rate * (losses[arm] - least))
        total += chances[arm]
    for arm in range(len(losses)):
        chances[arm] /= total


def tsallis_weights(losses: list[float], updates: int, chances: list[float]) -> None:
    """Set `chances` to u / (loss - x)**2, with x such that they add up to one."""
    least = lowest(losses)
    y = math.sqrt(updates)
    for _ in range(NEWTON_STEPS):
        total = 0.0
        slope = 0.0
        for arm in range(len(losses)):
            far = losses[arm] - least + y
            total += updates / (far * far)
            slope += 2 * updates / (far * far * far)
        step = (total - 1) / slope
        if step <= 1e-15 * y:
            break
        y += step
    total = 0.0
    for arm in range(len(losses)):
        far = losses[arm] - least + y
        chances[arm] = updates / (far * far)
        total += chances[arm]
    for arm in range(len(losses)):
        chances[arm] /= total


def index(settings: Settings, state: State, draws: Sequence[float]) -> Index:
    return Index(state.chances[:], DRAWN, "chance")


exp3 = Policy(
    "composite-exp3", RatedSettings, State, start, next_hold, learn_exp3, configure_exp3,
    draws=2,
    summary="EXP3 on random holds of twice the window and more",
    guarantee="O(sqrt(d K T log K)), losses chosen by an oblivious adversary",
    source="Cesa-Bianchi, Gentile & Mansour 2018",
    index=index,
)  # fmt: skip
tsallis = Policy(
    "composite-tsallis", Settings, State, start, next_hold, learn_tsallis, configure_tsallis,
    draws=2,
    summary="Tsallis-INF on random holds of twice the window and more; no horizon needed",
    guarantee="O(sqrt(d K T)) with a tuned rate, losses chosen by an oblivious adversary; ours tunes itself",
    source="Cesa-Bianchi, Cesari, Colomboni, Gentile & Mansour 2022; Zimmert & Seldin 2021",
    index=index,
)  # fmt: skip
