"""Helpers of the tests: worlds, oracles, fixtures, a browser, the documents."""
