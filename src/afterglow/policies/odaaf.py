r"""ODAAF (Pike-Burke, Agrawal, Szepesvári & Grünewälder 2018): elimination that knows the delay's mean.

Their setting is the one where a pull's whole reward arrives at once after a random delay, drawn afresh for
each pull from one law with mean $E$ and variance $V$; only pooled totals are seen. A phase then gains and
loses about $E$ rewards at its edges, and how far they may stray from that is known by Bernstein's inequality.
With $L = \log(T \tilde\Delta^2)$ and $\tilde\Delta = 2^{-m}$, phase $m$ ends when an active arm's $n_m$ pulls
make its mean right to half the gap:

$$\sqrt{\frac{2L}{n_m}} + \frac{4L}{3 n_m} + \frac{\text{leak}}{n_m} \le \frac{\tilde\Delta}{2}
\iff n_m \ge \frac{1}{\tilde\Delta^2}
\Big(\sqrt{2L} + \sqrt{2L + \tfrac83 \tilde\Delta L + 2 \tilde\Delta \cdot \text{leak}}\Big)^2.$$

- `odaaf` knows $E$: the leaks of all phases add up, leak $= 3 m E$.
- `odaaf-bounded` knows $E$ and the window $d$: leak $= 2 E$, because a bridge after each phase catches what
  the dropped arms still owe. That takes phases of $d - 1$ steps, $n_m \ge m (d - 1)$; where this asks for more
  than `odaaf` would play, the pulls of `odaaf` are enough. So $n_m$ is the larger of the above and
  $\min(m (d - 1), n)$, with $n$ the pulls of `odaaf` before rounding.
- `odaaf-variance` knows $E$ and $V$: leak $= 2 (E + 2 V)$, with the bridge.

There is no guarantee when the spread is not such a random delay: one that depends on the arm, or an adversary,
can keep the edges far from their mean. `mean_delay` counts steps after the pull's own, so it is at most $d - 1$.

Ciara Pike-Burke, Shipra Agrawal, Csaba Szepesvári, Steffen Grünewälder: Bandits with Delayed, Aggregated
Anonymous Feedback, ICML 2018, Algorithm 1 and the three choices of $n_m$ in section 4. Differences: their $d$ is
the largest delay, our $d - 1$; the bridge plays the best arm left, where theirs may be any; the best active arm
is held to the end once $T \tilde\Delta^2 < e$; the last hold stops at the horizon.
"""

import math

from afterglow.checks import between, whole
from afterglow.policies._elimination import Settings, State, gaps, index, learn, next_hold, recommend, start
from afterglow.policies.policy import Policy

STEPS_LATE = "steps from a pull to its reward"


def pulls_for(horizon: int, gap: float, leak: float) -> float:
    """The least pulls, before rounding, that make a mean right to gap / 2 in spite of `leak`."""
    level = math.log(horizon * gap * gap)  # L
    inner = 2 * level + 8 / 3 * gap * level + 2 * gap * leak
    return (math.sqrt(2 * level) + math.sqrt(inner)) ** 2 / (gap * gap)


def schedule(horizon: int, mean_delay: float) -> list[int]:
    """n_1, n_2, ... of `odaaf`."""
    return [math.ceil(pulls_for(horizon, gap, 3 * m * mean_delay)) for m, gap in enumerate(gaps(horizon, 0.5), 1)]


def bounded_schedule(horizon: int, window: int, mean_delay: float) -> list[int]:
    """n_1, n_2, ... of `odaaf-bounded`."""
    found = []
    for m, gap in enumerate(gaps(horizon, 0.5), 1):
        without_bridge = pulls_for(horizon, gap, 3 * m * mean_delay)
        settling = min(float(m * (window - 1)), without_bridge)
        found.append(math.ceil(max(settling, pulls_for(horizon, gap, 2 * mean_delay))))
    return found


def variance_schedule(horizon: int, mean_delay: float, delay_variance: float) -> list[int]:
    """n_1, n_2, ... of `odaaf-variance`."""
    leak = 2 * (mean_delay + 2 * delay_variance)
    return [math.ceil(pulls_for(horizon, gap, leak)) for gap in gaps(horizon, 0.5)]


def configure(arms: int, horizon: int, mean_delay: float) -> Settings:
    arms, horizon = whole("arms", arms, 2), whole("horizon", horizon, 1)
    mean_delay = between("mean_delay", mean_delay, 0, note=STEPS_LATE)
    return Settings(arms, horizon, 0, schedule(horizon, mean_delay), gaps(horizon, 0.5))


def configure_bounded(arms: int, window: int, horizon: int, mean_delay: float) -> Settings:
    arms, horizon = whole("arms", arms, 2), whole("horizon", horizon, 1)
    window = whole("window", window, 1, "1 = paid at once")
    mean_delay = between("mean_delay", mean_delay, 0, window - 1, f"{STEPS_LATE}, within the window of {window:,}")
    return Settings(arms, horizon, 1, bounded_schedule(horizon, window, mean_delay), gaps(horizon, 0.5))


def configure_variance(arms: int, horizon: int, mean_delay: float, delay_variance: float) -> Settings:
    arms, horizon = whole("arms", arms, 2), whole("horizon", horizon, 1)
    mean_delay = between("mean_delay", mean_delay, 0, note=STEPS_LATE)
    delay_variance = between("delay_variance", delay_variance, 0)
    return Settings(arms, horizon, 1, variance_schedule(horizon, mean_delay, delay_variance), gaps(horizon, 0.5))


odaaf = Policy(
    "odaaf", Settings, State, start, next_hold, learn, configure, recommend,
    summary="drop arms in phases, the mean delay known",
    guarantee="O(sqrt(K T log K) + K E log T) for one random delay per pull with mean E",
    source="Pike-Burke, Agrawal, Szepesvári & Grünewälder 2018, section 4.1",
    index=index,
)  # fmt: skip
bounded = Policy(
    "odaaf-bounded", Settings, State, start, next_hold, learn, configure_bounded, recommend,
    summary="drop arms in phases with a bridge between them, mean and largest delay known",
    guarantee="O(sqrt(K T log K) + K E) for one random delay per pull with mean E, window not too long",
    source="Pike-Burke, Agrawal, Szepesvári & Grünewälder 2018, section 4.2",
    index=index,
)  # fmt: skip
variance = Policy(
    "odaaf-variance", Settings, State, start, next_hold, learn, configure_variance, recommend,
    summary="drop arms in phases with a bridge between them, mean and variance of the delay known",
    guarantee="O(sqrt(K T log K) + K (E + V)) for one random delay per pull with mean E, variance V",
    source="Pike-Burke, Agrawal, Szepesvári & Grünewälder 2018, section 4.3",
    index=index,
)  # fmt: skip
