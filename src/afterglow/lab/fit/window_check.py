"""The verdict on a window (long enough, too short, unclear), as text, and the window that the data suggest."""

from dataclasses import dataclass, replace
from typing import Literal

from afterglow.lab.fit.recorded import Recorded
from afterglow.lab.fit.window_test import LEVEL, Past, past

Verification = Literal["long enough", "too short", "unclear"]
UNTOLD = 24  # where no window is given and none can be tested
MOST_TESTED = 50_000  # steps


@dataclass(frozen=True)
class WindowCheck:
    """The tests of the given window and of others, with a verdict."""

    window: int  # the tested one
    verdict: Verification
    p: float | None  # p-value; None if it can't be tested
    most: float | None  # upper bound on an arm's excess over the average per pull after it
    suggested: int | None  # the shortest for which, and for all longer ones tested, no effect is detected
    sentence: str
    tests: list[Past]
    alarm: str | None = None

    def with_alarm(self, alarm: str | None) -> "WindowCheck":
        """The same with a contradiction among proved bounds, which shows that the window is too short."""
        if alarm is None:
            return self
        return replace(self, verdict="too short", alarm=alarm, sentence=f"{self.sentence}; {alarm}")


def check_window(recorded: Recorded, given: int | None, confidence: float) -> WindowCheck:
    """Test the given window and others, as far as the data allow; of very many steps, on the last of them."""
    tested = "" if len(recorded) <= MOST_TESTED else f"; tested on the last {MOST_TESTED:,} steps"
    recorded = recorded.last(MOST_TESTED)
    mine = past(recorded, given, confidence) if given else None
    enough = mine is not None and not mine.seen  # then longer ones need no test
    others = [window for window in candidates(recorded) if window != given and not (enough and window > (given or 0))]
    tests = [found for window in others if (found := past(recorded, window, confidence))]
    tests = sorted([*tests, mine] if mine else tests, key=lambda test: test.window)
    seen = [test.window for test in tests if test.seen]
    quiet = [test.window for test in tests if test.window > max(seen, default=0)]
    suggested = quiet[0] if quiet else None
    window = given or suggested or (max(seen) if seen else min(UNTOLD, max(1, len(recorded) // 20)))
    mine = next((test for test in tests if test.window == window), None)
    verdict: Verification = "unclear" if mine is None else "too short" if mine.seen else "long enough"
    sentence = sentence_of(mine, window, suggested, seen) + tested
    p, most = (None, None) if mine is None else (mine.p, mine.most)
    return WindowCheck(window, verdict, p, most, suggested, sentence, tests)


def candidates(recorded: Recorded) -> list[int]:
    """1, 2, 3, 4, 6, 8, 12, … up to a twentieth of the steps."""
    powers = [2**n for n in range(len(recorded).bit_length())]
    found = {window for power in powers for window in (power, power + power // 2)}
    return sorted(window for window in found if window <= len(recorded) // 20)


def sentence_of(mine: Past | None, window: int, suggested: int | None, seen: list[int]) -> str:
    """The verdict as a sentence."""
    longer = f"use {suggested:,}" if suggested else "use a longer one; these steps don't show how long"
    if mine is None:
        least = max(seen, default=0)
        hint = f", but an effect after {least:,} steps is detected" if least else ""
        return (
            f"whether a window of {window:,} is long enough is unclear: too few changes of arm are followed by a run "
            f"that long{hint}"
        )
    chance = "p < 0.0001" if mine.p < 1e-4 else f"p = {mine.p:.2g}"
    if mine.seen:
        return (
            f"a window of {window:,} is too short: totals still depend on the arms played {window:,} and more steps "
            f"before ({chance}); {longer}"
        )
    shorter = f"; {suggested:,} would be enough" if suggested and suggested < window else ""
    return (
        f"a window of {window:,} appears long enough: no effect is detected at lags {window:,} to "
        f"{mine.until - 1:,} ({chance}), where no arm differs from the average by more than {mine.most:.3g} per pull"
        f"{shorter}; the test misses small effects, so a longer window is safer than a shorter one"
    )


__all__ = ["LEVEL", "Verification", "WindowCheck", "check_window"]
