"""Settings of an experiment, declared once: names, limits, defaults and texts for Python, HTTP, the form and the docs.

All are arguments of `Experiments.create`. What else is given there belongs to the policy.
"""

from collections.abc import Mapping
from typing import Any

from afterglow.errors import BadValue, argument
from afterglow.expected import LONGEST, MOST_TRUST
from afterglow.live.domain import limits
from afterglow.live.domain.amounts import MOST
from afterglow.live.domain.arguments import Argument, Kind
from afterglow.policies.registry import DEFAULT

SETTINGS = (
    Argument(
        "name", Kind.NAME, "Letters, digits, `-` and `_`. Used in URLs.", example="shipping",
        label="Name", hint="Letters, digits, - and _. Used in URLs and as the key of the OpenFeature flag.",
    ),
    Argument(
        "variants", Kind.VARIANTS, "Names of the variants, at least two.", most=limits.VARIANTS,
        example=["49", "59", "69"],
        label="Variants", hint="One per line. Your program receives these names.",
    ),
    Argument(
        "units", Kind.UNITS,
        "Names of units (regions, stores, machines) that have a total of their own each step, 2 to 200. One policy "
        "decides for all; what they share cancels.", None, example=None, advanced=True,
        label="Units", hint="One per line: regions, stores or machines, each with a total of its own. Empty for one "
        "total a step. At most 20 variants then.",
    ),
    Argument(
        "levels", Kind.LEVELS,
        "Mean total of a step of each unit before the start, for all units or none.", None, example=None, advanced=True,
        label="Levels of the units", hint="name = mean total of a step before the start, one per line. Empty if not "
        "known.",
    ),
    Argument(
        "step_seconds", Kind.NUMBER,
        "Length of a step in seconds. Without it, a program closes each step.", None,
        least=limits.SHORTEST, most=limits.LONGEST, note="up to 366 days",
        label="Length of a step",
        hint="Everyone gets the same variant during a step. Choose the period for which you already know a total: "
        "an hour, a shift, a day.",
    ),
    Argument(
        "window", Kind.WHOLE, "Number of steps over which the effect of one step can last, that step included.",
        least=1, most=limits.WINDOW, note="1 = paid at once", example=24,
        label="Window, in steps",
        hint="How long the effect of one step can last, that step included. With steps of an hour, 24 means one day. "
        "Include delays in reporting. If unsure, choose longer.",
    ),
    Argument(
        "horizon", Kind.WHOLE, "Number of steps in all, excluded steps included. Without it, there is no end.", None,
        least=1, most=limits.HORIZON,
        label="Horizon, in steps",
        hint="Total number of steps. Empty for no end, if the policy allows it.",
    ),
    Argument(
        "reward_max", Kind.NUMBER, "Maximum value of one step's decision, over all the steps in which it arrives.",
        1.0, above=0, most=MOST, note="all that one step's decision can bring, whenever it arrives", initial="",
        label="Maximum value of one step's decision",
        hint="In the unit of totals, over all the steps in which it arrives: for example, the margin of your best "
        "hour. Too small raises an alarm, too large makes intervals wide.",
    ),
    Argument(
        "unit", Kind.TEXT, "Unit of totals, such as `EUR`, for sentences and pages.", None, most=limits.UNIT,
        example="EUR", label="Unit of totals", hint="For example EUR, orders or minutes. Empty for none.",
    ),
    Argument(
        "policy", Kind.POLICY,
        "Name of the policy, one that can run on totals. Left out, with a season, it is `random-turns`.", DEFAULT,
        label="Policy", advanced=True, initial="",
        hint="Chooses which variant to serve and for how long. Empty for thrift-ucb, or for random-turns if there is a "
        "season. Run afterglow plan to compare them with others for your figures.",
    ),
    Argument(
        "options", Kind.OPTIONS, "Settings of the policy, by name.", {},
        label="Settings of the policy", advanced=True, hint="name = value, one per line. Usually empty.",
    ),
    Argument(
        "control", Kind.VARIANT,
        "Variant served before the start, while paused, in shadow mode and after `stop`.", None,
        shown_default="the first", label="Control", advanced=True,
        hint="The variant served before the start and while paused. Empty for the first.",
    ),
    Argument(
        "season", Kind.WHOLE, "Length of a cycle in steps. Whole cycles of each hold are counted. 1: none.", 1,
        least=1, most=limits.SEASON, note="1 = none",
        label="Season, in steps", advanced=True,
        hint="Length of a daily or weekly cycle: 24 for steps of an hour. 1 for none.",
    ),
    Argument(
        "profile", Kind.NUMBERS,
        "Expected totals of the steps of a cycle, known before the start and the same for all variants. Their "
        "deviation from their mean is taken out of totals before the policy learns.", None,
        least=2, most=LONGEST, example=None, label="Expected totals of a cycle", advanced=True,
        hint="Numbers that repeat, such as 168 for the hours of a week, from totals before the start. Not of this "
        "experiment: they must not depend on the variants.",
    ),
    Argument(
        "profile_from", Kind.TIME,
        "A time for which the first number of the profile was expected, for steps on a schedule. Without it, step 0.",
        None, least=0, most=limits.LATEST, note="seconds since 1970, until 2200", shown_default="step 0",
        label="Time of the first number of the cycle",
        advanced=True, hint="A date and time in UTC, for example a Monday at 00:00. Empty for the first step.",
    ),
    Argument(
        "typical", Kind.NUMBER,
        "Usual mean of expected totals that are given step by step with `expect`, in place of a profile.", None,
        label="Usual expected total", advanced=True,
        hint="If a program tells the expected total of each step beforehand. Empty for none.",
    ),
    Argument(
        "trust", Kind.NUMBER, "Factor of what is taken out; 1 unless set.", None, least=0, most=MOST_TRUST,
        shown_default="1", label="Trust in what is expected", advanced=True,
        hint="Between 0 and 1.5; 1 takes all of it out.",
    ),
    Argument(
        "guards", Kind.GUARDS,
        "Secondary totals with limits, by name: a variant that is shown to be beyond its limit is disabled. Each has "
        "`at_most` or `at_least`: a change against the control (`+10%`, `+0.5`) or a number; with units, in percent. "
        "Rewards of the metric carry its name.", {},
        example=None, shown_default="none", label="Guards", advanced=True, initial="",
        hint="One per line: complaints at most +10%, or refunds at most 25. A variant that is shown to be beyond its "
        "limit is disabled; the control never is. Report the totals with the name of the metric.",
    ),
    Argument(
        "confidence", Kind.NUMBER, "Probability that all intervals hold, at all steps.", 0.95, above=0, below=1,
        label="Confidence", advanced=True, hint="Probability that all intervals hold, at all steps.",
    ),
    Argument(
        "seed", Kind.WHOLE, "Seed of policies that draw random numbers.", 1, least=0, most=limits.EXACT,
        label="Seed", advanced=True, hint="For policies that draw random numbers.",
    ),
    Argument(
        "heartbeat", Kind.FLAG, "Exclude steps in which nothing was reported, instead of counting them as 0, "
        "and the step in which reports begin again, which may have late ones.", False,
        label="Exclude steps in which nothing was reported, instead of counting them as 0", advanced=True,
    ),
    Argument(
        "shadow", Kind.FLAG, "Shadow mode: log the plan and serve the control, until `go_live`.", False,
        label="Shadow mode: log the plan and serve the control until Go live", advanced=True,
    ),
    Argument(
        "remember", Kind.NUMBER,
        "Seconds for which reward keys are kept at least after their step has closed, so that a reward that is sent "
        "again counts once.", None,
        least=0, most=limits.REMEMBER, note="up to 366 days", shown_default="an hour or 3 steps, whichever is longer",
        label="Time to keep reward keys", advanced=True,
        hint="How long after its step a reward that is sent again is recognized: 90 minutes, 2 hours, 3 days. Empty "
        "for an hour or 3 steps, whichever is longer.",
    ),
    Argument(
        "start", Kind.FLAG, "Start at once. Otherwise the experiment is a draft until `start`.", True, label="Start",
    ),
    Argument(
        "starts", Kind.TIME,
        "Time from which steps on a schedule are counted: seconds since 1970 in Python, RFC 3339 in HTTP. "
        "In the past: step 0 is the current slot, so a full hour makes steps of an hour begin on the hour. In the "
        "future: the control is served and rewards are refused until then.", None,
        least=0, most=limits.LATEST, note="seconds since 1970, until 2200", shown_default="now", label="Start time",
    ),
)  # fmt: skip
BY_NAME = {one.name: one for one in SETTINGS}


def split(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with all options of the policy in `options`; options may be given beside it as a shorthand."""
    own = {name: value for name, value in settings.items() if name in BY_NAME}
    beside = {name: value for name, value in settings.items() if name not in BY_NAME}
    options = BY_NAME["options"].read(own.get("options") or {})
    for name in options:
        if name in BY_NAME:
            raise BadValue(
                f"{argument('options')} has the settings of the policy, got {name!r}; give it beside options"
            )
        if name in beside:
            raise BadValue(f"{argument('options')} has {name!r}, which is given beside it too; give it once")
    return own | {"options": options | beside}
