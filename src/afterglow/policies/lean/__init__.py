"""State of `lean-ucb` and what its totals say of arms."""
