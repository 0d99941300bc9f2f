"""Plans: simulate an experiment before it starts."""

from afterglow.lab.plan.answer import Plan
from afterglow.lab.plan.planner import plan

__all__ = ["Plan", "plan"]
