"""The folders that an index covers."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from query.answers.envelope import Answer
from query.answers.pages import all_of
from query.answers.style import Style, count
from query.context import Context
from query.facts.folders import NO_FILES, file_counts, folders, moved
from query.surface.registry import tool


class ListWorkspaceFolders(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    pass


class WorkspaceFolder(msgspec.Struct, kw_only=True):
    """A folder as indexed. `path` leads to it from the workspace root (`.` is the root itself), `uri` is absolute.

    commit: as indexed, empty outside git. now_at: the commit that is checked out now, where that is another one.
    """

    name: str
    path: str
    uri: str
    commit: str
    dirty: bool
    now_at: str
    documents: int
    skipped: int


def _text(answer: Answer[list[WorkspaceFolder]], style: Style) -> Iterator[str]:
    for item in answer.result:
        at = f", commit {item.commit[:10]}{' + changes' if item.dirty else ''}" if item.commit else ""
        now = f"  {style.warning(f'now at {item.now_at[:10]}')}" if item.now_at else ""
        yield f"{style.path(item.path)}  {style.strong(item.name)}  {count(item.documents, 'document')}, {item.skipped} skipped{at}{now}"
        yield f"  {style.path(item.uri)}"


@tool(
    "list_workspace_folders",
    parameters=ListWorkspaceFolders,
    result=list[WorkspaceFolder],
    positional="",
    example="list_workspace_folders",
    task="index",
    hint="roots repositories folders of the workspace",
    text=_text,
)
def TOOL(context: Context, ask: ListWorkspaceFolders) -> Answer[list[WorkspaceFolder]]:
    """The workspace folders of the index, with their commits and how many documents each has."""
    index = context.index
    now = moved(index)
    counts = file_counts(index)
    result = [
        WorkspaceFolder(
            name=folder.name,
            path=folder.prefix.rstrip("/") or ".",
            uri=folder.path(index.root).as_uri(),
            commit=folder.commit,
            dirty=folder.dirty,
            now_at=now.get(folder.name, ""),
            documents=counts.get(folder.name, NO_FILES).documents,
            skipped=counts.get(folder.name, NO_FILES).skipped,
        )
        for folder in folders(index)
    ]
    return context.answer(ask, result, all_of(len(result)), context.certificate.of_workspace([]))
