"""Which folders an index covers can be changed from a question: the index is made again with one more or one less."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from indexer.errors import UsageError
from query.answers.envelope import Answer
from query.answers.pages import all_of
from query.answers.style import Style
from query.context import Context, Progress
from query.facts.folders import folders
from query.facts.index import Index, open_index
from query.facts.served import Served
from query.upkeep.recrawl import recrawl


class FolderName(msgspec.Struct, kw_only=True):
    """`uri` is absolute, `name` as the index calls it."""

    uri: str
    name: str


class Folders(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The workspace folders now. `added` or `removed`: the absolute path that was asked for; `changed` tells whether anything was to do."""

    workspace_folders: list[FolderName]
    changed: bool
    added: str = ""
    removed: str = ""


def folder_path(path: str) -> Path:
    """An absolute path of a folder of this machine.

    Raises:
        UsageError: none was given, or it is no folder.
    """
    if not path:
        raise UsageError("name a folder: path is empty")
    if "\0" in path or path.startswith(("\\\\", "//")):
        raise UsageError(f"'{path}' is no folder of this machine")
    return Path(os.path.realpath(path))


def change(
    index: Index, wanted: Callable[[list[Path]], list[Path]], progress: Progress, served: Served | None = None
) -> tuple[Index, bool]:
    """The index with other further folders, made again where they differ, and whether they did.

    What the user asks for is remembered, and counts as allowed from then on; what an agent asks for (`served`) holds for its session.
    """
    present = [Path(os.path.realpath(folder.path(index.root))) for folder in folders(index)[1:]]
    then = wanted(list(present))
    if then == present:
        return index, False
    named = {os.path.realpath(folder.path(index.root)): folder.name for folder in folders(index)[1:]}
    entries = [f"{named[str(path)]}={path}" if str(path) in named else str(path) for path in then]
    if served is not None:
        recrawl(index.root, index.home.flags(), progress, session={"folders": entries})
        served.folders = entries
        return open_index(index.root), True
    from indexer.consent import allow_folders

    allow_folders(index.root, [str(path) for path in then if path not in present])
    recrawl(index.root, {**index.home.flags(), "folders": entries}, progress)
    return open_index(index.root), True


def answer(context: Context, ask: msgspec.Struct, *, changed: bool, added: str = "", removed: str = "") -> Answer[Folders]:
    """The folders of an index, as both tools answer."""
    index = context.index
    listed = [FolderName(uri=folder.path(index.root).as_uri(), name=folder.name) for folder in folders(index)]
    result = Folders(workspace_folders=listed, changed=changed, added=added, removed=removed)
    return context.answer(ask, result, all_of(len(listed)), context.certificate.of_workspace([]))


def lines(answered: Answer[Folders], style: Style) -> Iterator[str]:
    found = answered.result
    what = f"added {found.added}" if found.added else f"removed {found.removed}"
    yield what if found.changed else f"nothing to do: {what} already"
    yield from names(found.workspace_folders, style)


def names(found: Sequence[FolderName], style: Style) -> Iterator[str]:
    for item in found:
        yield f"{style.path(item.uri)}  {style.strong(item.name)}"
