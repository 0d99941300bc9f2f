"""Measurements: what each file measures is in README.md."""
