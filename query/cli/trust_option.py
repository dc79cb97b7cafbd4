"""`--trust`, the same on every command that may start a language server."""

from __future__ import annotations

import os
from typing import Any

import click

VARIABLE = "LSPIDX_TRUST"


def _take(_context: click.Context, _option: click.Parameter, value: str | None) -> None:
    """Everything that this process starts or asks for goes by it: crawls, refreshes, live questions."""
    if value is not None:
        os.environ[VARIABLE] = value


def trust_option(command: Any) -> Any:
    """Gives a command the option. It is never remembered: a folder that came with a repository must not say how far to trust it."""
    return click.option(
        "--trust",
        type=click.Choice(["none", "deps", "full"]),
        expose_value=False,
        callback=_take,
        help="What servers may execute of the repository: nothing (default), what is installed for it, or all.",
    )(command)
