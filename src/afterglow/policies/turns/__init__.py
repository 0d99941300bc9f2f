"""State, rows and regression of `random-turns`."""
