"""The commands of `lspidx` by their names: which module has each, loaded when it is used, and what is said of one that is none."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

import click

_ELSEWHERE = {
    "init": ("query.cli.welcome", "init"),
    "query": ("query.cli.tools", "query"),
    "report": ("query.cli.report", "report"),
    "graph": ("query.cli.report", "graph"),
    "cache": ("query.cli.cache", "cache"),
    "scip": ("query.cli.scip", "scip"),
    "serve": ("query.cli.serve", "serve"),
    "site": ("query.cli.site", "site"),
    "verify": ("query.cli.upkeep", "verify"),
    "watch": ("query.cli.upkeep", "watch"),
    "daemon": ("query.cli.daemon", "daemon"),
    "mcp": ("query.cli.mcp", "mcp"),
    "hook": ("query.cli.hook", "hook"),
    "lsp": ("query.cli.lsp", "lsp"),
    "call": ("query.cli.dialects", "call_dialect"),
}
"""Commands that are modules of their own, loaded when they are used."""

_FIRST = ("index", *_ELSEWHERE)


class Group(click.Group):
    """Commands in the order of their use, not of the alphabet."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


class Main(Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_FIRST, *(name for name in self.commands if name not in _FIRST)]

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            raise click.UsageError(_no_command(args[0], self.list_commands(ctx)), ctx) from error

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _ELSEWHERE:
            return super().get_command(ctx, cmd_name)
        module, name = _ELSEWHERE[cmd_name]
        return getattr(importlib.import_module(module), name)


def _no_command(word: str, commands: Sequence[str]) -> str:
    """That it is none, and which question (asked without `query`) or which command of a name like it was meant."""
    import difflib

    from query.surface.registry import ALIASES, names

    if word in ALIASES or word in names():
        return f"no command is called '{word}'; it is a question: lspidx query {word}"
    near = difflib.get_close_matches(word, commands, 1)
    return f"no command is called '{word}'" + (f"; did you mean '{near[0]}'?" if near else "")
