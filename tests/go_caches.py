"""What gopls and the go command keep of the standard library, shared by all tests.

A workspace has caches of its own, so gopls checks the library's packages anew in each folder of a test: 4 s of processor where it could be
half of one. Keys are of contents: what one test leaves there tells no other anything but the time it takes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / ".toolchains" / "caches"
_VARIABLES = {"GOPLSCACHE": "gopls", "GOCACHE": "go-build"}


def shared(launch: Callable[..., Any]) -> Callable[..., Any]:
    """In place of `indexer.crawl.plan.launch.launch`: the server may write to the shared folders, where it would have its own."""

    def launching(*arguments: Any, **options: Any) -> Any:
        made = launch(*arguments, **options)
        if "GOPLSCACHE" in made.environment:
            for variable, name in _VARIABLES.items():
                (FOLDER / name).mkdir(parents=True, exist_ok=True)
                if variable in made.environment:
                    made.environment[variable] = str(FOLDER / name)
            if made.confinement is not None:
                made.confinement.write.append(str(FOLDER))
        return made

    return launching


def share() -> None:
    """For this process, and those that are forked from it."""
    import query.live.launch as live
    from indexer.crawl import dispatch

    for module in (dispatch, live):
        if module.launch.__module__ != __name__:
            module.launch = shared(module.launch)
