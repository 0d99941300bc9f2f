"""`python -m afterglow` is the command `afterglow`."""

from afterglow.cli import main

main()
