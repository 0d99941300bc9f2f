"""State, bounds and recommendation of `trim-ucb`."""
