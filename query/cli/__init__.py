"""The command line: what knows terminals. `command` has the group and its first commands; the others are loaded when they are named."""

from query.cli.command import main

__all__ = ["main"]
