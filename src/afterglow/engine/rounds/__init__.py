"""Compiled simulation of several units: a driver that plays rounds, with the same parts as the driver of holds."""
