"""Worlds to play in: what a pull brings (`rewards`), when it arrives (`spreads`)."""
