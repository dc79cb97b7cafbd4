"""The other indexes of a workspace, as a user calls them: by generation, by the commit that was indexed, by the path of a workspace."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from indexer.errors import IndexUnusable, UsageError
from query.changes import bases
from query.facts.index import Index, open_index


def previous(index: Index) -> Index:
    """The generation before this one.

    Raises:
        UsageError: there is none. IndexUnusable: it is damaged.
    """
    others = [place for place in _generations(index) if place != index.generation]
    if not others:
        raise UsageError("there is no earlier generation here; name an index: a commit that was indexed, or the path of a workspace")
    return Index(index.home, others[-1])


def called(index: Index, name: str) -> Index:
    """The index that is called so: a generation's number, a commit (seven digits or more), or the path of a workspace that has one.

    Raises:
        UsageError: none is called so; the message lists the generations. NoIndex, IndexUnusable: of a path.
    """
    generations = _generations(index)
    if name.isdigit():
        for place in generations:
            other = index if place == index.generation else _opened(index, place)
            if other is not None and other.meta.get("generation") == name:
                return other
    if len(name) >= 7 and all(letter in "0123456789abcdef" for letter in name):
        found = _of_commit(index, name, generations)
        if found is not None:
            return found
    if Path(name).is_dir():
        return open_index(name)
    numbers = [other.meta.get("generation", "?") for place in generations if (other := _opened(index, place)) is not None]
    raise UsageError(
        f"no index is called '{name}'; generations here: {', '.join(numbers)}; to index a commit: lspidx query changes --make-base"
    )


def _generations(index: Index) -> list[Path]:
    """The databases of this workspace, oldest first."""
    return sorted(index.home.databases.glob("gen-*.duckdb"))


def _of_commit(index: Index, name: str, generations: Iterable[Path]) -> Index | None:
    for place in [*generations]:
        other = index if place == index.generation else _opened(index, place)
        if other is not None and other.meta.get("commit", "").startswith(name):
            return other
    for folder in sorted((index.home.path / "bases").glob(f"{name}*")):
        return bases.find(index, folder.name)
    return None


def _opened(index: Index, place: Path) -> Index | None:
    try:
        return Index(index.home, place)
    except IndexUnusable:
        return None


def title(index: Index) -> str:
    """What a reader is told of an index: its generation, with the commit, or the commit that it was made of."""
    if index.root.parent.parent.name == "bases":
        return f"commit {index.root.parent.name[:10]}"
    commit = index.meta.get("commit", "")[:10]
    return f"generation {index.meta.get('generation', '?')}" + (
        f" ({commit}{', dirty' if index.meta.get('dirty') == 'true' else ''})" if commit else ""
    )
