"""`python -m query.cli`: the command without its script."""

from query.cli import main

main()
