"""Code that starts what a plan recommends: an agent, a live experiment, one in a service."""

from afterglow.lab.plan.answer import Plan
from afterglow.lab.plan.text import LIVE, literal

CLIENT = 'Client("http://127.0.0.1:8321", token)'  # of a service on this machine


def started(plan: Plan) -> list[tuple[str, str]]:
    """(label, code); the numbers of a profile are in a line of their own, which is run first."""
    lines = [("in Python", plan.agent), ("live", plan.live), ("client", in_service(plan.live))]
    if plan.profile is None:
        return lines
    numbers = literal(plan.profile)
    named = [(label, code.replace(f"profile={numbers}", "profile=profile", 1)) for label, code in lines]
    return [("first", f"profile = {numbers}"), *named]


def in_service(live: str) -> str:
    """The code of a live experiment, made in a service instead of a file."""
    return live.replace(LIVE, CLIENT, 1)
