"""What a crawl says first: what lies in `.lspidx` and was not made by this user, and whether it can prove what it will make."""

from __future__ import annotations

from collections.abc import Callable

from indexer import vcs
from indexer.errors import UnsafeIndex
from indexer.store import proof
from indexer.store.generations import FOLDER, Home


def look(home: Home, note: Callable[[str], None]) -> None:
    """Tells the user, once for each run. Holds the lock."""
    obstacle = proof.obstacle(make=True)
    if obstacle:
        note(f"it cannot be proved whose index this is, and every answer will say so: {obstacle}")
        return
    foreign = home.foreign()
    if foreign:
        note(f"'{home.path}' was not made by this user ({', '.join(foreign)}): nothing of that is used, it is made anew")


def refuse_tracked(home: Home) -> None:
    """Raises UnsafeIndex where git tracks a file of the index, so that it comes with each clone."""
    if home.path == home.root / FOLDER and vcs.is_tracked(home.root, home.path.name):
        raise UnsafeIndex(
            f"git tracks '{home.path}', so it may be anybody's and comes with each clone; to take it out of git: "
            f"git rm -r --cached {home.path.name} && rm -r {home.path.name}; an index is shared by: lspidx cache export cache-artifacts"
        )
