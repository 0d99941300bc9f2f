"""The verdict of a plan, from how often the best arm is found."""

LEVELS = {"80 %": 0.8, "95 %": 0.95}
SKILL = 1 / 3  # of the way from guessing to certainty, below which a plan is hopeless


def verdict_of(found: float, arms: int) -> str:
    """The verdict on how often the best arm is found; `gamble` is at least a third of the way from guessing to 1."""
    if found >= LEVELS["80 %"]:
        return "yes" if found >= LEVELS["95 %"] else "probably"
    return "gamble" if found - 1 / arms >= SKILL * (1 - 1 / arms) else "hopeless"
