"""Bandits whose rewards linger, mix and carry no name."""

__version__ = "0.1.0"
