"""Compiled simulation: random numbers, the three tiers, one driver for every policy."""
