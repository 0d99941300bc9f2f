"""Guards of a running experiment: their settings, what is counted for them, and the stops that follow."""
