"""Experiments with units: several totals a step, one for each unit, and one policy that decides for all."""
