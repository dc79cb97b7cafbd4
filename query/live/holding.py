"""The files of a workspace in whose text a word stands, as they are now: each is read once for all that one question asks of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from indexer import plain_files, vcs
from indexer.servers.registry import language_of
from query.context import Workspace

MOST_BYTES = 5_000_000
_KEPT = "texts of files"


class Held(NamedTuple):
    path: str
    language: str
    content: bytes


class Texts:
    """Of one workspace, for one question: what it has read it does not look at again."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._holding: dict[str, list[Held]] = {}

    def holding(self, part: str) -> list[Held]:
        """The files in which something stands, by path."""
        if part not in self._holding:
            self._holding[part] = [*self.reading(part)]
        return self._holding[part]

    def reading(self, part: str) -> Iterator[Held]:
        """The same, one after another: for who looks for what stands in most of them.

        A link is passed over: what it leads to is listed itself, or is not of the repository.
        """
        wanted = part.encode("utf-8", "surrogatepass")
        for path in vcs.list_files(self.root):
            language = language_of(path)
            if not language:
                continue
            content = plain_files.read(f"{self.root}/{path}", MOST_BYTES) or b""
            if wanted in content:
                yield Held(path, language, content)


def texts_of(workspace: Workspace) -> Texts:
    """Those of the workspace that a question is about."""
    found = workspace.kept.get(_KEPT)
    if not isinstance(found, Texts):
        found = workspace.kept[_KEPT] = Texts(workspace.top)
    return found
