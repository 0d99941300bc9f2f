"""A running experiment as pure functions: settings, state, commands, transitions, replay."""
