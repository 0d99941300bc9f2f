"""Worlds and recorded data that tests play in."""
