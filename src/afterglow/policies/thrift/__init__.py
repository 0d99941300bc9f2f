"""State and bounds of `thrift-ucb`."""
