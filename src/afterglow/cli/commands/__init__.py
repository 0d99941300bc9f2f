"""One file for each command: parse, call one function, print. `afterglow.cli.app` lists them."""
